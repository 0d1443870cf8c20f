/**
 * How a cluster comes back when all its members are being restored: no member is left that has everything, so the
 * writer alone decides the union of all disks, and only then changes its own; the others recover from it.
 *
 * A certificate proves itself, whoever shows it, so a change that one disk has applied belongs to the union. Exception
 * one: the newest disks lack it, and it is from before they last agreed. A member at the end of a recovery has
 * everything that is still open or done, so a change missing there was given up (decision 0015, S26). Exception two: a
 * disk shows that it was aborted or refused, unless it was agreed on again since then.
 */
import type { Digest } from "../base/Digest.ts";
import type { Lineage } from "./Command.ts";
import type { PeerId } from "./Topology.ts";

/** Incarnations of all members, in member order. */
export type Incarnations = ReadonlyArray<number>;

export interface Disk {
  readonly peerId: PeerId;
  /** Those on record at the end of its last recovery. */
  readonly incarnations: Incarnations;
  /** Proposals refused in its peer's present incarnation, and those aborted there with no slot to show for it. */
  readonly refused: ReadonlySet<Digest>;
  readonly strays: ReadonlySet<Digest>;
}

/** A certified change, as far as the union needs it. */
export interface Change extends Lineage {
  readonly incarnations: Incarnations;
}

/** A slot as a disk has it; without a change it was aborted. */
export interface Shown {
  readonly disk: number;
  readonly key: string;
  readonly id: Digest;
  readonly change: Change | undefined;
}

/** The union of all disks: the proposal of each slot, and which of them are done. */
export interface United {
  readonly slots: ReadonlyMap<string, Digest>;
  readonly changes: ReadonlySet<Digest>;
}

/** One proposal, and the disks on which it was applied or aborted. */
interface Found {
  readonly id: Digest;
  change: Change | undefined;
  readonly applied: Array<Disk>;
  readonly aborted: Array<Disk>;
}

const reaches = (incarnations: Incarnations, others: Incarnations): boolean =>
  others.every((each, index) => (incarnations[index] ?? 0) >= each);

const isNewer = (incarnations: Incarnations, others: Incarnations): boolean =>
  reaches(incarnations, others) && !reaches(others, incarnations);

/** Two disks of which neither is older in every incarnation: their members parted, by clocks that were set back. */
const parted = (disks: ReadonlyArray<Disk>): string | undefined => {
  for (const [index, { peerId, incarnations }] of disks.entries())
    for (const other of disks.slice(index + 1))
      if (!reaches(incarnations, other.incarnations) && !reaches(other.incarnations, incarnations))
        return `peers ${peerId} and ${other.peerId} were in different restores of all, and neither disk is the older one: put a backup from before both in the place of what is to be given up, and declare its restore again`;
  return undefined;
};

export const OTHER_BACKUP = "put another backup of a peer in its place, and declare its restore again";
export const CONTRADICTION = `what the members have contradicts itself: ${OTHER_BACKUP}`;

const gather = (disks: ReadonlyArray<Disk>, shown: ReadonlyArray<Shown>): ReadonlyMap<string, ReadonlyArray<Found>> => {
  const slots = new Map<string, Array<Found>>();
  for (const { disk: at, key, id, change } of shown) {
    const disk = disks[at];
    if (disk === undefined) continue;
    const inSlot = slots.get(key) ?? [];
    slots.set(key, inSlot);
    let found = inSlot.find((each) => each.id === id);
    if (found === undefined) {
      found = { id, change: undefined, applied: [], aborted: [] };
      inSlot.push(found);
    }
    found.change ??= change;
    (change === undefined ? found.aborted : found.applied).push(disk);
  }
  return slots;
};

/** Whether it is known to have ended. A disk that has it from a later recovery outranks the one that ended it. */
const hasEnded = (disks: ReadonlyArray<Disk>, { id, change, applied, aborted }: Found): boolean => {
  const isAgain = (ended: Disk): boolean =>
    change !== undefined &&
    applied.some(
      ({ incarnations }) => isNewer(incarnations, ended.incarnations) && !reaches(change.incarnations, incarnations),
    );
  return (
    disks.some(({ refused }) => refused.has(id)) ||
    [...aborted, ...disks.filter(({ strays }) => strays.has(id))].some((ended) => !isAgain(ended))
  );
};

/** Whether every revision of every subject is there once, and every claim has one owner. */
const isWhole = (changes: ReadonlyArray<Change>): boolean => {
  const owners = new Map<string, string>();
  const revisions = new Set<string>();
  for (const { ref, revision, claim, owner } of changes) {
    if ((owners.get(claim) ?? owner) !== owner) return false;
    owners.set(claim, owner);
    revisions.add(`${revision} ${ref}`);
  }
  return (
    revisions.size === changes.length &&
    changes.every(({ ref, revision }) => revision === 1 || revisions.has(`${revision - 1} ${ref}`))
  );
};

/** The union of the disks; or why it would be a guess, and what the operator is to do. */
export const unite = (disks: ReadonlyArray<Disk>, shown: ReadonlyArray<Shown>): United | string => {
  const apart = parted(disks);
  if (apart !== undefined) return apart;
  const newest = disks.reduce<Incarnations>(
    (incarnations, each) => (reaches(each.incarnations, incarnations) ? each.incarnations : incarnations),
    [],
  );
  const slots = new Map<string, Digest>();
  const changes = new Map<Digest, Change>();
  for (const [key, inSlot] of gather(disks, shown)) {
    const standing = inSlot.filter(
      (found) =>
        found.change !== undefined &&
        (reaches(found.change.incarnations, newest) ||
          found.applied.some(({ incarnations }) => reaches(incarnations, newest))) &&
        !hasEnded(disks, found),
    );
    if (standing.length > 1) return CONTRADICTION;
    const kept = standing[0] ?? inSlot.find(({ aborted }) => aborted.length > 0);
    if (kept === undefined) continue;
    slots.set(key, kept.id);
    if (standing.length > 0 && kept.change !== undefined) changes.set(kept.id, kept.change);
  }
  return isWhole([...changes.values()]) ? { slots, changes: new Set(changes.keys()) } : CONTRADICTION;
};
