import { describe, expect, it } from "vitest";
import { Cluster } from "../../properties/cluster/Cluster.ts";
import { forgedBy } from "../../properties/cluster/Forging.ts";
import { declare, stateOf } from "../../properties/cluster/Restoring.ts";
import type { WholeStep } from "../../properties/cluster/OpenStep.ts";
import { CAPACITIES } from "../base/Capacities.ts";
import type { Message } from "../Message.ts";
import type { Ready } from "./Message.ts";
import { freshNonce, nonceFor } from "./Nonces.ts";
import { onProbeTimer, onReady } from "./Readiness.ts";
import type { SignedStatement } from "./Statement.ts";
import type { PeerId } from "./Topology.ts";
import {
  AT,
  type Become,
  OTHER,
  answers,
  asItIs,
  asking,
  cluster,
  later,
  memberStep,
  receipt,
  replies,
} from "../../properties/cluster/Probing.ts";

describe("a member's answer whether it is ready", () => {
  const answerOf = (step: WholeStep, from: PeerId, change: Partial<Ready> = {}): Ready => {
    const ready = answers.get(from);
    if (ready === undefined) throw new Error(`peer ${from} was not asked`);
    return { ...ready, clock: AT, nonce: nonceFor(step, freshNonce(step, "probe"), from), ...change };
  };

  it("is waited for of all others: with the last one all of them are ready", () => {
    const step = asking();
    step.draft("probing").readinessWaiters = ["first", "second"];
    onReady(step, 2, answerOf(step, 2));
    expect(step.state.probing.verdict).toBeUndefined();
    const last = later(step, 300);
    onReady(last, 3, answerOf(last, 3));
    expect(last.state.probing.verdict).toEqual({ probedAt: AT, concludedAt: AT + 300, wallAhead: 0, faults: [] });
    expect([last.state.probing.probe, last.state.probing.readinessWaiters]).toEqual([undefined, []]);
    const answer = { _tag: "Readiness", faults: [] };
    expect(replies(last)).toEqual([
      ["first", answer],
      ["second", answer],
    ]);
  });

  /** The newest batch that was seen of the third, of its first incarnation. */
  const newest = stateOf(cluster, 1).signed.seen.get(3)?.newest?.header.batchNo ?? 0;

  it.each<readonly [string, Partial<Ready>, Become]>([
    ["it is sealed", { sealed: true }, asItIs],
    ["it has not founded the cluster yet", { topologyDigest: undefined }, asItIs],
    ["it belongs to another topology", { topologyDigest: OTHER }, asItIs],
    ["its cluster configuration differs", { configDigest: OTHER }, asItIs],
    ["its stored records do not hold", { integrityOk: false }, asItIs],
    ["it is joining", { mode: "joining" }, asItIs],
    ["it cannot verify tokens: the keys of their issuer cannot be had", { judgesTokens: false }, asItIs],
    ["it ran from an old disk", { batchNo: newest - 1 }, asItIs],
    [
      "it was restored meanwhile",
      {},
      (step) =>
        void step.edit("signed", "seen").set(3, { peerId: 3, incarnation: 2, newest: undefined, restored: undefined }),
    ],
    ["it holds as many uncommitted preparations as it may", { uncommitted: CAPACITIES.preparations }, asItIs],
    ["it holds as many refusals as it may", { refusals: CAPACITIES.refusals }, asItIs],
  ])("decides the matter, whoever has not answered yet, where %s", (reason, change, become) => {
    const step = later(asking(), 1_000);
    become(step);
    onReady(step, 3, answerOf(step, 3, change));
    expect(step.state.probing.verdict?.faults).toEqual([{ peerId: 3, reason }]);
  });

  it.each([AT - 5_001, AT + 6_001])("names it for a clock at %i when all have answered", (clock) => {
    const step = later(asking(), 1_000);
    onReady(step, 3, answerOf(step, 3, { clock }));
    expect(step.state.probing.verdict).toBeUndefined();
    onReady(step, 2, answerOf(step, 2));
    expect(step.state.probing.verdict?.faults).toEqual([{ peerId: 3, reason: "its clock differs by more than 5 s" }]);
  });

  it("names this peer where its own clock has jumped since it asked, and nobody else", () => {
    const step = later(asking(), 1_000, 86_400_000);
    onReady(step, 3, answerOf(step, 3));
    onReady(step, 2, answerOf(step, 2));
    expect(step.state.probing.verdict?.faults).toEqual([{ peerId: 1, reason: "its clock differs by more than 5 s" }]);
  });

  it("names nobody where its own clock was wrong when one answered, and is right when the last does", () => {
    const wrong = later(asking(), 1_000, 86_400_000);
    onReady(wrong, 2, answerOf(wrong, 2));
    const right = later(wrong, 1_000, -86_400_000);
    onReady(right, 3, answerOf(right, 3));
    expect(right.state.probing.verdict?.faults).toEqual([]);
  });

  it.each<readonly [string, Partial<Ready>, Become]>([
    ["a clock five seconds behind when it was asked", { clock: AT - 5_000 }, asItIs],
    ["a clock five seconds ahead when it answered", { clock: AT + 6_000 }, asItIs],
    ["the newest batch that was seen of it", { batchNo: newest }, asItIs],
    ["fewer batches in another incarnation", { incarnation: 2, batchNo: 0 }, asItIs],
    [
      "no batch, where none was seen of it",
      { batchNo: 0 },
      (step) =>
        void step.edit("signed", "seen").set(3, { peerId: 3, incarnation: 1, newest: undefined, restored: undefined }),
    ],
    ["room for one more preparation", { uncommitted: CAPACITIES.preparations - 1 }, asItIs],
    ["room for one more refusal", { refusals: CAPACITIES.refusals - 1 }, asItIs],
  ])("makes it ready with %s", (_what, change, become) => {
    const step = later(asking(become), 1_000);
    onReady(step, 2, answerOf(step, 2));
    onReady(step, 3, answerOf(step, 3, change));
    expect(step.state.probing.verdict?.faults).toEqual([]);
  });

  it.each<readonly [string, PeerId, Partial<Ready>]>([
    ["another member gave it", 3, { peerId: 2 }],
    ["it comes from this peer itself", 1, {}],
    ["it is to another question", 3, { nonce: OTHER }],
  ])("does not count where %s", (_why, from, change) => {
    const step = asking();
    const ready = { ...answerOf(step, 3), peerId: from, nonce: nonceFor(step, freshNonce(step, "probe"), from) };
    onReady(step, from, { ...ready, sealed: true, ...change });
    expect([step.state.probing.probe?.answers.size, step.state.probing.verdict]).toEqual([0, undefined]);
  });

  it("counts once, and only while somebody asks", () => {
    const step = asking();
    onReady(step, 3, answerOf(step, 3));
    onReady(step, 3, answerOf(step, 3, { sealed: true }));
    expect(step.state.probing.verdict).toBeUndefined();
    const idle = memberStep(1);
    onReady(idle, 3, answerOf(idle, 3, { sealed: true }));
    expect([idle.state.probing.probe, idle.state.probing.verdict]).toEqual([undefined, undefined]);
  });

  describe("shows the writer", () => {
    const proof = (by: PeerId, change = {}, header = {}): SignedStatement =>
      forgedBy(cluster, by, receipt, { seq: 5, ...change }, header);
    const shown = (change: Partial<Ready>, become: Become = asItIs): WholeStep => {
      const step = asking(become);
      onReady(step, 3, answerOf(step, 3, change));
      return step;
    };

    it("that it ran from an old disk, by its own receipt for a slot that it does not know", () => {
      const { state } = shown({ highSeq: 5, highSeqProof: proof(1) });
      expect(state.fitness.quarantine).toContain(`batch ${receipt.header.batchNo} is not in this peer's chain`);
      expect(state.probing.verdict?.faults).toEqual([{ peerId: 1, reason: "it ran from an old disk" }]);
    });

    it.each<readonly [string, Partial<Ready>, Become]>([
      ["without a receipt", { highSeqProof: undefined }, asItIs],
      ["with one for a slot that it knows", { highSeq: 1, highSeqProof: proof(1, { seq: 1 }) }, asItIs],
      ["with one for another slot", { highSeqProof: proof(1, { seq: 4 }) }, asItIs],
      ["with another member's", { highSeqProof: proof(3) }, asItIs],
      ["with one of another incarnation", { highSeqProof: proof(1, {}, { incarnation: 2 }) }, asItIs],
      ["with one that another signed", { highSeqProof: { ...proof(1), signature: proof(3).signature } }, asItIs],
      [
        "where another peer is the writer",
        { highSeqProof: proof(1) },
        (step) => void (step.draft("cluster").membership = { ...step.membership, writer: 2 }),
      ],
    ])("nothing of that kind %s", (_how, change, become) => {
      const { state } = shown({ highSeq: 5, ...change }, become);
      expect([state.fitness.quarantine, state.probing.probe?.answers.size]).toEqual([undefined, 1]);
    });
  });

  it("of an incarnation that is over makes nobody ready", () => {
    const two = new Cluster(2);
    two.pass(4_000);
    const held: Array<Message> = [];
    let isHolding = true;
    two.tamper = (from, to, message) => {
      if (!isHolding || from !== 2 || to !== 1 || message._tag !== "Ready") return message;
      held.push(message);
      return undefined;
    };
    two.peers.get(1)?.dispatch({ _tag: "CheckReadiness", requestId: "ready?" });
    two.settle();
    isHolding = false;
    declare(two, 2);
    two.settle();
    const [stale] = held;
    expect(stale).toMatchObject({ _tag: "Ready", mode: "active" });
    expect(two.answers.get("ready?")).toBeUndefined();
    if (stale !== undefined) two.peers.get(1)?.dispatch({ _tag: "Deliver", from: 2, message: stale, actors: [] });
    two.settle();
    expect(two.answers.get("ready?")).toEqual({
      _tag: "Readiness",
      faults: [{ peerId: 2, reason: "it was restored meanwhile" }],
    });
  });

  it("that does not come within two seconds is named", () => {
    const step = asking();
    onReady(step, 2, answerOf(step, 2));
    const early = later(step, 1_999);
    early.timers.clear();
    onProbeTimer(early);
    expect([early.state.probing.verdict, early.state.timers.get("probe")]).toEqual([undefined, AT + 2_000]);
    const late = later(step, 2_000);
    onProbeTimer(late);
    const faults = [{ peerId: 3, reason: "it does not answer" }];
    expect(late.state.probing.verdict).toEqual({ probedAt: AT, concludedAt: AT + 2_000, wallAhead: 0, faults });
  });

  it("is not missed where nobody asks any more", () => {
    const step = memberStep(1);
    onProbeTimer(step);
    expect([step.state.probing.verdict, step.state.timers.size]).toEqual([undefined, 0]);
  });
});
