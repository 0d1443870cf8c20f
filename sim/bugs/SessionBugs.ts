/** Bugs in the sessions of streams. */
import type { Digest } from "../../core/base/Digest.ts";
import { Session } from "../../runtime/transport/Session.ts";
import type { Packet } from "../network/Wire.ts";
import type { PlantedBug } from "./PlantedBug.ts";

type Terms = Parameters<Session<Packet>["derive"]>[1];

const NOTHING = new Uint8Array(32);
const NONE = "0".repeat(64) as Digest;
const unfresh = (terms: Terms): Terms => ({ ...terms, ephemeral: NONE, answered: NONE });

class OfTopology extends Session<Packet> {
  override derive(_shared: Uint8Array, terms: Terms): Digest {
    return super.derive(NOTHING, { ...unfresh(terms), from: 0, to: 0, side: "opener" });
  }
}

class OfPair extends Session<Packet> {
  override derive(_shared: Uint8Array, terms: Terms): Digest {
    return super.derive(NOTHING, unfresh(terms));
  }
}

class OfBothDirections extends Session<Packet> {
  override derive(shared: Uint8Array, terms: Terms): Digest {
    return super.derive(shared, { ...terms, side: "opener" });
  }
}

class Uncounted extends Session<Packet> {
  override place(_counter: number, exchange: number) {
    return super.place(0, exchange);
  }
}

export const sessionBugs: ReadonlyArray<PlantedBug> = [
  {
    name: "session-of-any-link",
    changes: "the sessions of a cluster have one key, so that a message is taken on another link",
    finds: "S50",
    schedule: "swarm",
    tampering: () => ({ session: (side, ports) => new OfTopology(side, ports) }),
  },
  {
    name: "session-key-used-again",
    changes: "a session has the key of the one before it: after a restart its counters begin anew under it",
    finds: "S50",
    schedule: "swarm",
    tampering: () => ({ session: (side, ports) => new OfPair(side, ports) }),
  },
  {
    name: "session-mirrored",
    changes: "both directions of a session have one key",
    finds: "S50",
    schedule: "swarm",
    tampering: () => ({ session: (side, ports) => new OfBothDirections(side, ports) }),
  },
  {
    name: "session-uncounted",
    changes: "the MAC of a message says nothing of its place in the session",
    finds: "S50",
    schedule: "swarm",
    tampering: () => ({ session: (side, ports) => new Uncounted(side, ports) }),
  },
];
