/** The configuration file of a simulated peer, as its core gets it. */
import { CAPACITIES } from "../../core/base/Capacities.ts";
import type { Digest } from "../../core/base/Digest.ts";
import type { Settings } from "../../core/protocol/Event.ts";
import { AUDIENCE, ISSUER } from "../requests/Commands.ts";
import type { Plan } from "../base/Plan.ts";
import { FIRST_PARTY, type Party, simRelyingParty } from "../crypto/SimRelyingParty.ts";

const BOOTSTRAP_SECRET = Uint8Array.of(1, 2, 3, 4);

/** The part of the settings in which clusters differ by their relying party. */
export const ofParty = (party: Party, sessionMillis: number): Pick<Settings, "configDigest" | "relyingParty"> => ({
  configDigest: (party === FIRST_PARTY ? "c" : "d").repeat(64) as Digest,
  relyingParty: simRelyingParty(party, sessionMillis),
});

/** What the peer in this slot (from 1) is told of itself and of the others. */
export const simSettings = (slot: number, { peers, capacities, sessionMillis, answerMillis }: Plan): Settings => ({
  ...ofParty(FIRST_PARTY, sessionMillis),
  arbitrary: true,
  audience: AUDIENCE,
  issuer: ISSUER,
  peers: Array.from({ length: peers }, (_, index) => index + 1).filter((each) => each !== slot),
  bootstrapSecret: BOOTSTRAP_SECRET,
  development: false,
  answerMillis,
  capacities: { ...CAPACITIES, ...capacities },
});
