import { readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { describe, expect, it } from "vitest";
import { prepared } from "../../properties/cluster/Prepared.ts";
import { forgedBy } from "../../properties/cluster/Forging.ts";
import { openStep } from "../../properties/cluster/OpenStep.ts";
import { commands } from "../commands/Commands.ts";
import type { Digest } from "../base/Digest.ts";
import type { Certificate } from "./Certificate.ts";
import { locksOf } from "./Command.ts";
import {
  countAbortAck,
  countAbortVote,
  dropUndecided,
  hold,
  prune,
  recordAborted,
  recordAcknowledged,
  recordApplied,
  recordConfirmed,
  recordPledged,
  recordPrepared,
  recordRefused,
  type Refusing,
} from "./Lifecycle.ts";
import { mayFollow, type Phase, phaseOf, phases } from "./Phase.ts";
import type { SignedStatement } from "./Statement.ts";
import type { Step } from "./Step.ts";

const { cluster, preparation } = prepared();
const { id, proposal, writerReceipt, own } = preparation;
const { seq } = proposal;
const other = forgedBy(cluster, 3, own);
const refusal = forgedBy(cluster, 3, own, { kind: "REFUSAL", detail: "a test" });
const pledge = forgedBy(cluster, 2, own, { kind: "PLEDGE", detail: "3" });
const ack = forgedBy(cluster, 2, own, { kind: "COMMIT_ACK" });
const ended = (peerId: number): SignedStatement => forgedBy(cluster, peerId, own, { kind: "ABORT_ACK" });
const certificate: Certificate = { proposal, receipts: [writerReceipt, own, other] };
const refusing: Refusing = { id, proposal, writerReceipt, code: "a test", bindsSlot: false };

const at = (step: Step): Phase => phaseOf({ undecided: step.state.undecided, self: step.self, id, seq });
const preparationIn = ({ state }: Step) => state.undecided.preparations.get(id) ?? preparation;

/** The action that brings a proposal to each phase, by the phase's owner, whatever the phase before. */
const enters: Readonly<Record<Phase, (step: Step) => void>> = {
  absent: (step) => {
    const { refused, aborting } = step.state.undecided;
    const ending = aborting.get(id);
    if (ending === undefined) recordAborted(step, refused.get(id) ?? preparationIn(step), ended(step.self));
    else
      for (const peerId of [1, 2, 3])
        countAbortAck(step, step.state.undecided.aborting.get(id) ?? ending, ended(peerId));
  },
  prepared: (step) => recordPrepared(step, { id, proposal, writerReceipt }, own),
  opposed: (step) => countAbortVote(step, preparationIn(step), refusal),
  pledged: (step) => recordPledged(step, preparationIn(step), pledge),
  refused: (step) => recordRefused(step, refusing, refusal),
  applied: (step) => recordApplied(step, id, certificate, 0),
  acknowledged: (step) =>
    recordAcknowledged(step, { id, seq, proposal, acks: new Map(), dueAt: 0, isPrunable: false }, ack),
  confirmed: (step) => recordConfirmed(step, seq),
  aborting: (step) => recordAborted(step, preparationIn(step), ended(step.self)),
};

/** The ways to each phase from one in which a step may begin: peer 2 has prepared; peer 3 has never heard of it. */
const ways: Readonly<Record<Phase, ReadonlyArray<Phase>>> = {
  absent: [],
  prepared: [],
  opposed: ["opposed"],
  pledged: ["opposed", "pledged"],
  refused: ["refused"],
  applied: ["applied"],
  acknowledged: ["applied", "acknowledged"],
  confirmed: ["applied", "acknowledged", "confirmed"],
  aborting: ["opposed", "pledged", "aborting"],
};

const begun = (phase: Phase): Step => {
  const step = openStep(cluster, phase === "aborting" ? 1 : 2);
  if (phase === "absent" || phase === "refused") {
    for (const field of ["preparations", "locks"] as const) step.edit("undecided", field).clear();
    step.write({ op: "remove", table: "preparations", key: id });
  }
  for (const each of ways[phase]) enters[each](step);
  expect(at(step)).toBe(phase);
  return step;
};

/** Which entries check the phase before; the others are only ever called for what is there. */
const isAsked: Readonly<Record<Phase, boolean>> = {
  absent: true,
  prepared: true,
  opposed: false,
  pledged: true,
  refused: true,
  applied: true,
  acknowledged: true,
  confirmed: false,
  aborting: false,
};

describe("a proposal", () => {
  const pairs = phases.flatMap((from) => phases.map((to) => [from, to] as const));
  const allowed = pairs.filter(([from, to]) => to in mayFollow[from] && to !== "aborting" && from !== "confirmed");
  const forbidden = pairs.filter(([from, to]) => from !== to && isAsked[to] && !(to in mayFollow[from]));

  it.each(allowed)("that was %s may become %s", (from, to) => {
    const step = begun(from);
    enters[to](step);
    expect(at(step)).toBe(to);
  });

  it("that was pledged is aborting at the writer until all have aborted it", () => {
    const step = begun("aborting");
    expect(step.state.undecided.locks.size).toBeGreaterThan(0);
    enters.absent(step);
    expect([at(step), step.state.undecided.locks.size]).toEqual(["absent", 0]);
  });

  it.each(forbidden)("that was %s never becomes %s", (from, to) => {
    const step = begun(from);
    expect(() => enters[to](step)).toThrow("S39");
  });

  it("that all have acknowledged is dropped with the next transaction", () => {
    const step = begun("confirmed");
    prune(step);
    expect(at(step)).toBe("absent");
  });

  it("that is not final is dropped by a declared restore", () => {
    for (const phase of phases) {
      const step = begun(phase);
      dropUndecided(step);
      expect([phase, at(step), step.state.undecided.locks.size]).toEqual([phase, "absent", 0]);
    }
  });

  it("is counted in no phase twice", () => {
    for (const phase of phases) {
      const { preparations, refused, aborting, outbox } = begun(phase).state.undecided;
      expect(preparations.size + refused.size + aborting.size + outbox.size).toBe(phase === "absent" ? 0 : 1);
    }
  });
});

it("drops no lock that another proposal has taken since", () => {
  const step = openStep(cluster, 2);
  const [taken, ...others] = locksOf(commands, proposal);
  if (taken === undefined) throw new Error("a registration has locks");
  const another = "ab".repeat(32) as Digest;
  hold(step, id, proposal);
  step.edit("undecided", "locks").set(taken, another);
  recordApplied(step, id, certificate, 0);
  expect(step.state.undecided.locks.get(taken)).toBe(another);
  expect(others.filter((lock) => step.state.undecided.locks.has(lock))).toEqual([]);
});

describe("what is undecided", () => {
  const owners = new Set(["AbortPace.ts", "Lifecycle.ts", "Rounds.ts", "Slots.ts"]);
  const writes = /(draft|edit)\("undecided"|table: "(preparations|refusals|aborts|slots|strays|outbox)"|put\("slots"/;
  const folder = new URL("..", import.meta.url);

  it("is changed by its owner alone", () => {
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
      /(?<!\.test)\.ts$/.test(name),
    );
    const writers = files.filter((name) => writes.test(readFileSync(new URL(name, folder), "utf8")));
    expect(new Set(writers.map((name) => basename(name)))).toEqual(owners);
  });
});
