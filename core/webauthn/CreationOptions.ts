/** The options for a browser: `PublicKeyCredentialCreationOptionsJSON` (WebAuthn Level 3 section 5.1.9). */
import { base64Url } from "../codec/Base64Url.ts";
import type { AttestationConveyance, RelyingParty } from "./RelyingParty.ts";

/** COSE algorithm identifier of ECDSA on P-256 with SHA-256 (RFC 9053 section 2.1). */
export const ES256 = -7;

/** The `publicKey` member of the options response, ready to be written as JSON. */
export interface CreationOptions {
  readonly rp: { readonly id: string; readonly name: string };
  readonly user: { readonly id: string; readonly name: string; readonly displayName: string };
  readonly challenge: string;
  readonly pubKeyCredParams: ReadonlyArray<{ readonly type: "public-key"; readonly alg: typeof ES256 }>;
  /** Milliseconds. */
  readonly timeout: number;
  readonly excludeCredentials: ReadonlyArray<{ readonly type: "public-key"; readonly id: string }>;
  readonly authenticatorSelection: {
    readonly residentKey: "preferred";
    readonly requireResidentKey: false;
    readonly userVerification: "required";
  };
  readonly attestation: AttestationConveyance;
  readonly extensions: { readonly credProps: true };
}

/** The parts of a session that the options are made of. */
export interface CreationOptionsInput {
  readonly relyingParty: RelyingParty;
  /** The approver id, which the authenticator shows. */
  readonly id: string;
  /** 32 random bytes each. */
  readonly challenge: Uint8Array;
  readonly userHandle: Uint8Array;
  /** Unpadded Base64url, as the descriptors of this id and RP hold them. */
  readonly excludeCredentialIds: ReadonlyArray<string>;
  /** The time left until the session's deadline. */
  readonly timeoutMillis: number;
}

/**
 * The options of one session.
 *
 * A discoverable credential is preferred, not required: platforms then make a passkey that the holder sees and can
 * manage, and a security key whose slots are full still works, because an approval names the credential it wants.
 */
export const creationOptions = (input: CreationOptionsInput): CreationOptions => ({
  rp: { id: input.relyingParty.rpId, name: input.relyingParty.rpName },
  user: { id: base64Url(input.userHandle), name: input.id, displayName: input.id },
  challenge: base64Url(input.challenge),
  pubKeyCredParams: [{ type: "public-key", alg: ES256 }],
  timeout: Math.max(0, input.timeoutMillis),
  excludeCredentials: input.excludeCredentialIds.map((id) => ({ type: "public-key", id })),
  authenticatorSelection: { residentKey: "preferred", requireResidentKey: false, userVerification: "required" },
  attestation: input.relyingParty.attestation,
  extensions: { credProps: true },
});
