/** Runs to an event, and shows the peers as they were then. */
import type { Crypto } from "../../core/crypto/Crypto.ts";
import type { PeerState } from "../../core/protocol/PeerState.ts";
import { Interruption } from "../run/Interruption.ts";
import type { Observed, Observer } from "../world/Observer.ts";
import { redactionOf, textWithoutTokens } from "./Redaction.ts";
import { silent } from "../world/Silent.ts";

/** Ends a run from inside: it came to the event that was asked for. */
export class Reached extends Interruption {
  override readonly name = "Reached";
}

/** One peer at a moment. */
export interface PeerAt {
  readonly peer: number;
  readonly process: number;
  /** Undefined while no process runs. */
  readonly state: PeerState | undefined;
}

export interface WorldAt {
  /** Microseconds of virtual time. */
  readonly now: number;
  readonly events: number;
  readonly crypto: Crypto;
  readonly peers: ReadonlyArray<PeerAt>;
}

/** Looks on until an event has happened, and then throws {@link Reached} out of the run. */
export class Until {
  readonly observer: Observer;
  #world: Observed | undefined;

  /**
   * @param event the number of the last event that shall happen; without it the run goes on to its end
   * @param at or the microsecond after which nothing shall happen
   */
  constructor(event: number | undefined, at = Number.POSITIVE_INFINITY) {
    this.observer = {
      ...silent,
      began: (world) => {
        this.#world = world;
      },
      ticked: () => {
        const { events = 0, now = 0 } = this.#world ?? {};
        if ((event !== undefined && events >= event) || now >= at) throw new Reached();
      },
    };
  }

  /** How things stand now; undefined before the run. */
  get reached(): WorldAt | undefined {
    const world = this.#world;
    return (
      world && {
        now: world.now,
        events: world.events,
        crypto: world.cryptography.crypto,
        peers: world.peers.map(({ slot, process, state }) => ({ peer: slot, process, state })),
      }
    );
  }
}

const MOST_DEPTH = 12;

/** A value of the core as JSON has it: maps are objects, sets are lists, bytes are hexadecimal, secrets are named only. */
export const plainOf = (value: unknown, depth = 0): unknown => {
  if (depth > MOST_DEPTH || typeof value === "function") return undefined;
  if (value instanceof Uint8Array) return [...value].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  if (value instanceof Map)
    return Object.fromEntries([...value].map(([name, each]) => [String(name), plainOf(each, depth + 1)]));
  if (value instanceof Set) return [...value].map((each) => plainOf(each, depth + 1));
  if (Array.isArray(value)) return value.map((each) => plainOf(each, depth + 1));
  if (typeof value === "object" && value !== null)
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => [name, redactionOf(name) ?? plainOf(each, depth + 1)]),
    );
  return typeof value === "string" ? textWithoutTokens(value) : value;
};
