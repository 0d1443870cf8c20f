/** The configuration file of a simulated peer, as its core gets it. */
import { CAPACITIES } from "../../core/base/Capacities.ts";
import type { Digest } from "../../core/base/Digest.ts";
import type { Settings } from "../../core/protocol/Event.ts";
import { AUDIENCE } from "../requests/Commands.ts";
import type { Plan } from "../base/Plan.ts";
import { simRelyingParty } from "../crypto/SimRelyingParty.ts";

const CONFIG_DIGEST = "c".repeat(64) as Digest;
const BOOTSTRAP_SECRET = Uint8Array.of(1, 2, 3, 4);

/** What the peer in this slot (from 1) is told of itself and of the others. */
export const simSettings = (slot: number, { peers, capacities, sessionMillis }: Plan): Settings => ({
  configDigest: CONFIG_DIGEST,
  audience: AUDIENCE,
  issuer: undefined,
  peers: Array.from({ length: peers }, (_, index) => index + 1).filter((each) => each !== slot),
  bootstrapSecret: BOOTSTRAP_SECRET,
  development: false,
  answerMillis: 10_000,
  capacities: { ...CAPACITIES, ...capacities },
  relyingParty: simRelyingParty(sessionMillis),
});
