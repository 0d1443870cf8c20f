/** Members that browsers' `toJSON()` adds (WebAuthn Level 3 section 5.2.1), compared with what they repeat. */
import { hasBytesAt, sameBytes } from "../codec/Bytes.ts";
import { keyEncodings, subjectPublicKeyInfoPrefix } from "../credential/SubjectPublicKeyInfo.ts";
import type { AuthenticatorData } from "./AuthenticatorData.ts";
import { demand } from "./CeremonyRefusal.ts";
import { ES256 } from "./CreationOptions.ts";
import type { SubmittedCredential } from "./SubmittedCredential.ts";

const UNCOMPRESSED_BYTES = 65;
const SPKI_HEAD = subjectPublicKeyInfoPrefix(keyEncodings.P256, UNCOMPRESSED_BYTES);

/** @throws Refused with the member that contradicts the authenticator */
export const checkReported = (reported: SubmittedCredential["reported"], { bytes, key }: AuthenticatorData): void => {
  const { authenticatorData, publicKey, publicKeyAlgorithm } = reported;
  const isSameData = authenticatorData === undefined || sameBytes(authenticatorData, bytes);
  demand(isSameData, "reported_authenticator_data", "This differs from the authenticator data that is attested.");
  const isSameKey = publicKey === undefined || isInfoOf(publicKey, key.point);
  demand(isSameKey, "reported_public_key", "This is not the SubjectPublicKeyInfo of the attested key.");
  const isSameAlgorithm = publicKeyAlgorithm === undefined || publicKeyAlgorithm === ES256;
  demand(isSameAlgorithm, "reported_algorithm", "This is not the algorithm of the attested key, -7.");
};

/** Whether bytes are the SubjectPublicKeyInfo of a point. */
const isInfoOf = (bytes: Uint8Array, point: Uint8Array): boolean =>
  bytes.length === SPKI_HEAD.length + point.length &&
  hasBytesAt(bytes, 0, SPKI_HEAD) &&
  hasBytesAt(bytes, SPKI_HEAD.length, point);
