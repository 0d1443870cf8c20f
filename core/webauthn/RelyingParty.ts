/** The relying party that passkeys are enrolled for. Configuration, identical on every peer (contract 4.1.3). */

/** What browsers are asked to do with the attestation (WebAuthn Level 3 section 5.4.7). */
export type AttestationConveyance = "none" | "indirect" | "direct";

/** Settings that the configuration has checked (`server/config/RelyingPartySetting.ts`). */
export interface RelyingParty {
  readonly rpId: string;
  readonly rpName: string;
  /** Exact origins as browsers serialize them, sorted. */
  readonly origins: ReadonlyArray<string>;
  readonly registrationTtlMillis: number;
  readonly attestation: AttestationConveyance;
  /** DER certificates that a chain must lead to; with none of them, any well-formed chain is accepted. */
  readonly trustRoots: ReadonlyArray<Uint8Array>;
}
