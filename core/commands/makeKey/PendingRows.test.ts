import { describe, expect, it } from "vitest";
import { founded, NOW } from "../../../properties/cluster/Cluster.ts";
import { openStep, type WholeStep } from "../../../properties/cluster/OpenStep.ts";
import { CAPACITIES } from "../../base/Capacities.ts";
import type { Digest } from "../../base/Digest.ts";
import { UNSHARED } from "../keys/GroupRecord.ts";
import { generationLock } from "../keys/KeyLocks.ts";
import { generationKey, type KeyRows } from "../keys/Tables.ts";
import { makings } from "./MakingState.ts";
import { erasePending, MAKING_MILLIS, PENDING_TIMER, storePending, storingFault, tidyPending } from "./PendingRows.ts";

const cluster = founded();
const DIGEST = "ab".repeat(32) as Digest;

const rowOf = (keyId: string): KeyRows["pending"] => ({
  keyId,
  generation: 1,
  sessionId: DIGEST,
  requestDigest: DIGEST,
  publicKey: "",
  group: UNSHARED,
  transcript: DIGEST,
  box: new Uint8Array(1),
  storedAt: NOW,
  incarnations: [1, 1, 1],
});

const at = (peerId: number, elapsed = 0): WholeStep => openStep(cluster, peerId, NOW, elapsed);

/** The same step some time later. */
const later = (step: WholeStep, millis: number): WholeStep => {
  const next = at(2, millis);
  for (const [key, mark] of step.slice(makings).pending) next.editIn(makings, "pending").set(key, mark);
  return next;
};

const keysOf = (step: WholeStep): ReadonlyArray<string> => [...step.slice(makings).pending.keys()];

const lock = (step: WholeStep, keyId: string): void =>
  void step.edit("undecided", "locks").set(generationLock(keyId), DIGEST);

describe("what was made and is not certified", () => {
  it("is kept for a minute, and then erased", () => {
    const step = at(2);
    storePending(step, rowOf("k1"));
    expect(step.state.timers.get(PENDING_TIMER)).toBe(MAKING_MILLIS);
    const [early, late] = [later(step, MAKING_MILLIS - 1), later(step, MAKING_MILLIS)];
    tidyPending(early);
    tidyPending(late);
    expect([keysOf(early), keysOf(late)]).toEqual([[generationKey("k1", 1)], []]);
  });

  it("goes in its time, whatever else is kept longer", () => {
    const step = at(2);
    storePending(step, rowOf("k1"));
    step.timers.clear();
    const some = later(step, 10_000);
    tidyPending(some);
    expect(some.state.timers.get(PENDING_TIMER)).toBe(MAKING_MILLIS);
  });

  it("stays as long as a proposal rests on it, and goes with that", () => {
    const step = at(2);
    storePending(step, rowOf("k1"));
    const rested = later(step, 10 * MAKING_MILLIS);
    lock(rested, "k1");
    tidyPending(rested);
    expect(rested.slice(makings).pending.get(generationKey("k1", 1))?.isHeld).toBe(true);
    rested.edit("undecided", "locks").clear();
    tidyPending(rested);
    expect(keysOf(rested)).toEqual([]);
  });

  it("after a start has a minute again at a member, and at the writer is gone: its session was", () => {
    for (const peerId of [1, 2]) {
      const step = at(peerId, 5_000);
      const mark = { ...rowOf("k1"), since: undefined, isHeld: false };
      step.editIn(makings, "pending").set(generationKey("k1", 1), mark);
      tidyPending(step);
      expect(step.slice(makings).pending.get(generationKey("k1", 1))?.since).toBe(peerId === 1 ? undefined : 5_000);
    }
  });

  it("is of sixty-four generations at most: the oldest that no proposal rests on goes", () => {
    const step = at(2);
    for (let key = 1; key <= CAPACITIES.pendingShares; key++) storePending(step, rowOf(`k${key}`));
    lock(step, "k1");
    storePending(step, rowOf("new"));
    expect(keysOf(step)).toHaveLength(CAPACITIES.pendingShares);
    expect(keysOf(step)).toContain(generationKey("k1", 1));
    expect(keysOf(step)).not.toContain(generationKey("k2", 1));
    const written = step.finish(() => undefined).writes.filter(({ table }) => table === "pending");
    expect(written).toHaveLength(CAPACITIES.pendingShares);
  });

  it("has no room where proposals rest on all", () => {
    const step = at(2);
    for (let key = 1; key <= CAPACITIES.pendingShares; key++) {
      storePending(step, rowOf(`k${key}`));
      lock(step, `k${key}`);
    }
    expect(storingFault(step, rowOf("new"))).toBe("PENDING_CAPACITY");
  });

  it("is replaced by nothing while a proposal rests on it", () => {
    const step = at(2);
    for (const key of ["k1", "k2"]) storePending(step, rowOf(key));
    lock(step, "k1");
    expect(["k1", "k2", "k3"].map((key) => storingFault(step, rowOf(key)))).toEqual(["LOCKED", undefined, undefined]);
  });

  it("is replaced by what a later session makes", () => {
    const step = at(2);
    storePending(step, rowOf("k1"));
    storePending(step, { ...rowOf("k1"), publicKey: "ff" });
    expect(step.finish(() => undefined).writes).toContainEqual(
      expect.objectContaining({ op: "insert", table: "pending", row: { ...rowOf("k1"), publicKey: "ff" } }),
    );
  });

  it("leaves no row once it is erased", () => {
    const step = at(2);
    storePending(step, rowOf("k1"));
    erasePending(step, generationKey("k1", 1));
    expect(step.finish(() => undefined).writes).toEqual([]);
  });
});
