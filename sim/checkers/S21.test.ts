/** What a member makes of a question about a proposal that pins an incarnation which is over. */
import { expect, it } from "vitest";
import { crypto, founded, whole } from "../../properties/cluster/Cluster.ts";
import { stateOf } from "../../properties/cluster/Restoring.ts";
import { watched } from "../../properties/cluster/Watching.ts";
import type { Digest } from "../../core/base/Digest.ts";
import type { Message } from "../../core/Message.ts";
import type { PeerState } from "../../core/protocol/PeerState.ts";
import type { StateFields } from "../../core/protocol/StateFields.ts";
import type { Watched } from "./Checker.ts";
import { Ghost, maskOf } from "./Ghost.ts";
import { S21 } from "./S21.ts";

/** Peers 1 and 2 have prepared it; peer 3 has heard of nothing. */
const cluster = founded();
cluster.tamper = (from, to, message) => {
  const isKept = message._tag === "Votes" || (message._tag === "Prepare" && to === 3);
  return isKept ? undefined : whole(from, to, message);
};
cluster.register(1, "request", "alice", 7);
cluster.settle();
const [preparation] = stateOf(cluster, 2).undecided.preparations.values();
if (preparation === undefined) throw new Error("peer 2 has not prepared");
const { id, proposal, writerReceipt: receipt } = preparation;
const rowOf = (slot: number) => {
  const row = cluster.row(slot, "preparations", id);
  if (row === undefined) throw new Error("nothing was prepared");
  return row;
};

/** Peer 3, which has this incarnation of peer 2 on record. */
const third = (incarnation: number, more: Partial<Watched> = {}, state: Partial<StateFields> = {}): Watched => {
  const seen = new Map(stateOf(cluster, 3).signed.seen);
  seen.set(2, { peerId: 2, incarnation, newest: undefined, restored: undefined });
  return watched(cluster, 3, more, { seen, ...state });
};
const refused = new Map([[id, { votes: new Map() }]]) as unknown as StateFields["refused"];

/** Peer 2 asks peer 3 about a proposal, and then it is so. */
const asking =
  (peer: Watched, about = proposal, before: PeerState | undefined = third(5).state, { isPromoted = false } = {}) =>
  (...later: ReadonlyArray<Watched>) =>
  (): void => {
    const ghost = new Ghost(crypto, cluster.total);
    ghost.restored = maskOf(2);
    const { membership } = stateOf(cluster, 3).cluster;
    if (isPromoted && membership !== undefined) ghost.membership = { ...membership, before: membership };
    ghost.flushed(watched(cluster, 1), [{ op: "insert", table: "preparations", key: id, row: rowOf(1) }]);
    const checker = S21(ghost);
    const nonce = "ab".repeat(32) as Digest;
    const message: Message = { _tag: "SettleQuery", items: [{ proposal: about, receipt }], demandFinal: false, nonce };
    if (before !== undefined) checker.handled?.(peer, 2, message, before, { transactions: 0, said: 1 });
    for (const each of later) checker.stepped?.(each);
  };

it("finds one that does not refuse it, at once or when its flush is over", () => {
  expect(asking(third(5))()).toThrow("peer 2 asked it about that, and it did not refuse it");
  expect(asking(third(5, { isIdle: false }))(third(5))).toThrow("did not refuse it");
});

it("is content once it has refused it, or has gone meanwhile", () => {
  const busy = asking(third(5, { isIdle: false }));
  expect(busy(third(5, {}, { refused }))).not.toThrow();
  expect(busy(third(5, { isIdle: false }))).not.toThrow();
  expect(busy(third(5, { process: 2 }))).not.toThrow();
});

it("wants no refusal of what may still come about, is known, is not what its writer prepared, or has no room", () => {
  const before = third(5, {}, { refused }).state;
  expect(asking(third(1), proposal, third(1).state)()).not.toThrow();
  expect(asking(third(5), proposal, before)()).not.toThrow();
  expect(asking(third(5), { ...proposal, expiresAt: proposal.expiresAt + 1 })()).not.toThrow();
  expect(asking(third(5), proposal, third(5, {}, { decidedSeq: -256 }).state)()).not.toThrow();
  const tired = third(5, {}, { abortsUntil: Number.MAX_SAFE_INTEGER });
  expect(asking(tired, proposal, tired.state)()).not.toThrow();
});

it("finds it after a promotion too, and wants nothing of a peer whose promotion is not done", () => {
  const promoted = (stage: "DECIDED" | "DONE") => {
    const { promotion } = stateOf(cluster, 3).cluster;
    return third(5, {}, { promotion: { ...promotion, own: { stage } } } as unknown as Partial<StateFields>);
  };
  const done = promoted("DONE");
  expect(asking(done, proposal, done.state, { isPromoted: true })()).toThrow("did not refuse it");
  const underWay = promoted("DECIDED");
  expect(asking(underWay, proposal, underWay.state, { isPromoted: true })()).not.toThrow();
});
