/** The signature of an attestation statement, under a COSE algorithm that this service knows. */
import { ecdsaSignature } from "./EcdsaSignature.ts";
import type { CeremonyCrypto, CurveName, HashName, VerificationKey } from "./CeremonyCrypto.ts";
import { demand, FailedCheck } from "./CeremonyRefusal.ts";
import { type CborMap, cborBytes } from "./StrictCbor.ts";

interface Algorithm {
  readonly hash: HashName;
  /** Undefined for RSA. */
  readonly curve: CurveName | undefined;
}

/**
 * COSE algorithms of attestation keys: RFC 9053 section 2.1 with the curve that WebAuthn Level 3 section 5.8.5 binds to
 * each, and RFC 8812. RS1 is for TPMs in the field that have nothing better; only their format accepts it.
 */
const algorithms: ReadonlyMap<number, Algorithm> = new Map([
  [-7, { hash: "SHA-256", curve: "P-256" }],
  [-35, { hash: "SHA-384", curve: "P-384" }],
  [-36, { hash: "SHA-512", curve: "P-521" }],
  [-257, { hash: "SHA-256", curve: undefined }],
  [-258, { hash: "SHA-384", curve: undefined }],
  [-259, { hash: "SHA-512", curve: undefined }],
]);
const RS1 = -65_535;
const rs1: Algorithm = { hash: "SHA-1", curve: undefined };

/** The `alg` and `sig` of a statement. */
export interface StatementSignature {
  readonly algorithm: Algorithm;
  readonly signature: Uint8Array;
}

/**
 * Reads `alg` and `sig`.
 *
 * @throws Refused `attestation_statement` or `attestation_algorithm`
 */
export const statementSignature = (statement: CborMap, withRs1 = false): StatementSignature => {
  const alg = statement.get("alg");
  const signature = cborBytes(statement.get("sig"));
  demand(typeof alg === "number", "attestation_statement", "There is no alg that is an integer.");
  demand(signature !== undefined, "attestation_statement", "There is no sig that is a byte string.");
  const algorithm = withRs1 && alg === RS1 ? rs1 : algorithms.get(alg);
  if (algorithm === undefined)
    throw new FailedCheck("attestation_algorithm", "The algorithm of the statement is not supported.");
  return { algorithm, signature };
};

/** @throws Refused `attestation_algorithm` for a key of another kind, `attestation_signature` for a bad signature */
export const checkStatementSignature = (
  crypto: CeremonyCrypto,
  { algorithm, signature }: StatementSignature,
  key: VerificationKey,
  message: Uint8Array,
): void => {
  const fits = key.kind === "EC" ? key.curve === algorithm.curve : algorithm.curve === undefined;
  demand(fits, "attestation_algorithm", "The key that signs is not of the algorithm that the statement names.");
  const isValid = isSignature(crypto, key, algorithm.hash, message, signature);
  demand(isValid, "attestation_signature", "The signature of the statement does not verify.");
};

/** Whether a signature as certificates and statements carry it verifies: DER for EC, bare for RSA. */
export const isSignature = (
  crypto: CeremonyCrypto,
  key: VerificationKey,
  hash: HashName,
  message: Uint8Array,
  encoded: Uint8Array,
): boolean => {
  const signature = key.kind === "EC" ? ecdsaSignature(key.curve, encoded) : encoded;
  return signature !== undefined && crypto.verify(key, hash, message, signature);
};
