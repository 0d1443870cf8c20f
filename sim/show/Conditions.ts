/**
 * What is unusual about the world just now: links that are cut, slow or lossy,
 * clocks that were moved, rows that were damaged, token keys that cannot be had.
 * They are looked up, not reported: code that changes them needs to know nothing.
 */
import type { Link } from "../network/Network.ts";
import type { Observed } from "../world/Observer.ts";
import { CALM_NETWORK, type NetworkPlan } from "../base/Plan.ts";

/** What a condition is about: two peers for a link, one peer otherwise. */
export interface Change {
  readonly kind: "link" | "clock" | "rows" | "token keys";
  readonly from: number;
  readonly to: number;
  /** Its present state; undefined where it is as usual again. */
  readonly now: string | undefined;
}

/** Rates are per thousand, but people think in percent. */
const percent = (perThousand: number): string => `${perThousand / 10} %`;

const millis = (micros: number): string => `${micros / 1000} ms`;

const linkText = (link: Link, usual: NetworkPlan): string | undefined => {
  if (link.cut) return "cut";
  const parts = [
    link.loss === usual.loss ? "" : `loses ${percent(link.loss)}`,
    link.duplication === usual.duplication ? "" : `duplicates ${percent(link.duplication)}`,
    link.leastDelay === usual.leastDelay && link.mostDelay === usual.mostDelay
      ? ""
      : `takes ${millis(link.leastDelay)} to ${millis(link.mostDelay)}`,
  ].filter((part) => part !== "");
  return parts.length === 0 ? undefined : parts.join(", ");
};

export class Conditions {
  readonly #world: Observed;
  readonly #known = new Map<string, string>();
  readonly #clocks: ReadonlyArray<number>;

  constructor(world: Observed) {
    this.#world = world;
    this.#clocks = world.peers.map((peer) => peer.clock.offsetMillis);
  }

  /** What has changed since this was last asked. */
  changes(): ReadonlyArray<Change> {
    const changes: Array<Change> = [];
    const look = (kind: Change["kind"], from: number, to: number, now: string | undefined): void => {
      const name = `${kind} ${from} ${to}`;
      if (this.#known.get(name) === now) return;
      if (now === undefined) this.#known.delete(name);
      else this.#known.set(name, now);
      changes.push({ kind, from, to, now });
    };
    this.#lookAtLinks(look);
    this.#world.peers.forEach((peer, index) => {
      const { slot } = peer;
      const moved =
        peer.clock.offsetMillis - (this.#world.healed ? peer.clock.offsetMillis : (this.#clocks[index] ?? 0));
      look(
        "clock",
        slot,
        0,
        moved === 0 ? undefined : `clock ${moved > 0 ? "ahead" : "back"} by ${Math.abs(moved)} ms`,
      );
      look("rows", slot, 0, peer.isDamaged ? "rows damaged" : undefined);
      look("token keys", slot, 0, this.#isWithoutKeys(slot) ? "token keys unavailable" : undefined);
    });
    return changes;
  }

  #isWithoutKeys(slot: number): boolean {
    const { unavailable, gone } = this.#world.tokenKeys;
    return unavailable.has(slot) || gone.has(slot);
  }

  #lookAtLinks(look: (kind: "link", from: number, to: number, now: string | undefined) => void): void {
    const { network, peers, plan, healed } = this.#world;
    const usual = healed ? CALM_NETWORK : plan.network;
    for (const { slot: from } of peers)
      for (const { slot: to } of peers)
        if (from !== to) look("link", from, to, linkText(network.link(from, to), usual));
  }
}
