/** The one relying party of every simulated cluster. */
import type { RelyingParty } from "../../core/webauthn/RelyingParty.ts";

export const RP_ID = "localhost";
export const RP_ORIGIN = "http://localhost:8080";

/** @param registrationTtlMillis how long its sessions last */
export const simRelyingParty = (registrationTtlMillis: number): RelyingParty => ({
  rpId: RP_ID,
  rpName: "Simulation",
  origins: [RP_ORIGIN],
  registrationTtlMillis,
  attestation: "none",
  trustRoots: [],
});
