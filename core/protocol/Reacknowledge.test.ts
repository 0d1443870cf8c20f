import { describe, expect, it } from "vitest";
import { founded } from "../../properties/cluster/Cluster.ts";
import { announcedBy, forgedBy } from "../../properties/cluster/Forging.ts";
import { register } from "../../properties/cluster/Restoring.ts";
import { openStep } from "../../properties/cluster/OpenStep.ts";
import type { Digest } from "../base/Digest.ts";
import { slotKey } from "./Tables.ts";
import type { Step } from "./Step.ts";
import type { Decision } from "./Decision.ts";
import { reacknowledge } from "./Reacknowledge.ts";

const cluster = founded();
register(cluster, "alice", 7);
const ofOldIncarnation = cluster.row(2, "slots", slotKey(1, 1))?.ack;
if (ofOldIncarnation === undefined) throw new Error("the second has applied it");
const LIFE = 5;
const ofThisIncarnation = forgedBy(cluster, 2, ofOldIncarnation, {}, { incarnation: LIFE });
const writerReceipt = forgedBy(cluster, 1, ofOldIncarnation, { kind: "RECEIPT" });
const [APPLIED, ABORTED, STRAY] = ["aa", "bb", "cc"].map((each) => each.repeat(32) as Digest) as [
  Digest,
  Digest,
  Digest,
];
const applied: Decision = {
  outcome: "APPLIED",
  epoch: 1,
  seq: 1,
  isStray: false,
  ack: undefined,
  writerReceipt: undefined,
};

/** The second peer's acknowledgements and writes, after one restore; `become` says what is different. */
const handed = (decided: ReadonlyMap<Digest, Decision>, become: (step: Step) => void = () => undefined) => {
  const step = openStep(cluster, 2);
  step.draft("rejoining").restored = announcedBy(cluster, 2, LIFE);
  step.draft("signed").chain = { ...step.state.signed.chain, incarnation: LIFE };
  become(step);
  const runs: Array<ReadonlyMap<Digest, Decision>> = [];
  reacknowledge(step, decided, (all) => void runs.push(all));
  const { writes } = step.finish(() => undefined);
  return { runs, writes: writes.filter(({ table }) => table === "slots" || table === "strays") };
};

describe("what a restored member took from others", () => {
  it("it acknowledges by what became of it, and keeps that where the outcome is", () => {
    const decided = new Map<Digest, Decision>([
      [APPLIED, { ...applied, ack: ofOldIncarnation }],
      [ABORTED, { ...applied, outcome: "ABORTED", seq: 2, writerReceipt }],
      [STRAY, { ...applied, outcome: "ABORTED", seq: 3, isStray: true }],
    ]);
    const { runs, writes } = handed(decided);
    const acks = [...(runs[0]?.values() ?? [])].map(({ ack }) => ack);
    expect(acks.map((ack) => [ack?.statement, ack?.header.incarnation])).toMatchObject([
      [{ kind: "COMMIT_ACK", proposalId: APPLIED, seq: 1, detail: "" }, LIFE],
      [{ kind: "ABORT_ACK", proposalId: ABORTED, seq: 2, detail: "" }, LIFE],
      [{ kind: "ABORT_ACK", proposalId: STRAY, seq: 3, detail: "" }, LIFE],
    ]);
    expect(runs).toEqual([new Map([...decided].map(([id, each], at) => [id, { ...each, ack: acks[at] }]))]);
    const slot = (proposalId: Digest, outcome: Decision["outcome"], at: number, receipt = {}) => ({
      op: "replace",
      table: "slots",
      key: slotKey(1, at + 1),
      row: { proposalId, outcome, ack: acks[at], writerReceipt: undefined, ...receipt },
    });
    expect(writes).toEqual([
      slot(APPLIED, "APPLIED", 0),
      slot(ABORTED, "ABORTED", 1, { writerReceipt }),
      { op: "replace", table: "strays", key: STRAY, row: { ack: acks[2] } },
    ]);
  });

  it.each<readonly [string, Decision, (step: Step) => void]>([
    ["has acknowledged it in this incarnation", { ...applied, ack: ofThisIncarnation }, () => undefined],
    ["was never restored", applied, (step) => void (step.draft("rejoining").restored = undefined)],
    ["may not sign yet", applied, (step) => void step.edit("rejoining", "unproven").add(3)],
  ])("is handed on as it is by one that %s", (_who, decision, become) => {
    const decided = new Map([[APPLIED, decision]]);
    expect(handed(decided, become)).toEqual({ runs: [decided], writes: [] });
  });

  it("is acknowledged as far as that is missing, and handed on as a whole", () => {
    const { runs } = handed(
      new Map([
        [APPLIED, { ...applied, ack: ofThisIncarnation }],
        [ABORTED, { ...applied, outcome: "ABORTED", seq: 2 }],
      ]),
    );
    const [all] = runs;
    expect(all?.get(APPLIED)?.ack).toBe(ofThisIncarnation);
    expect(all?.get(ABORTED)?.ack?.statement.proposalId).toBe(ABORTED);
  });
});
