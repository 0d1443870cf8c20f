/**
 * The ceremony of bulk runs: a response is honest if its client data is the challenge it was made for and its
 * attestation object is as long as an honest one. Like its keys, it proves nothing outside the simulation.
 */
import { Either } from "effect";
import { base64Url } from "../../core/codec/Base64Url.ts";
import { sameBytes } from "../../core/codec/Bytes.ts";
import { byteOf } from "./SimRelyingParty.ts";
import type { Ceremony } from "../../core/webauthn/Ceremony.ts";

/** A key, a counter, and a byte for the relying party. */
const KEY_BYTES = 24;
const RESPONSE_BYTES = KEY_BYTES + 4 + 1;

const counterIn = ({ buffer, byteOffset }: Uint8Array): number => new DataView(buffer, byteOffset).getUint32(KEY_BYTES);

export const simCeremony: Ceremony = ({ relyingParty, challenge, userHandle, credential }) => {
  const { id, rawId, clientDataJson, attestationObject, transports } = credential;
  const refused = (check: "challenge" | "attestation_object" | "raw_id" | "rp_id_hash") =>
    Either.left({ check, pointer: "", detail: "The simulated response is refused." });
  if (!sameBytes(clientDataJson, challenge)) return refused("challenge");
  if (!sameBytes(id, rawId)) return refused("raw_id");
  if (attestationObject.length !== RESPONSE_BYTES) return refused("attestation_object");
  if (attestationObject[RESPONSE_BYTES - 1] !== byteOf(relyingParty.rpId)) return refused("rp_id_hash");
  const keyBytes = attestationObject.subarray(0, KEY_BYTES);
  const descriptor = {
    version: 1,
    type: "WEBAUTHN",
    credentialId: base64Url(id),
    publicKeyCose: base64Url(keyBytes),
    rpId: relyingParty.rpId,
    origins: relyingParty.origins,
    userVerification: "REQUIRED",
    userHandle: base64Url(userHandle),
    backupEligible: false,
  } as const;
  return Either.right({
    descriptor,
    keyBytes,
    observations: { signCount: counterIn(attestationObject), backupState: false, transports, aaguid: "" },
  });
};
