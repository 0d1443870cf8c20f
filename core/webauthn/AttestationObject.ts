/** The attestation object: exactly three members (WebAuthn Level 3 section 6.5.4), in any order. */
import { Either } from "effect";
import { demand, FailedCheck } from "./CeremonyRefusal.ts";
import { type CborMap, cborBytes, cborMap, readCbor } from "./StrictCbor.ts";

export interface AttestationObject {
  readonly format: string;
  readonly statement: CborMap;
  readonly authenticatorData: Uint8Array;
}

/** @throws Refused `attestation_object` */
export const readAttestationObject = (bytes: Uint8Array): AttestationObject => {
  const item = readCbor(bytes);
  if (Either.isLeft(item)) throw new FailedCheck("attestation_object", `There is ${item.left}.`);
  const members = cborMap(item.right);
  if (members === undefined) throw new FailedCheck("attestation_object", "The attestation object is not a map.");
  const format = members.get("fmt");
  const statement = cborMap(members.get("attStmt"));
  const authenticatorData = cborBytes(members.get("authData"));
  demand(typeof format === "string", "attestation_object", "There is no fmt that is text.");
  demand(statement !== undefined, "attestation_object", "There is no attStmt that is a map.");
  demand(authenticatorData !== undefined, "attestation_object", "There is no authData that is a byte string.");
  demand(members.size === 3, "attestation_object", "There is a member beside fmt, attStmt and authData.");
  return { format, statement, authenticatorData };
};
