/** A passkey as an approver credential (contract 2.3), and the observations about it outside the descriptor. */
import { canonicalJson } from "../codec/CanonicalJson.ts";

/** The nine fields that the ref digests; binaries are unpadded Base64url. */
export interface WebauthnDescriptor {
  readonly version: 1;
  readonly type: "WEBAUTHN";
  readonly credentialId: string;
  /** The canonical COSE_Key: exactly the labels 1, 3, -1, -2 and -3 in that order, 77 bytes. */
  readonly publicKeyCose: string;
  readonly rpId: string;
  /** Sorted. */
  readonly origins: ReadonlyArray<string>;
  readonly userVerification: "REQUIRED";
  readonly userHandle: string;
  readonly backupEligible: boolean;
}

/** Observations that may change without changing the ref. */
export interface Observations {
  readonly signCount: number;
  readonly backupState: boolean;
  /** Sorted and distinct, as the client reported them. */
  readonly transports: ReadonlyArray<string>;
  /** 16 bytes in unpadded Base64url. */
  readonly aaguid: string;
}

/**
 * The SIGNATURE algorithm whose key identity a passkey shares: hash this name with `keyBytes` as for a SIGNATURE
 * credential, and one key has one owner in both formats.
 */
export const WEBAUTHN_KEY_ALGORITHM = "P256";

/** The canonical JSON that `refDigest` digests. */
export const webauthnDescriptorJson = (descriptor: WebauthnDescriptor): string => canonicalJson({ ...descriptor });
