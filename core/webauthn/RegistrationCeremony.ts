/** The registration ceremony: WebAuthn Level 3 section 7.1 under contract 4.1, from response to descriptor. */
import { Either } from "effect";
import { base64Url } from "../codec/Base64Url.ts";
import { sameBytes } from "../codec/Bytes.ts";
import { utf8Bytes } from "../codec/Utf8.ts";
import { checkAttestation } from "./Attestation.ts";
import { readAttestationObject } from "./AttestationObject.ts";
import { type AuthenticatorData, readAuthenticatorData } from "./AuthenticatorData.ts";
import type { CeremonyCrypto } from "./CeremonyCrypto.ts";
import { type CeremonyRefusal, demand, FailedCheck } from "./CeremonyRefusal.ts";
import { checkClientData } from "./ClientData.ts";
import type { RelyingParty } from "./RelyingParty.ts";
import { checkReported } from "./Reported.ts";
import type { SubmittedCredential } from "./SubmittedCredential.ts";
import type { Observations, WebauthnDescriptor } from "./WebauthnDescriptor.ts";

/** One response and the session it answers. */
export interface RegistrationAttempt {
  readonly relyingParty: RelyingParty;
  /** The session's 32 bytes each. */
  readonly challenge: Uint8Array;
  readonly userHandle: Uint8Array;
  readonly credential: SubmittedCredential;
  /** Unix milliseconds at which certificates must be valid; members take it from the proposal, so that they agree. */
  readonly at: number;
}

/** The result of an accepted response. */
export interface VerifiedCredential {
  readonly descriptor: WebauthnDescriptor;
  /** The compressed SEC 1 point; the key identity is that of a SIGNATURE key of `WEBAUTHN_KEY_ALGORITHM`. */
  readonly keyBytes: Uint8Array;
  readonly observations: Observations;
}

/**
 * Verifies a response.
 *
 * @returns the credential; or the first check that failed, in the order of docs/webauthn.md
 */
export const verifyRegistration = (
  crypto: CeremonyCrypto,
  registration: RegistrationAttempt,
): Either.Either<VerifiedCredential, CeremonyRefusal> => {
  try {
    return Either.right(verified(crypto, registration));
  } catch (cause) {
    if (cause instanceof FailedCheck) return Either.left(cause.refusal);
    throw cause;
  }
};

const verified = (crypto: CeremonyCrypto, registration: RegistrationAttempt): VerifiedCredential => {
  const { relyingParty, challenge, credential, userHandle, at } = registration;
  checkClientData(credential.clientDataJson, challenge, relyingParty);
  const { format, statement, authenticatorData } = readAttestationObject(credential.attestationObject);
  const rpIdHash = crypto.hash("SHA-256", utf8Bytes(relyingParty.rpId));
  const data = readAuthenticatorData(authenticatorData, rpIdHash);
  checkIds(credential, data);
  checkReported(credential.reported, data);
  const clientDataHash = crypto.hash("SHA-256", credential.clientDataJson);
  checkAttestation(crypto, { format, statement, data, clientDataHash, rpIdHash, relyingParty, at });
  const descriptor: WebauthnDescriptor = {
    version: 1,
    type: "WEBAUTHN",
    credentialId: base64Url(data.credentialId),
    publicKeyCose: base64Url(data.key.cose),
    rpId: relyingParty.rpId,
    origins: relyingParty.origins,
    userVerification: "REQUIRED",
    userHandle: base64Url(userHandle),
    backupEligible: data.backupEligible,
  };
  return {
    descriptor,
    keyBytes: data.key.keyBytes,
    observations: {
      signCount: data.signCount,
      backupState: data.backupState,
      transports: credential.transports,
      aaguid: base64Url(data.aaguid),
    },
  };
};

/** Contract 4.1, verification rule 1: the attested id is the one that counts, and the others repeat it. */
const checkIds = ({ id, rawId }: SubmittedCredential, { credentialId }: AuthenticatorData): void => {
  demand(sameBytes(id, credentialId), "id", "The id is not the one that the authenticator attests.");
  demand(sameBytes(rawId, credentialId), "raw_id", "The rawId is not the one that the authenticator attests.");
};
