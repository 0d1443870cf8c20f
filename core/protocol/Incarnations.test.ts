import { describe, expect, it } from "vitest";
import { founded, NOW } from "../../properties/cluster/Cluster.ts";
import { announcedBy } from "../../properties/cluster/Forging.ts";
import { stateOf } from "../../properties/cluster/Restoring.ts";
import { turnOf } from "../../properties/cluster/TurnOf.ts";
import { Limits } from "../base/Limits.ts";
import { numberKey } from "./Tables.ts";
import type { Turn } from "./Turn.ts";
import { isSuperseded, noteRestored } from "./Incarnations.ts";
import type { Answered } from "./ProbeState.ts";
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

/** A turn of peer 1, to which members 2 and 3 have said whatever they can. */
const turnOfOne = (): Turn => {
  const turn = turnOf(cluster, 1);
  const said = new Map([2, 3].map((peerId) => [peerId, writerReceipt]));
  const open = { id, proposal, writerReceipt, votes: said, preparedAt: 0, askedAt: 0 };
  turn.edit("undecided", "preparations").set(id, { ...preparation, receipts: said, votes: said });
  turn.edit("undecided", "refused").set(id, { ...open, bindsSlot: true });
  turn.edit("undecided", "aborting").set(id, { ...open, votes: [...said.values()], acks: said });
  for (const isPrunable of [false, true]) {
    const seq = isPrunable ? 1 : 2;
    turn.edit("undecided", "outbox").set(seq, { id, seq, proposal, acks: said, dueAt: 0, isPrunable });
  }
  const {
    signed: { seen },
  } = turn.state;
  turn.draft("probing").probe = { nonce: id, startedAt: 0, seen, answers, heard: new Set() };
  turn.draft("probing").verdict = { probedAt: 0, concludedAt: 0, wallAhead: 0, faults: [] };
  return turn;
};

/** Whose word counts at this peer, wherever it collects some. */
const counted = ({ state }: Turn) => ({
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

describe("a member's announcement of a new life", () => {
  const life = announcedBy(cluster, 2, 5);

  it("is recorded in this very transaction, and nothing of its old life is the newest any more", () => {
    const turn = turnOfOne();
    noteRestored(turn, 2, life);
    const row = { peerId: 2, incarnation: 5, newest: undefined, restored: life };
    expect(turn.state.signed.seen.get(2)).toEqual(row);
    expect(turn.finish(() => undefined).writes).toContainEqual({
      op: "replace",
      table: "seen",
      key: numberKey(2),
      row,
    });
  });

  it("ends what its old life said for an end, for an acknowledgement and for its readiness, and nobody else's word", () => {
    const turn = turnOfOne();
    expect(counted(turn)).toEqual(everywhere(2, 3));
    noteRestored(turn, 2, life);
    expect(counted(turn)).toEqual(everywhere(3));
    expect(turn.state.probing.verdict).toBeUndefined();
  });

  it("leaves the receipts, which count at the life that their proposal pins, and what all have acknowledged", () => {
    const turn = turnOfOne();
    noteRestored(turn, 2, life);
    expect([...(turn.state.undecided.preparations.get(id)?.receipts.keys() ?? [])]).toEqual([2, 3]);
    expect([...(turn.state.undecided.outbox.get(1)?.acks.keys() ?? [])]).toEqual([2, 3]);
  });

  it("is recorded where nobody is being asked whether it is ready", () => {
    const turn = turnOfOne();
    turn.draft("probing").probe = undefined;
    noteRestored(turn, 2, life);
    expect(turn.recordedIncarnation(2)).toBe(5);
    expect(turn.state.probing.probe).toBeUndefined();
  });

  it("may be of a clock that is wrong by decades", () => {
    const turn = turnOfOne();
    noteRestored(turn, 2, announcedBy(cluster, 2, NOW + Limits.incarnationAheadMillis));
    expect(turn.recordedIncarnation(2)).toBe(NOW + Limits.incarnationAheadMillis);
  });

  it.each<readonly [string, SignedRestoration | undefined]>([
    ["there is none", undefined],
    ["it is of the life on record", announcedBy(cluster, 2, 1)],
    ["it is another member's, who passes for this one", announcedBy(cluster, 3, 5)],
    ["another member made it in this one's name", announcedBy(cluster, 3, 5, { peerId: 2 })],
    ["it is a century ahead", announcedBy(cluster, 2, NOW + Limits.incarnationAheadMillis + 1)],
    ["it leaves no number for another life", announcedBy(cluster, 2, Number.MAX_SAFE_INTEGER)],
    ["it was made for another topology", announcedBy(cluster, 2, 5, { topologyDigest: id })],
  ])("changes nothing where %s", (_why, signed) => {
    const turn = turnOfOne();
    noteRestored(turn, 2, signed);
    expect(turn.recordedIncarnation(2)).toBe(1);
    expect(counted(turn)).toEqual(everywhere(2, 3));
    expect(turn.state.probing.verdict).toBeDefined();
  });
});

describe("a proposal", () => {
  it.each([1, 2, 3])(
    "is superseded where the life of peer %i that it pins is over, of whatever life the others are",
    (peerId) => {
      const older = proposal.incarnations.map((incarnation, index) => incarnation - (index === peerId - 1 ? 1 : 0));
      expect(isSuperseded(turnOf(cluster, 1), { ...proposal, incarnations: older })).toBe(true);
    },
  );

  it("is not superseded where all lives that it pins go on, or have not been heard of yet", () => {
    expect(isSuperseded(turnOf(cluster, 1), proposal)).toBe(false);
    const newer = proposal.incarnations.map((incarnation) => incarnation + 1);
    expect(isSuperseded(turnOf(cluster, 1), { ...proposal, incarnations: newer })).toBe(false);
  });
});
