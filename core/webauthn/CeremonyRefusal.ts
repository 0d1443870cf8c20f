/** Why a registration ceremony is refused: one named check, the member it is about, and a sentence. */
import { type Rejection, rejection } from "../base/Rejection.ts";

const CLIENT_DATA = "/credential/response/clientDataJSON";
const ATTESTATION = "/credential/response/attestationObject";

/** Every check by its stable name, and the member of the request that it looks at; docs/webauthn.md explains each. */
export const ceremonyChecks = {
  invitation: "/invitation",
  client_extension: "/credential/clientExtensionResults",
  client_data_json: CLIENT_DATA,
  client_data_type: CLIENT_DATA,
  challenge: CLIENT_DATA,
  origin: CLIENT_DATA,
  cross_origin: CLIENT_DATA,
  top_origin: CLIENT_DATA,
  token_binding: CLIENT_DATA,
  attestation_object: ATTESTATION,
  authenticator_data: ATTESTATION,
  rp_id_hash: ATTESTATION,
  user_presence: ATTESTATION,
  user_verification: ATTESTATION,
  reserved_flags: ATTESTATION,
  backup_flags: ATTESTATION,
  attested_credential: ATTESTATION,
  credential_id: ATTESTATION,
  cose_key: ATTESTATION,
  algorithm: ATTESTATION,
  curve_point: ATTESTATION,
  authenticator_extensions: ATTESTATION,
  id: "/credential/id",
  raw_id: "/credential/rawId",
  reported_authenticator_data: "/credential/response/authenticatorData",
  reported_public_key: "/credential/response/publicKey",
  reported_algorithm: "/credential/response/publicKeyAlgorithm",
  attestation_format: ATTESTATION,
  attestation_required: ATTESTATION,
  attestation_statement: ATTESTATION,
  attestation_algorithm: ATTESTATION,
  attestation_signature: ATTESTATION,
  certificate: ATTESTATION,
  certificate_subject: ATTESTATION,
  certificate_extension: ATTESTATION,
  certificate_aaguid: ATTESTATION,
  certificate_key: ATTESTATION,
  certificate_point: ATTESTATION,
  certificate_chain: ATTESTATION,
  certificate_validity: ATTESTATION,
  trust_root: ATTESTATION,
  tpm_public_area: ATTESTATION,
  tpm_certify_info: ATTESTATION,
  tpm_extra_data: ATTESTATION,
  tpm_name: ATTESTATION,
  android_challenge: ATTESTATION,
  android_authorization: ATTESTATION,
  apple_nonce: ATTESTATION,
} as const;

/** The name of one check; it is the `code` of the error that the caller reads. */
export type CeremonyCheck = keyof typeof ceremonyChecks;

export interface CeremonyRefusal {
  readonly check: CeremonyCheck;
  /** RFC 6901 pointer into the finish request. */
  readonly pointer: string;
  /** The fault, in one sentence that quotes nothing of the response. */
  readonly detail: string;
}

/** Thrown inside a ceremony; caught where the ceremony is verified and nowhere else. */
export class FailedCheck {
  readonly refusal: CeremonyRefusal;
  constructor(check: CeremonyCheck, detail: string) {
    this.refusal = { check, pointer: ceremonyChecks[check], detail };
  }
}

/**
 * Goes on if a check holds.
 *
 * @throws Refused with the name of the check otherwise
 */
export function demand(holds: boolean, check: CeremonyCheck, detail: string): asserts holds {
  if (!holds) throw new FailedCheck(check, detail);
}

/** The answer to the caller, whose invitation stays good (contract 3.1, 7). */
export const ceremonyRejection = (refusals: ReadonlyArray<CeremonyRefusal>): Rejection =>
  rejection(
    "INVALID_CEREMONY",
    "The response to the registration ceremony is refused.",
    "Create the credential again with the same options and send the browser's response unchanged; the invitation was not used up.",
    { faults: refusals.map(({ check, pointer, detail }) => ({ pointer, code: check, detail })) },
  );
