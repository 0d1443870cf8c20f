/**
 * The relying party that a cluster is configured for. Operators change it now and then: they stop one peer after the
 * other and start it with the other configuration, which is the same everywhere in the end (contract 4.1.3).
 */
import type { Unit } from "../base/Choices.ts";
import { FIRST_PARTY, otherParty } from "../crypto/SimRelyingParty.ts";
import type { SimPeer } from "./SimPeer.ts";
import { ofParty } from "./SimSettings.ts";
import type { World } from "./World.ts";

const USUAL_MICROS = 20_000;
/** Between the first peer that is stopped and the last. */
const MOST_MICROS = 200_000;
/** A peer is away for so long. */
const AWAY_MICROS = 5_000;

export class Parties {
  readonly #world: World;
  #party = FIRST_PARTY;
  /** Peers that run with the other configuration still, or will when they start. */
  readonly #behind = new Set<SimPeer>();

  constructor(world: World) {
    this.#world = world;
  }

  /**
   * The cluster is to be another relying party's from now on. Not before all have founded it: of the configuration that
   * they sign then, peers that differ have to be initialized again.
   */
  change(unit: Unit): void {
    if (this.#world.peers.some(({ state }) => state?.cluster.membership === undefined)) return;
    this.#party = otherParty(this.#party);
    for (const peer of this.#world.peers) {
      this.#behind.add(peer);
      this.#world.after(unit.between(`peer ${peer.slot} after`, USUAL_MICROS, 0, MOST_MICROS), () =>
        this.#reconfigure(peer),
      );
    }
  }

  /** What was begun is done. */
  heal(): void {
    for (const peer of this.#behind) this.#reconfigure(peer);
  }

  #reconfigure(peer: SimPeer): void {
    if (!this.#behind.delete(peer)) return;
    const { processes, plan, marks } = this.#world;
    peer.settings = { ...peer.settings, ...ofParty(this.#party, plan.sessionMillis) };
    if (!peer.isUp) return;
    marks.add("a peer was started for another relying party");
    processes.crash(peer, "process", false);
    this.#world.after(AWAY_MICROS, () => processes.start(peer));
  }
}
