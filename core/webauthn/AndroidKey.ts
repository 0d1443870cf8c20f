/** The format android-key: WebAuthn Level 3 section 8.4. */
import { concatBytes } from "@noble/hashes/utils.js";
import { sameBytes } from "../codec/Bytes.ts";
import { type X509Certificate, Extensions } from "./Certificate.ts";
import { checkChain, readChain } from "./CertificateChain.ts";
import { demand, FailedCheck } from "./CeremonyRefusal.ts";
import { type DerValue, octetsOf, sequenceOf, setOf, smallIntegerOf, taggedOf } from "./Der.ts";
import type { StatementCheck } from "./StatementCheck.ts";
import { checkStatementSignature, statementSignature } from "./StatementSignature.ts";

/** alg, sig, x5c. */
const MEMBERS = 3;

/** Section 8.4, "Verification procedure". */
export const androidKey: StatementCheck = (crypto, { statement, data, clientDataHash, relyingParty, at }) => {
  const signature = statementSignature(statement);
  const chain = readChain(statement);
  demand(statement.size === MEMBERS, "attestation_statement", "There is a member beside alg, sig and x5c.");
  checkStatementSignature(crypto, signature, chain.leaf.key, concatBytes(data.bytes, clientDataHash));
  checkSameKey(chain.leaf, data.key.point);
  checkKeyDescription(chain.leaf, clientDataHash);
  checkChain(crypto, chain, relyingParty, at);
};

/** Formats whose certificate is about the credential's own key. */
export const checkSameKey = ({ key }: X509Certificate, point: Uint8Array): void => {
  const isSame = key.kind === "EC" && key.curve === "P-256" && sameBytes(key.point, point);
  demand(isSame, "certificate_key", "The certificate is about another key than the credential's.");
};

/** Positions in a KeyDescription, and tags in its AuthorizationLists, of Android's "Key and ID attestation". */
const CHALLENGE = 4;
const SOFTWARE_ENFORCED = 6;
const HARDWARE_ENFORCED = 7;
const FIELDS = 8;
const TAG_PURPOSE = 1;
const TAG_ALL_APPLICATIONS = 600;
const TAG_ORIGIN = 702;
const ORIGIN_GENERATED = 0;
const PURPOSE_SIGN = 2;

/**
 * Section 8.4.1. It does not matter which of the two lists enforces something: entries of either count. A list need not
 * name origin or purpose: in the published vector of section 16 neither does.
 */
const checkKeyDescription = ({ extensions }: X509Certificate, clientDataHash: Uint8Array): void => {
  const extension = extensions.get(Extensions.androidKeyDescription);
  if (extension === undefined)
    throw new FailedCheck("certificate_extension", "The certificate has no description of the Android key.");
  const fields = sequenceOf(extension.read("the key description"), "the key description");
  demand(fields.length === FIELDS, "certificate", "The description of the Android key does not have eight fields.");
  const challenge = octetsOf(fields[CHALLENGE], "the attestation challenge");
  demand(sameBytes(challenge, clientDataHash), "android_challenge", "The key was attested for another response.");
  const authorizations = [SOFTWARE_ENFORCED, HARDWARE_ENFORCED].flatMap((at) =>
    sequenceOf(fields[at], "a list of authorizations"),
  );
  const tagged = (tag: number): ReadonlyArray<DerValue> =>
    authorizations.flatMap((each) => taggedOf(each, tag, "an authorization") ?? []);
  const isForAll = authorizations.some(({ idBlock }) => idBlock.tagNumber === TAG_ALL_APPLICATIONS);
  demand(!isForAll, "android_authorization", "The key may be used by all applications.");
  const origins = tagged(TAG_ORIGIN).map((origin) => smallIntegerOf(origin, "the origin of a key"));
  const isGenerated = origins.every((origin) => origin === ORIGIN_GENERATED);
  demand(isGenerated, "android_authorization", "The key was not made inside its keystore (origin).");
  const isForSigning = tagged(TAG_PURPOSE).every((purposes) =>
    setOf(purposes, "the purposes of a key").some((purpose) => smallIntegerOf(purpose, "a purpose") === PURPOSE_SIGN),
  );
  demand(isForSigning, "android_authorization", "The key is not for signing (purpose).");
};
