/**
 * What was made for a request and is not certified. It is this peer's own as long as a proposal rests on it; without one
 * it goes: with its session, with the proposal that was aborted, or after a minute.
 */
import type { Step } from "../../protocol/Step.ts";
import { holderOf } from "../../protocol/UnderWay.ts";
import { generationLock } from "../keys/KeyLocks.ts";
import { generationKey, type KeyRows, keyTables } from "../keys/Tables.ts";
import { KEYGEN } from "./Making.ts";
import { makings, markOf, type PendingMark } from "./MakingState.ts";

export const PENDING_CAPACITY = "PENDING_CAPACITY";
/** An undecided proposal is about the key. */
export const LOCKED = "LOCKED";
export const PENDING_TIMER = "Keygen.pending";
/** How long a session may take, and how long what it made waits for its proposal. */
export const MAKING_MILLIS = 60_000;

/** Its row became a share, or goes in this step. */
export const forgetMark = (step: Step, key: string): void => {
  if (step.slice(makings).pending.has(key)) step.editIn(makings, "pending").delete(key);
};

/** Removes what was made, from the disk too. */
export const erasePending = (step: Step, key: string): void => {
  const rows = step.rows(keyTables);
  if (rows.current("pending", key) !== undefined) rows.write({ op: "remove", table: "pending", key });
  forgetMark(step, key);
};

/**
 * Whether an undecided proposal of a new generation of its key rests on it: also one that at the writer is being
 * aborted, or that has its locks and no receipt yet. What that one is for is not known here, it may be a destruction.
 */
export const isRestedOn = (step: Step, { keyId }: Pick<PendingMark, "keyId">): boolean => {
  const lock = generationLock(keyId);
  return step.isLocked(lock) && (holderOf(step.state, lock)?.kind ?? KEYGEN) === KEYGEN;
};

/** Whether a proposal of a new generation of its key is known to rest on it: later than {@link isRestedOn} says so. */
export const isProposed = (step: Step, { keyId }: Pick<PendingMark, "keyId">): boolean =>
  holderOf(step.state, generationLock(keyId))?.kind === KEYGEN;

/**
 * Why what is made may not be stored, by its code; undefined where it may, if need be in the place of the oldest orphan.
 * Nothing takes the place of what a proposal rests on, and what is made beside that serves nothing.
 */
export const storingFault = (step: Step, row: KeyRows["pending"]): string | undefined => {
  if (isRestedOn(step, row)) return LOCKED;
  const { pending } = step.slice(makings);
  const isNew = !pending.has(generationKey(row.keyId, row.generation));
  const isFull = isNew && pending.size >= step.capacities.pendingShares;
  return isFull && oldestOrphan(step) === undefined ? PENDING_CAPACITY : undefined;
};

const oldestOrphan = (step: Step): string | undefined => {
  for (const [key, mark] of step.slice(makings).pending) if (!isRestedOn(step, mark)) return key;
  return undefined;
};

/** Stores what was made, in the place of what was made before for the same generation. */
export const storePending = (step: Step, row: KeyRows["pending"]): void => {
  const key = generationKey(row.keyId, row.generation);
  const { pending } = step.slice(makings);
  const orphan = pending.has(key) || pending.size < step.capacities.pendingShares ? undefined : oldestOrphan(step);
  if (orphan !== undefined) erasePending(step, orphan);
  step.rows(keyTables).put("pending", key, row);
  const marks = step.editIn(makings, "pending");
  // The newest is the last.
  marks.delete(key);
  marks.set(key, markOf(row, step.elapsed));
  step.arm(PENDING_TIMER, MAKING_MILLIS);
};

/**
 * Erases what no proposal rests on any more; called at the end of every event of a peer that takes part. The writer
 * loses its session with its process, and what is left of it serves nothing. What was held in vain by a lock that turns
 * out to be a destruction's is as it was before.
 */
export const tidyPending = (step: Step): void => {
  const { pending } = step.slice(makings);
  if (pending.size === 0) return;
  for (const [key, mark] of pending) {
    const isHeld = isRestedOn(step, mark);
    const isOver = mark.isHeld && !step.isLocked(generationLock(mark.keyId));
    const isLost = mark.since === undefined && step.isWriter;
    const isOld = mark.since !== undefined && step.elapsed - mark.since >= MAKING_MILLIS;
    if (!isHeld && (isOver || isLost || isOld)) erasePending(step, key);
    else if (isHeld !== mark.isHeld || mark.since === undefined)
      step.editIn(makings, "pending").set(key, { ...mark, isHeld, since: mark.since ?? step.elapsed });
  }
  for (const { since = step.elapsed, isHeld } of step.slice(makings).pending.values())
    if (!isHeld) step.arm(PENDING_TIMER, since + MAKING_MILLIS - step.elapsed);
};
