import { describe, expect, it } from "vitest";
import type { NumberedAct, OperatorAct } from "../core/protocol/OperatorAct.ts";
import type { PeerState } from "../core/protocol/PeerState.ts";
import { type KeptAct, OperatorLog } from "./OperatorLog.ts";

const act = (requestId: string, outcome = "ACCEPTED"): OperatorAct => ({
  at: 1,
  call: "UNSEAL",
  actor: { iss: undefined, sub: "olga", jti: "t1" },
  requestId,
  request: { method: "POST", path: "/v1/custody/system/unseal", bodyDigest: undefined },
  outcome,
  detail: "",
  times: 1,
});

/** A peer of which only what the log looks at is there, with a journal whose flushes end when the test says so. */
const peer = (left: ReadonlyArray<KeptAct> = []) => {
  const state = {
    cluster: { peer: {} },
    fitness: { unsealed: false, integrityFault: undefined as string | undefined },
    rejoining: {},
    signed: { audit: { keptNo: 0, lastNo: 0 } },
  };
  const file: Array<KeptAct> = [...left];
  const flushes: Array<(failure?: Error) => void> = [];
  const audited: Array<{ acts: ReadonlyArray<NumberedAct>; done: (isAudited: boolean | undefined) => void }> = [];
  const log = new OperatorLog({
    journal: {
      acts: left,
      append: (kept, isFirst, done) =>
        void flushes.push((failure) => {
          if (failure !== undefined) return done(failure);
          if (isFirst) file.length = 0;
          file.push(kept);
          done();
        }),
    },
    // The parts of the state that it needs.
    state: () => state as unknown as PeerState,
    audit: (acts, done) => void audited.push({ acts, done }),
  });
  return { log, state, file, flushes, audited };
};
const told = (acts: ReadonlyArray<NumberedAct> | undefined) =>
  acts?.map(({ no, isKept, act: { requestId } }) => `${no} ${isKept ? "kept" : "own"} ${requestId}`);

describe("what operators do to a sealed peer", () => {
  it("is answered once it is flushed, and goes into the audit with the unseal, in order", () => {
    const { log, state, flushes, audited } = peer();
    const answered: Array<string> = [];
    log.record(act("a"), () => answered.push("a"));
    log.record(act("b"), () => answered.push("b"));
    expect(answered).toEqual([]);
    flushes.shift()?.();
    expect(answered).toEqual(["a"]);
    const acts = log.withWaiting(act("unseal"));
    expect(told(acts)).toEqual(["1 kept a", "2 kept b", "3 own unseal"]);
    // Acts during the unseal are kept, and follow it.
    log.record(act("c"), () => answered.push("c"));
    state.fitness.unsealed = true;
    state.signed.audit = { keptNo: 2, lastNo: 3 };
    expect(log.hasWritten(acts)).toBe(true);
    for (const flush of flushes) flush();
    expect(answered).toEqual(["a", "b", "c"]);
    expect(told(audited.at(-1)?.acts)).toEqual(["4 kept c"]);
  });

  it("begins its journal anew once everything in it is in the audit, and never uses a number twice", () => {
    const { log, state, file, flushes } = peer([
      { no: 7, act: act("a") },
      { no: 8, act: act("b") },
    ]);
    state.signed.audit = { keptNo: 7, lastNo: 0 };
    log.record(act("c"), () => undefined);
    flushes.shift()?.();
    expect(file.map(({ no }) => no)).toEqual([7, 8, 9]);
    state.signed.audit = { keptNo: 9, lastNo: 9 };
    log.record(act("d"), () => undefined);
    flushes.shift()?.();
    expect(file.map(({ no }) => no)).toEqual([10]);
  });

  it("loses nothing of its journal to rows that nobody has verified", () => {
    const { log, state, file, flushes } = peer([
      { no: 7, act: act("a") },
      { no: 8, act: act("b") },
    ]);
    // As in a part of a transaction, until the rows are repaired.
    state.signed.audit = { keptNo: 8, lastNo: 0 };
    log.record(act("c"), () => undefined);
    flushes.shift()?.();
    expect(file.map(({ no }) => no)).toEqual([7, 8, 9]);
  });

  it("leaves little in its journal once all of it is in the audit, though every process adds to it before its unseal", () => {
    const { log, state, file, flushes } = peer(
      Array.from({ length: 17 }, (_, index) => ({ no: index + 1, act: act("a") })),
    );
    state.signed.audit = { keptNo: 17, lastNo: 0 };
    log.handOver();
    expect(flushes).toEqual([]);
    state.signed.audit = { keptNo: 17, lastNo: 18 };
    log.handOver();
    log.handOver();
    for (const flush of flushes) flush();
    expect([flushes.length, file.map(({ no }) => no)]).toEqual([1, [17]]);
  });

  it("waits in a small number where its journal takes no more, and what was refused then does not wait", () => {
    const { log, state, file, flushes } = peer([{ no: 1, act: act("before") }]);
    const answers = new Set<unknown>();
    const full = new Error("the disk is full");
    const record = (requestId: string, outcome?: string) => {
      log.record(act(requestId, outcome), (failure) => answers.add(failure));
      flushes.shift()?.(full);
    };
    for (let times = 0; times < 100; times++) record("refused", "ACCESS_DENIED");
    for (let times = 0; times < 100; times++) record("done");
    expect(answers).toEqual(new Set([full]));
    const waiting = log.withWaiting(act("unseal"));
    expect(waiting.map(({ act: { requestId } }) => requestId)).toEqual([
      "before",
      ...Array.from({ length: 16 }, () => "done"),
      "unseal",
    ]);
    // A number that may be in the file is not used again.
    expect(waiting.at(-1)?.no).toBe(202);
    // Once these are in the audit there is place for others, and the journal takes what it can.
    state.signed.audit = { keptNo: waiting.at(-2)?.no ?? 0, lastNo: 202 };
    record("later");
    log.record(act("last"), () => undefined);
    flushes.shift()?.();
    expect(told(log.withWaiting(act("unseal")))).toEqual(["203 kept later", "204 kept last", "205 own unseal"]);
    expect(file.map(({ no }) => no)).toEqual([1, 204]);
  });

  it("goes on with its numbers where the rows are damaged or know of more than the journal", () => {
    const damaged = peer([{ no: 8, act: act("a") }]);
    expect(told(damaged.log.withWaiting(act("b")))).toEqual(["8 kept a", "9 own b"]);
    const { log, state } = peer();
    state.signed.audit = { keptNo: 5, lastNo: 0 };
    const fresh = new OperatorLog({
      journal: { acts: [], append: () => undefined },
      state: () => state as unknown as PeerState,
      audit: () => undefined,
    });
    expect(told(fresh.withWaiting(act("b")))).toEqual(["6 own b"]);
    expect(told(log.withWaiting(act("b")))).toEqual(["1 own b"]);
  });
});

describe("what operators do to an unsealed peer", () => {
  it("is in the audit before it is answered", () => {
    const { log, state, audited, flushes } = peer();
    state.fitness.unsealed = true;
    let answer: unknown = "none yet";
    log.record(act("a"), (failure) => (answer = failure));
    expect([told(audited[0]?.acts), answer]).toEqual([["1 own a"], "none yet"]);
    audited[0]?.done(true);
    expect([answer, flushes.length]).toEqual([undefined, 0]);
  });

  it("is kept where the peer was sealed meanwhile or does not trust its rows, and open where it does not answer", () => {
    const { log, state, audited, flushes, file } = peer();
    const answers: Array<unknown> = [];
    state.fitness.unsealed = true;
    log.record(act("a"), (failure) => answers.push(failure));
    audited[0]?.done(false);
    state.fitness.integrityFault = "audit/1";
    log.record(act("b"), (failure) => answers.push(failure));
    for (const flush of flushes) flush();
    expect(file.map(({ act: { requestId } }) => requestId)).toEqual(["a", "b"]);
    expect(audited).toHaveLength(1);
    state.fitness.integrityFault = undefined;
    log.record(act("c"), (failure) => answers.push(failure));
    audited[1]?.done(undefined);
    expect(answers).toEqual([undefined, undefined, expect.any(Error)]);
  });
});
