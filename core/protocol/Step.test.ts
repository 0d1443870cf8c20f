import { changed } from "../../properties/cluster/Changed.ts";
import type { StateFields } from "./StateFields.ts";
import { isAcknowledgedByAll } from "./Acknowledged.ts";
import { describe, expect, it } from "vitest";
import { Cluster, founded } from "../../properties/cluster/Cluster.ts";
import { forgedBy } from "../../properties/cluster/Forging.ts";
import { stateOf } from "../../properties/cluster/Restoring.ts";
import { openStep } from "../../properties/cluster/OpenStep.ts";
import type { Digest } from "../base/Digest.ts";
import { freshRecovery } from "./TakingOver.ts";
import type { SignedStatement } from "./Statement.ts";
import type { Write } from "./Tables.ts";
import type { Draft } from "./SignedBatch.ts";
import { Step } from "./Step.ts";

const cluster = new Cluster(2);
cluster.pass(2_000);

const idle = (): void => undefined;

const [first, second, third] = ["01".repeat(32) as Digest, "02".repeat(32) as Digest, "03".repeat(32) as Digest];
const insert: Write = { op: "insert", table: "readable", key: "k", row: { recoveryId: first } };
const replace: Write = { op: "replace", table: "readable", key: "k", row: { recoveryId: second } };
const remove: Write = { op: "remove", table: "readable", key: "k" };

const draft = { kind: "REFUSAL" as const, seq: 1, detail: "X" };
const refusal: Draft = { ...draft, proposalId: first };

/** A statement of peer 1, the step that it was signed in, and the one after it. */
const signing = (): { readonly signed: SignedStatement; readonly step: Step; readonly next: Step } => {
  const step = openStep(cluster, 1);
  const all: Array<SignedStatement> = [];
  step.sign([refusal], (signed) => all.push(...signed));
  const next = new Step(step.finish(idle).state, step.context);
  const [signed] = all;
  if (signed === undefined) throw new Error("nothing was signed");
  return { signed, step, next };
};

describe("a step's writes", () => {
  const cases: ReadonlyArray<readonly [string, ReadonlyArray<Write>, ReadonlyArray<Write>]> = [
    ["one change", [insert], [insert]],
    ["insert, replace", [insert, replace], [{ ...replace, op: "insert" }]],
    ["insert, remove", [insert, remove], []],
    ["replace, remove", [replace, remove], [remove]],
    ["remove, insert", [remove, insert], [{ ...insert, op: "replace" }]],
  ];
  for (const [name, given, kept] of cases)
    it(`become one change of each row: ${name}`, () => {
      const step = openStep(cluster, 1);
      for (const write of given) step.write(write);
      const { writes } = step.finish(idle);
      expect(writes.filter((each) => each.table === "readable")).toEqual(kept);
      // The counters advance with every transaction, and there is none without a write.
      expect(writes.some((each) => each.table === "counters")).toBe(kept.length > 0);
    });

  it("insert a row or replace it, by what the step itself has made of it", () => {
    const step = openStep(cluster, 1);
    const put = (recoveryId: Digest): void => step.put("readable", "k", { recoveryId });
    put(first);
    put(second);
    step.write(remove);
    put(third);
    expect(step.finish(idle).writes[0]).toEqual({ ...insert, row: { recoveryId: third } });
  });

  it("bring no counters before there is a topology: until then nothing advances", () => {
    const step = openStep(cluster, 1);
    step.draft("cluster").membership = undefined;
    step.write(insert);
    expect(step.finish(idle).writes).toEqual([insert]);
  });

  /** Writes in a step with a prunable outbox row, and with a newer batch seen of one of two members. */
  const takenAlong = (given: ReadonlyArray<Write>) => {
    const busy = founded();
    busy.register(1, "request", "alice", 7);
    busy.settle();
    const step = openStep(busy, 1);
    step.draft("signed").seenWritten = step.state.signed.seen;
    step.noteSeen(forgedBy(busy, 2, signing().signed, {}, { batchNo: 99 }));
    for (const write of given) step.write(write);
    const { writes, state } = step.finish(idle);
    return { state, tables: writes.map(({ op, table, key }) => `${op} ${table} ${Number(key) || key}`) };
  };

  it("take along what the outbox does not need any more, and whoever was heard of", () => {
    const { state, tables } = takenAlong([insert]);
    expect(tables).toEqual(["insert readable k", "remove outbox 1", "replace seen 2", "replace counters self"]);
    expect([state.undecided.outbox.size, state.undecided.prunable]).toEqual([0, 0]);
    expect(state.signed.seenWritten).toBe(state.signed.seen);
  });

  it.each([
    ["there are none", []],
    ["they undo each other", [insert, remove]],
  ])("take nothing along where %s", (_when, given) => {
    const { state, tables } = takenAlong(given);
    expect(tables).toEqual([]);
    expect([state.undecided.outbox.size, state.undecided.prunable]).toEqual([1, 1]);
    expect(state.signed.seenWritten).not.toBe(state.signed.seen);
  });
});

describe("a step's statements", () => {
  it("share one batch whoever asked for them, and reach who asked in order", () => {
    const step = openStep(cluster, 1);
    const seen: Array<string> = [];
    step.sign([refusal], (signed) => seen.push(...signed.map((each) => each.statement.proposalId)));
    step.sign([{ ...draft, proposalId: second }], (signed) =>
      seen.push(...signed.map((each) => each.statement.proposalId)),
    );
    step.whenSigned(() => seen.push("end"));
    const { writes, state } = step.finish(idle);
    expect(seen).toEqual([first, second, "end"]);
    expect(writes.filter((each) => each.table === "batches")).toHaveLength(1);
    expect(state.signed.chain.batchNo).toBe((cluster.peers.get(1)?.state.signed.chain.batchNo ?? 0) + 1);
  });

  const vote: Draft = { ...refusal, kind: "RECEIPT" };
  const recovery = freshRecovery("a test");

  it.each<readonly [string, string, Partial<StateFields>, ReadonlyArray<Draft>]>([
    ["whose records do not hold", "S28", { integrityFault: "keys/k" }, [refusal]],
    ["that ran from an old disk", "S28", { quarantine: "an old disk" }, [refusal]],
    ["that has not joined", "S22", { unproven: new Set([2]) }, [refusal]],
    ["that is recovering, but for refusals", "S26", { recovery }, [refusal, vote]],
  ])("are never signed by a peer %s", (_which, invariant, state, drafts) => {
    const { state: sound, context } = openStep(cluster, 1);
    const step = new Step(changed(sound, state), context);
    step.sign(drafts, idle);
    expect(() => step.finish(idle)).toThrow(invariant);
  });

  it("are never signed by a peer without its key", () => {
    const { state, context } = openStep(cluster, 1);
    const step = new Step(state, { ...context, signer: undefined });
    step.sign([refusal], idle);
    expect(() => step.finish(idle)).toThrow("S28");
  });

  const asking = (ask: (step: Step) => void) => {
    const step = openStep(cluster, 1);
    const signed: Array<SignedStatement> = [];
    step.sign([refusal], (statements) => {
      signed.push(...statements);
      step.sendAll({ _tag: "Votes", statements });
      ask(step);
    });
    return { step, signed };
  };

  it("are withheld, with all else, where the same step finds out that the peer ran from an old disk", () => {
    const { step, signed } = asking(idle);
    step.write(insert);
    step.quarantine("an old disk");
    const { state, writes, sendNow, thenSend } = step.finish(idle);
    expect(signed).toEqual([]);
    expect([...sendNow, ...thenSend]).toEqual([]);
    expect(writes.map(({ table }) => table)).toEqual(["counters"]);
    expect(state).toEqual(changed(stateOf(cluster, 1), { quarantine: "an old disk" }));
  });

  it("go nowhere that were signed before the same step found that out", () => {
    const { step, signed } = asking((now) => now.quarantine("an old disk"));
    const { state, writes, thenSend } = step.finish(idle);
    expect(signed).toHaveLength(1);
    expect(thenSend).toEqual([]);
    expect(writes.map(({ table }) => table)).toEqual(["counters"]);
    expect(state.signed.chain).toEqual(stateOf(cluster, 1).signed.chain);
  });

  it("may be refusals while a peer is recovering", () => {
    const step = openStep(cluster, 1);
    step.draft("rejoining").recovery = recovery;
    step.sign([refusal], idle);
    expect(step.finish(idle).state.signed.chain.batchNo).toBe(stateOf(cluster, 1).signed.chain.batchNo + 1);
  });

  it("are flushed from the next step on", () => {
    const { signed, step, next } = signing();
    expect([step.isFlushed(signed), next.isFlushed(signed)]).toEqual([false, true]);
    next.sign([refusal], idle);
    const later = new Step(next.finish(idle).state, next.context);
    expect(later.isFlushed(signed)).toBe(true);
  });
});

describe("a step's state", () => {
  it("leaves the one that it started from untouched, and is copied once", () => {
    const { state, context } = openStep(cluster, 1);
    const before = { ...state, locks: new Map() };
    const step = new Step(before, context);
    const locks = step.edit("undecided", "locks");
    locks.set("x", first);
    expect(step.edit("undecided", "locks")).toBe(locks);
    expect([before.locks.size, step.finish(idle).state.undecided.locks.get("x")]).toEqual([0, first]);
  });

  it("has a topology and an id, or else nothing that asks for them goes on", () => {
    const step = openStep(cluster, 1);
    step.draft("cluster").membership = undefined;
    expect(() => step.membership).toThrow("S19");
    step.draft("cluster").peer = undefined;
    expect(() => step.self).toThrow("S19");
  });

  it("is no writer's where a topology is left and not who this peer is", () => {
    const step = openStep(cluster, 1);
    expect(step.isWriter).toBe(true);
    step.draft("cluster").peer = undefined;
    expect(step.isWriter).toBe(false);
  });

  it("keeps the first reason why a peer must sign nothing any more", () => {
    const step = openStep(cluster, 1);
    step.quarantine("one");
    step.quarantine("two");
    expect(step.state.fitness.quarantine).toBe("one");
  });

  it("takes no batch of another incarnation for the newest of a member", () => {
    const { signed } = signing();
    const step = openStep(cluster, 1);
    step.noteSeen(forgedBy(cluster, 2, signed, {}, { batchNo: 99, incarnation: 2 }));
    expect(step.state.signed.seen).toBe(stateOf(cluster, 1).signed.seen);
    const current = forgedBy(cluster, 2, signed, {}, { batchNo: 99 });
    step.noteSeen(current);
    // Nor another batch of the same number.
    step.noteSeen(forgedBy(cluster, 2, signed, { seq: 2 }, { batchNo: 99 }));
    expect(step.state.signed.seen.get(2)?.newest?.header).toBe(current.header);
  });
});

describe("a step's timers", () => {
  it("are armed where they are not due by then", () => {
    const step = openStep(cluster, 1, undefined, 1_000);
    step.state.timers = new Map();
    for (const millis of [50, 60, 50, 40]) step.arm("probe", millis);
    const { state, thenSend } = step.finish(idle);
    expect([...state.timers]).toEqual([["probe", 1_040]]);
    expect(thenSend).toEqual([50, 40].map((afterMillis) => ({ _tag: "SetTimer", timer: "probe", afterMillis })));
  });
});

describe("what all members say", () => {
  const { signed: like } = signing();
  const by = (peerId: number, ...change: [Parameters<typeof forgedBy>[3]?, Parameters<typeof forgedBy>[4]?]) =>
    forgedBy(cluster, peerId, like, ...change);

  it.each<readonly [string, boolean, ReadonlyArray<SignedStatement>]>([
    ["one of each, in order", true, [by(1), by(2)]],
    ["one alone", false, [by(1)]],
    ["one too many", false, [by(1), by(2), by(2)]],
    ["one of each in another order", false, [by(2), by(1)]],
    ["one of another kind", false, [by(1), by(2, { kind: "ABORT_ACK" })]],
    ["one about something else", false, [by(1), by(2, { proposalId: second })]],
    ["one of another incarnation", false, [by(1), by(2, {}, { incarnation: 2 })]],
    ["a forged one", false, [by(1), { ...by(2), signature: by(1).signature }]],
  ])("is an acknowledgement by all where there is %s: %s", (_what, isOne, acks) => {
    expect(isAcknowledgedByAll(openStep(cluster, 1), "REFUSAL", first, acks)).toBe(isOne);
  });

  it.each<readonly [boolean, ReadonlyArray<number>]>([
    [true, [1, 1]],
    [false, [1]],
    [false, [1, 2]],
    [false, [1, 1, 1]],
  ])("is current or not: %s, in the incarnations %j", (isCurrent, incarnations) => {
    expect(openStep(cluster, 1).isCurrent(incarnations)).toBe(isCurrent);
  });

  it("is in the incarnation that this peer is in itself, or has of another on record, and else in the first", () => {
    const step = openStep(cluster, 1);
    step.draft("signed").chain = { ...step.state.signed.chain, incarnation: 7 };
    step.edit("signed", "seen").set(2, { peerId: 2, incarnation: 8, newest: undefined, restored: undefined });
    expect([1, 2, 9].map((peerId) => step.recordedIncarnation(peerId))).toEqual([7, 8, 1]);
  });
});
