/** The probes of real peers whose disk hangs or fails, or whose clock is wrong, and of the others. */
import { Effect, Either } from "effect";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Cluster, founded, settingsOf } from "../../properties/cluster/Cluster.ts";
import type { Event } from "../../core/protocol/Event.ts";
import { StoreFailure } from "../../runtime/ByteStore.ts";
import { cryptoBackend } from "../crypto/CryptoBackend.ts";
import { PromisedCallers } from "../peer/PromisedCallers.ts";
import { type ApiCall, awaited } from "./ApiCall.ts";
import { health, readable, ready } from "./Probes.ts";

const backend = cryptoBackend("portable");

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

/** A moment past the age at which the last verdict on the members still counts. */
const FRESH_MILLIS = 1_100;
/** What a balancer may be kept waiting. */
const LONGEST_MILLIS = 5_000;

/** All peers of a cluster with their callers, as a process has them. */
const probed = (cluster: Cluster) => {
  const callers = new Map(
    [...cluster.peers.keys()].map((id) => {
      const settings = settingsOf(id, cluster.total);
      const dispatch = (event: Event): void => cluster.dispatch(id, event);
      return [id, new PromisedCallers({ settings, backend, dispatch, self: () => id })];
    }),
  );
  cluster.onReply = (requestId, answer) => {
    for (const each of callers.values()) each.answer(requestId, answer);
  };
  const pass = async (millis: number): Promise<void> => {
    await vi.advanceTimersByTimeAsync(0);
    cluster.pass(millis);
    await vi.advanceTimersByTimeAsync(millis);
  };
  /** What the probes of a peer say, and after how long: 200, a code, or the members in the way with their reasons. */
  const told = async (id: number) => {
    const state = cluster.peers.get(id)?.state;
    const peer = { standing: state, readiness: () => callers.get(id)?.readiness() };
    const call = { ports: { peer, judgesTokens: () => true, draining: () => false } } as unknown as ApiCall;
    const startedAt = cluster.now;
    const answers: Array<unknown> = [undefined, undefined, undefined];
    const waits: Array<number> = [];
    [health, readable, ready].forEach((probe, index) => {
      void Effect.runPromise(Effect.scoped(Effect.either(awaited(probe(call))))).then((answered) => {
        waits[index] = cluster.now - startedAt;
        if (Either.isRight(answered)) answers[index] = answered.right.status;
        else answers[index] = answered.left.code === "NOT_READY" ? answered.left.members : answered.left.code;
      });
    });
    for (let waited = 0; waited <= LONGEST_MILLIS && answers.includes(undefined); waited += 100) await pass(100);
    // Neither liveness nor reads wait for anything.
    expect(waits.slice(0, 2)).toEqual([0, 0]);
    return answers;
  };
  return { pass, told };
};

const silent = (peerId: number) => ({ peerId, reason: "it does not answer" });

/** Holds the flushes of one peer back, from now on until they are let go. */
const hang = (cluster: Cluster, id: number) => {
  const held: Array<() => void> = [];
  cluster.flush = (peerId, _changes, flush) => (peerId === id ? void held.push(flush) : flush());
  return () => {
    cluster.flush = (_peerId, _changes, flush) => flush();
    for (const flush of held.splice(0)) flush();
  };
};

describe("while a flush hangs", () => {
  it("a peer alone is alive and read, and not ready for changes, within five seconds", async () => {
    const cluster = founded(1);
    const { pass, told } = probed(cluster);
    expect(await told(1)).toEqual([200, 200, 200]);
    const letGo = hang(cluster, 1);
    cluster.register(1, "alice", "alice", 7);
    await pass(FRESH_MILLIS);
    expect(await told(1)).toEqual([200, 200, [silent(1)]]);
    expect(await told(1)).toEqual([200, 200, [silent(1)]]);
    letGo();
    await pass(FRESH_MILLIS);
    expect(await told(1)).toEqual([200, 200, 200]);
    expect(cluster.answers.get("alice")).toMatchObject({ _tag: "Registered" });
  });

  it("its peer alone is named by the others, whose reads go on", async () => {
    const cluster = founded(3);
    const { pass, told } = probed(cluster);
    for (const id of [1, 2, 3]) expect(await told(id)).toEqual([200, 200, 200]);
    const letGo = hang(cluster, 3);
    cluster.register(1, "alice", "alice", 7);
    await pass(FRESH_MILLIS);
    for (const id of [1, 2, 3]) expect(await told(id)).toEqual([200, 200, [silent(3)]]);
    letGo();
    await pass(FRESH_MILLIS);
    for (const id of [1, 2, 3]) expect(await told(id)).toEqual([200, 200, 200]);
  });
});

describe("after a flush has failed", () => {
  it("a peer handles nothing more, is not ready, and ends; the others name it", async () => {
    const cluster = founded(3);
    const { pass, told } = probed(cluster);
    const halted: Array<string> = [];
    cluster.onHalt = ({ message }) => void halted.push(message);
    cluster.flush = (peerId, _changes, flush) => {
      if (peerId === 3) throw new StoreFailure("the disk failed");
      flush();
    };
    cluster.register(1, "alice", "alice", 7);
    await pass(FRESH_MILLIS);
    expect(halted).toEqual(["the disk failed"]);
    // A process has no moment left in which to say it.
    expect((await told(3)).at(-1)).toEqual([silent(3)]);
    for (const id of [1, 2]) expect(await told(id)).toEqual([200, 200, [silent(3)]]);
    cluster.flush = (_peerId, _changes, flush) => flush();
    cluster.start(3);
    await pass(5_000);
    for (const id of [1, 2, 3]) expect(await told(id)).toEqual([200, 200, 200]);
  });
});

describe("while a clock is wrong", () => {
  const differs = (peerId: number) => ({ peerId, reason: "its clock differs by more than 5 s" });
  const rival = (peerId: number, other: number) => ({
    peerId,
    reason: `its clock and that of peer ${other} differ by more than 5 s`,
  });

  it.each([60_000, -60_000])("by %d ms, its peer is named by all, and by itself", async (byMillis) => {
    const cluster = founded(3);
    const { pass, told } = probed(cluster);
    expect(await told(2)).toEqual([200, 200, 200]);
    cluster.clockOffsets.set(3, byMillis);
    await pass(FRESH_MILLIS);
    for (const id of [1, 2, 3]) expect(await told(id)).toEqual([200, 200, [differs(3)]]);
    cluster.clockOffsets.set(3, 4_000);
    await pass(FRESH_MILLIS);
    for (const id of [1, 2, 3]) expect(await told(id)).toEqual([200, 200, 200]);
  });

  it("of two clocks nobody knows which, so both are named", async () => {
    const cluster = founded(2);
    const { pass, told } = probed(cluster);
    cluster.clockOffsets.set(2, 60_000);
    await pass(FRESH_MILLIS);
    const both = [rival(1, 2), rival(2, 1)];
    for (const id of [1, 2]) expect(await told(id)).toEqual([200, 200, expect.arrayContaining(both)]);
  });
});
