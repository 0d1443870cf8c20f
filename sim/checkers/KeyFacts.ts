/** What really happened with keys: what members made durable of generations and consents. */
import { SELF } from "../../core/protocol/Tables.ts";
import type { Rows, RowView, Write } from "../../core/Tables.ts";
import type { Watched } from "./Checker.ts";
import { maskOf, type PeerMask } from "./PeerMask.ts";

type Generation = Rows["generations"];

export interface GenerationFacts {
  /** As it was first stored. */
  readonly row: Generation;
  /** Peers on whose present disk it is. */
  holders: PeerMask;
}

export class KeyFacts {
  /** By key and number, as rows name them. */
  readonly generations = new Map<string, GenerationFacts>();
  /** By operation: what each peer has consented to, in whichever incarnation. */
  readonly consents = new Map<string, Map<number, Rows["consents"]>>();

  /** Takes note of a transaction that has become durable. */
  flushed(slot: number, writes: ReadonlyArray<Write>): void {
    for (const write of writes) {
      if (write.op === "remove") continue;
      if (write.table === "generations") this.#noteGeneration(slot, write.key, write.row);
      if (write.table === "consents")
        this.consents.set(write.key, (this.consents.get(write.key) ?? new Map()).set(slot, write.row));
    }
  }

  #noteGeneration(slot: number, key: string, row: Generation): void {
    const known = this.generations.get(key);
    if (known === undefined) this.generations.set(key, { row, holders: maskOf(slot) });
    else known.holders |= maskOf(slot);
  }

  /** A new incarnation: what only its old ones had may be made anew, as another. */
  beganAnew(slot: number): void {
    for (const [key, facts] of this.generations) {
      facts.holders &= ~maskOf(slot);
      if (facts.holders === 0) this.generations.delete(key);
    }
  }

  /** Whether a peer has consented to an operation, and to which message. */
  consentOf(operation: string, slot: number): Rows["consents"] | undefined {
    return this.consents.get(operation)?.get(slot);
  }

  /** The peers that have consented to an operation. */
  consentersOf(operation: string): PeerMask {
    let mask = 0;
    for (const slot of this.consents.get(operation)?.keys() ?? []) mask |= maskOf(slot);
    return mask;
  }
}

const WIDTH = 16;

/** How rows name a generation, and a share of it. */
export const generationKey = (keyId: string, generation: number): string =>
  `${keyId}/${String(generation).padStart(WIDTH, "0")}`;

/** The row of a generation at a peer. */
export const generationAt = (store: RowView, keyId: string, generation: number): Generation | undefined =>
  store.get("generations", generationKey(keyId, generation));

/** Whether the share of a generation opens at the peer; no one does where nobody can tell. */
export const opensAt = ({ slot, store, opened }: Watched, row: Generation): boolean => {
  const box = store.get("shares", generationKey(row.keyId, row.generation))?.box;
  // By its slot, which is its number as a member: of a past moment only rows may be known.
  const index = store.get("topology", SELF)?.topology.members.find(({ peerId }) => peerId === slot)?.shareIndex;
  const { verifyingShares } = row.group;
  const verifying =
    verifyingShares.length === 0 ? row.publicKey : verifyingShares.find((each) => each.index === index)?.element;
  return box !== undefined && verifying !== undefined && opened?.(row, verifying, box) !== undefined;
};

/** Who gives a member the shares of a key that it lacks. */
export interface Help {
  readonly helpers: ReadonlyArray<number>;
  /** Whether each of them has all of these shares; where not, only the one that signs is sure to come back. */
  readonly isForAll: boolean;
}

/** The generations of a key whose shares a member has. */
export interface Holding {
  readonly slot: number;
  readonly generations: ReadonlySet<number>;
}

/**
 * The help for a member, from as many as sign; undefined where fewer have the share that signs. A repair asks the same
 * helpers for whatever is lacking, so ones that have all of it come first.
 *
 * @param others those that have the share that signs
 * @param lacking the generations that are kept and shared, and whose shares it lacks
 */
export const helpFrom = (
  others: ReadonlyArray<Holding>,
  lacking: ReadonlyArray<number>,
  threshold: number,
): Help | undefined => {
  const able = others.filter(({ generations }) => lacking.every((each) => generations.has(each)));
  const isForAll = able.length >= threshold;
  const helpers = (isForAll ? able : others).slice(0, threshold).map(({ slot }) => slot);
  return helpers.length < threshold ? undefined : { helpers, isForAll };
};
