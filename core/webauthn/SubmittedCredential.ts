/** A browser's credential as it was sent: well-formed JSON of the known members, nothing verified yet. */

export interface SubmittedCredential {
  /** The decoded `id` and `rawId`; equal in an honest response, which the ceremony checks. */
  readonly id: Uint8Array;
  readonly rawId: Uint8Array;
  readonly clientDataJson: Uint8Array;
  readonly attestationObject: Uint8Array;
  /** Sorted and distinct. */
  readonly transports: ReadonlyArray<string>;
  /** Members added by the `toJSON()` of browsers: repetitions of parts of the attestation object. */
  readonly reported: {
    readonly authenticatorData: Uint8Array | undefined;
    /** DER SubjectPublicKeyInfo. */
    readonly publicKey: Uint8Array | undefined;
    readonly publicKeyAlgorithm: number | undefined;
  };
}
