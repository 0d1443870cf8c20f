import { describe, expect, it } from "vitest";
import { founded, NOW } from "../../properties/cluster/Cluster.ts";
import { announcedBy, forgedBy } from "../../properties/cluster/Forging.ts";
import { stateOf } from "../../properties/cluster/Restoring.ts";
import { openStep } from "../../properties/cluster/OpenStep.ts";
import { Limits } from "../base/Limits.ts";
import { numberKey } from "./Tables.ts";
import type { Step } from "./Step.ts";
import { isSuperseded, noteRestored } from "./Incarnations.ts";
import type { Answered } from "./ProbeState.ts";
import { isOfEarlierIncarnation, remind, remindOfRecord } from "./Reminders.ts";
import type { SignedRestoration } from "./Restoration.ts";
import type { PeerId } from "./Topology.ts";

const cluster = founded();
const answers = new Map<PeerId, Answered>();
cluster.tamper = (from, _to, message) => {
  if (message._tag === "Ready") answers.set(from, { ready: message, answeredAt: 0 });
  return message._tag === "Votes" ? undefined : message;
};
cluster.register(1, "request", "alice", 7);
cluster.settle();
const [preparation] = stateOf(cluster, 1).undecided.preparations.values();
if (preparation === undefined) throw new Error("the writer has prepared alice");
const { id, proposal, writerReceipt } = preparation;

/** A step of peer 1 with every kind of statement of members 2 and 3. */
const stepOfOne = (): Step => {
  const step = openStep(cluster, 1);
  const said = new Map([2, 3].map((peerId) => [peerId, writerReceipt]));
  const open = { id, proposal, writerReceipt, votes: said, preparedAt: 0, askedAt: 0 };
  step.edit("undecided", "preparations").set(id, { ...preparation, receipts: said, votes: said });
  step.edit("undecided", "refused").set(id, { ...open, bindsSlot: true });
  step.edit("undecided", "aborting").set(id, { ...open, votes: [...said.values()], acks: said });
  for (const isPrunable of [false, true]) {
    const seq = isPrunable ? 1 : 2;
    step.edit("undecided", "outbox").set(seq, { id, seq, proposal, acks: said, dueAt: 0, isPrunable });
  }
  const {
    signed: { seen },
  } = step.state;
  step.draft("probing").probe = { nonce: id, startedAt: 0, seen, answers, heard: new Set() };
  step.draft("probing").verdict = { probedAt: 0, concludedAt: 0, wallAhead: 0, faults: [] };
  return step;
};

/** The members whose statements count at this peer, wherever it collects some. */
const counted = ({ state }: Step) => ({
  preparation: [...(state.undecided.preparations.get(id)?.votes.keys() ?? [])],
  refused: [...(state.undecided.refused.get(id)?.votes.keys() ?? [])],
  aborting: [...(state.undecided.aborting.get(id)?.acks.keys() ?? [])],
  delivery: [...(state.undecided.outbox.get(2)?.acks.keys() ?? [])],
  probe: [...(state.probing.probe?.answers.keys() ?? [])].toSorted(),
});
const everywhere = (...peerIds: ReadonlyArray<PeerId>) => ({
  preparation: peerIds,
  refused: peerIds,
  aborting: peerIds,
  delivery: peerIds,
  probe: peerIds,
});

describe("a member's announcement of a new incarnation", () => {
  const incarnation = announcedBy(cluster, 2, 5);

  it("is recorded in this very transaction, and nothing of its old incarnation is the newest any more", () => {
    const step = stepOfOne();
    noteRestored(step, 2, incarnation);
    const row = { peerId: 2, incarnation: 5, newest: undefined, restored: incarnation };
    expect(step.state.signed.seen.get(2)).toEqual(row);
    expect(step.finish(() => undefined).writes).toContainEqual({
      op: "replace",
      table: "seen",
      key: numberKey(2),
      row,
    });
  });

  it("ends what its old incarnation said for an end, for an acknowledgement and for its readiness, and nobody else's word", () => {
    const step = stepOfOne();
    expect(counted(step)).toEqual(everywhere(2, 3));
    noteRestored(step, 2, incarnation);
    expect(counted(step)).toEqual(everywhere(3));
    expect(step.state.probing.verdict).toBeUndefined();
  });

  it("leaves the receipts, which count at the incarnation that their proposal pins, and what all have acknowledged", () => {
    const step = stepOfOne();
    noteRestored(step, 2, incarnation);
    expect([...(step.state.undecided.preparations.get(id)?.receipts.keys() ?? [])]).toEqual([2, 3]);
    expect([...(step.state.undecided.outbox.get(1)?.acks.keys() ?? [])]).toEqual([2, 3]);
  });

  it("is recorded where nobody is being asked whether it is ready", () => {
    const step = stepOfOne();
    step.draft("probing").probe = undefined;
    noteRestored(step, 2, incarnation);
    expect(step.recordedIncarnation(2)).toBe(5);
    expect(step.state.probing.probe).toBeUndefined();
  });

  it("may be of a clock that is wrong by decades", () => {
    const step = stepOfOne();
    noteRestored(step, 2, announcedBy(cluster, 2, NOW + Limits.incarnationAheadMillis));
    expect(step.recordedIncarnation(2)).toBe(NOW + Limits.incarnationAheadMillis);
  });

  it.each<readonly [string, SignedRestoration | undefined]>([
    ["there is none", undefined],
    ["it is of the incarnation on record", announcedBy(cluster, 2, 1)],
    ["it is another member's, who passes for this one", announcedBy(cluster, 3, 5)],
    ["another member made it in this one's name", announcedBy(cluster, 3, 5, { peerId: 2 })],
    ["it is a century ahead", announcedBy(cluster, 2, NOW + Limits.incarnationAheadMillis + 1)],
    ["it leaves no number for another incarnation", announcedBy(cluster, 2, Number.MAX_SAFE_INTEGER)],
    ["it was made for another topology", announcedBy(cluster, 2, 5, { topologyDigest: id })],
  ])("changes nothing where %s", (_why, signed) => {
    const step = stepOfOne();
    noteRestored(step, 2, signed);
    expect(step.recordedIncarnation(2)).toBe(1);
    expect(counted(step)).toEqual(everywhere(2, 3));
    expect(step.state.probing.verdict).toBeDefined();
  });
});

describe("a member whose votes are of the incarnation before", () => {
  const late = (incarnation: number): Step => {
    const step = openStep(cluster, 1);
    noteRestored(step, 2, announcedBy(cluster, 2, incarnation));
    return step;
  };
  const asked = (step: ReturnType<typeof openStep>): ReadonlyArray<PeerId> =>
    step.finish(() => undefined).thenSend.flatMap((each) => (each._tag === "Send" ? [each.to] : []));

  it("is told from others, and from whoever only says so", () => {
    const [step, current] = [late(2), late(1)];
    const votes = [1, 2, 3].map((peerId) => forgedBy(cluster, peerId, writerReceipt));
    expect(votes.map((vote) => isOfEarlierIncarnation(step, vote))).toEqual([false, true, false]);
    expect(votes.map((vote) => isOfEarlierIncarnation(current, vote))).toEqual([false, false, false]);
    const [, two] = votes;
    if (two === undefined) throw new Error("peer 2 has voted");
    const unsigned = { ...two, header: { ...two.header, batchNo: two.header.batchNo + 1 } };
    expect(isOfEarlierIncarnation(step, unsigned)).toBe(false);
  });

  it("is shown once in a second what is on record, and nobody else is", () => {
    const step = openStep(cluster, 1);
    noteRestored(step, 2, announcedBy(cluster, 2, 2));
    remind(step, [1, 2, 2]);
    remind(step, [2]);
    remindOfRecord(step, [1, 1, 1]);
    remindOfRecord(step, [0, 0]);
    expect(asked(step)).toEqual([2]);
  });
});

describe("a proposal", () => {
  it.each([1, 2, 3])(
    "is superseded where the incarnation of peer %i that it pins is over, of whatever incarnation the others are",
    (peerId) => {
      const older = proposal.incarnations.map((incarnation, index) => incarnation - (index === peerId - 1 ? 1 : 0));
      expect(isSuperseded(openStep(cluster, 1), { ...proposal, incarnations: older })).toBe(true);
    },
  );

  it("is not superseded where all incarnations that it pins go on, or have not been heard of yet", () => {
    expect(isSuperseded(openStep(cluster, 1), proposal)).toBe(false);
    const newer = proposal.incarnations.map((incarnation) => incarnation + 1);
    expect(isSuperseded(openStep(cluster, 1), { ...proposal, incarnations: newer })).toBe(false);
  });
});
