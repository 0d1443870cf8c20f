/** The check of one attestation format's statement, and its input. */
import type { AuthenticatorData } from "./AuthenticatorData.ts";
import type { CeremonyCrypto } from "./CeremonyCrypto.ts";
import type { RelyingParty } from "./RelyingParty.ts";
import type { CborMap } from "./StrictCbor.ts";

/** A statement and everything it may attest. */
export interface AttestationInput {
  readonly format: string;
  readonly statement: CborMap;
  readonly data: AuthenticatorData;
  /** SHA-256 of the client data. */
  readonly clientDataHash: Uint8Array;
  readonly rpIdHash: Uint8Array;
  readonly relyingParty: RelyingParty;
  /** Unix milliseconds at which certificates must be valid. */
  readonly at: number;
}

/** @throws Refused with the check that failed */
export type StatementCheck = (crypto: CeremonyCrypto, input: AttestationInput) => void;
