/** An approver as callers see it (contract 2.1): the same bytes from every peer. */
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { Either } from "effect";
import { parseStrictJson } from "../../core/codec/StrictJson.ts";
import { InvariantViolation } from "../../core/Invariant.ts";
import type { Rows } from "../../core/Tables.ts";

interface ShownCredential {
  readonly type: string;
  readonly algorithm: string;
  readonly publicKey64: string;
}

/** The descriptor without its version; it was made by this program and stands under the ref's digest. */
const credentialOf = (descriptor: string): ShownCredential => {
  const parsed = Either.getOrUndefined(parseStrictJson(utf8ToBytes(descriptor)));
  const fields = parsed instanceof Map ? parsed : new Map<string, unknown>();
  const [type, algorithm, publicKey64] = ["type", "algorithm", "publicKey64"].map((name) => fields.get(name));
  if (typeof type !== "string" || typeof algorithm !== "string" || typeof publicKey64 !== "string")
    throw new InvariantViolation("S13", "a stored descriptor is not one of a signature credential");
  return { type, algorithm, publicKey64 };
};

/** The JSON text of a record; timestamps are Unix milliseconds. */
export const recordJson = (row: Rows["approvers"]): string =>
  JSON.stringify({
    id: row.id,
    ref: row.ref,
    credential: credentialOf(row.descriptor),
    metadata: Object.fromEntries(row.metadata),
    metadataRevision: row.revision,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  });

/** The revision as a strong entity tag (contract 2.1, rule 3). */
export const entityTag = (row: Rows["approvers"]): string => `"${row.revision}"`;
