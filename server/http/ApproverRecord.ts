/** An approver as callers see it (contract 2.1): the same bytes from every peer. */
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { Either } from "effect";
import { type JsonValue, parseStrictJson } from "../../core/codec/StrictJson.ts";
import { memoized } from "../../core/base/Memo.ts";
import { InvariantViolation } from "../../core/base/Invariant.ts";
import type { Rows } from "../../core/Tables.ts";
import type { ReadRecord } from "../../runtime/Reads.ts";

type Fields = Readonly<Record<string, JsonValue | undefined>>;

/** Credential types and the fields of each, in the order in which they are shown. */
const shownFields: Readonly<Record<string, ReadonlyArray<string>>> = {
  SIGNATURE: ["type", "algorithm", "publicKey64"],
  WEBAUTHN: [
    "version",
    "type",
    "algorithm",
    "credentialId",
    "publicKeyCose",
    "rpId",
    "origins",
    "userVerification",
    "userHandle",
    "backupEligible",
  ],
};

/** The algorithm of every passkey, which no descriptor names (contract 2.3). */
const PASSKEY_ALGORITHM = "ES256";

/**
 * The descriptor as it is shown: without its version for a signature (contract 2.2), with its algorithm for
 * a passkey (contract 2.3). It was made by this program and stands under the ref's digest.
 */
const credentialOf = (descriptor: string): Fields => {
  const parsed = Either.getOrUndefined(parseStrictJson(utf8ToBytes(descriptor)));
  const digested: Fields = parsed instanceof Map ? Object.fromEntries(parsed) : {};
  const fields: Fields = digested["type"] === "WEBAUTHN" ? { ...digested, algorithm: PASSKEY_ALGORITHM } : digested;
  const names = shownFields[String(fields["type"])];
  if (names === undefined || names.some((name) => fields[name] === undefined))
    throw new InvariantViolation("S13", "a stored descriptor is not one of a known credential");
  return Object.fromEntries(names.map((name) => [name, fields[name]]));
};

/** Made once for a row that is read again and again. */
const textOf = memoized((approver: ReadRecord["approver"], observations: ReadRecord["observations"]) =>
  JSON.stringify({
    id: approver.id,
    ref: approver.ref,
    credential: credentialOf(approver.descriptor),
    ...(observations === undefined ? {} : { observations: shownObservations(observations) }),
    metadata: Object.fromEntries(approver.metadata),
    metadataRevision: approver.revision,
    createdAt: approver.createdAt,
    updatedAt: approver.updatedAt,
  }),
);

/** The JSON text of a record; timestamps are Unix milliseconds. Observations stand outside the ref's digest. */
export const recordJson = ({ approver, observations }: ReadRecord): string => textOf(approver, observations);

const shownObservations = ({ signCount, backupState, transports, aaguid }: Rows["observations"]) => ({
  signCount,
  backupState,
  transports,
  aaguid,
});

/** The revision as a strong entity tag (contract 2.1, rule 3). */
export const entityTag = ({ approver }: ReadRecord): string => `"${approver.revision}"`;
