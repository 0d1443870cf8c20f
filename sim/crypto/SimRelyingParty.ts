/** The relying parties of simulated clusters, which are configured for one of them at a time. */
import type { RelyingParty } from "../../core/webauthn/RelyingParty.ts";

/** What a browser knows of a relying party. */
export interface Party {
  readonly rpId: string;
  readonly origin: string;
}

/** That of chaos, too. */
export const FIRST_PARTY: Party = { rpId: "localhost", origin: "http://localhost:8080" };
const SECOND_PARTY: Party = { rpId: "keys.localhost", origin: "http://keys.localhost:8080" };

export const otherParty = ({ rpId }: Party): Party => (rpId === FIRST_PARTY.rpId ? SECOND_PARTY : FIRST_PARTY);

/** Throws for what nobody configured. */
export const partyOf = (rpId: string): Party => {
  for (const each of [FIRST_PARTY, SECOND_PARTY]) if (each.rpId === rpId) return each;
  throw new RangeError(`there is no relying party ${rpId}`);
};

/** What stands for it in a simulated response. */
export const byteOf = (rpId: string): number => rpId.length;

/** @param registrationTtlMillis how long its sessions last */
export const simRelyingParty = ({ rpId, origin }: Party, registrationTtlMillis: number): RelyingParty => ({
  rpId,
  rpName: "Simulation",
  origins: [origin],
  registrationTtlMillis,
  attestation: "none",
  trustRoots: [],
});
