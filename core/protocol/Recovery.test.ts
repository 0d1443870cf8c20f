import { describe, expect, it } from "vitest";
import { forgedBy } from "../../properties/cluster/Forging.ts";
import { stateOf } from "../../properties/cluster/Restoring.ts";
import { fires, heard, openStep, type WholeStep } from "../../properties/cluster/OpenStep.ts";
import { CAPACITIES } from "../base/Capacities.ts";
import type { Recovery } from "./RecoveryState.ts";
import type { Ready } from "./Message.ts";
import { freshNonce, nonceFor } from "./Nonces.ts";
import { onMemberAnswer, onRecoverTimer } from "./Recovery.ts";
import type { SignedStatement } from "./Statement.ts";
import { slotKey } from "./Tables.ts";
import { nextSpan } from "./SnapshotSpan.ts";
import { recover } from "./TakingOver.ts";
import type { PeerId } from "./Topology.ts";
import {
  AT,
  OTHER,
  answers,
  cluster,
  moved,
  offer,
  receipt,
  recovering,
  sent,
  transfer,
  underWay,
} from "../../properties/cluster/BeingRestored.ts";

describe("what a peer that is being restored asks of all others", () => {
  /** A step that has asked, and has no answer yet. */
  const asking = (change: Partial<Recovery> = {}): WholeStep =>
    recovering({ answers: new Map(), transfer: undefined, startedAt: AT, distrusted: new Set(), ...change });
  const answerOf = (step: WholeStep, from: PeerId, change: Partial<Ready> = {}): Ready => {
    const ready = answers.get(from);
    if (ready === undefined) throw new Error(`peer ${from} has not answered`);
    return { ...ready, nonce: nonceFor(step, underWay.nonce ?? OTHER, from), ...change };
  };
  /** Both others answer: the first as it is, the third as it is given. */
  const answered = (step: WholeStep, change: Partial<Ready> = {}, firsts: Partial<Ready> = {}): WholeStep => {
    onMemberAnswer(step, 1, answerOf(step, 1, firsts));
    onMemberAnswer(step, 3, answerOf(step, 3, change));
    return step;
  };

  it("is answered by all before it takes the registry over from one, from the first slot on", () => {
    const step = asking();
    onMemberAnswer(step, 1, answerOf(step, 1));
    expect(step.state.rejoining.recovery?.transfer).toBeUndefined();
    onMemberAnswer(step, 3, answerOf(step, 3));
    const from = {
      isShared: true,
      union: undefined,
      after: "",
      undone: false,
      isAgain: false,
      empty: 0,
      applied: 0,
      decided: 0,
      newest: 0,
      sum: undefined,
      movedAt: AT,
      askedAt: AT,
      reach: 1,
    };
    expect(step.state.rejoining.recovery?.transfer).toEqual({ helper: 1, root: transfer.root, count: 1, ...from });
    const { recoveryId } = offer;
    const here = nextSpan(step, "");
    expect(here?.upTo).toBe(slotKey(1, 1));
    expect(sent(step)).toEqual([
      { to: 1, _tag: "SnapshotRequest", recoveryId, nonce: underWay.nonce, after: "", here },
    ]);
  });

  it.each<readonly [string, Partial<Recovery>, (step: WholeStep, ready: Ready) => Ready | undefined]>([
    ["between two rounds", { nonce: undefined }, (_step, ready) => ready],
    ["while it takes over already", { transfer }, (_step, ready) => ready],
    ["that another member gave", {}, (_step, ready) => ({ ...ready, peerId: 3 })],
    ["to another question", {}, (_step, ready) => ({ ...ready, nonce: OTHER })],
    ["while it is sealed", {}, (step, ready) => ((step.draft("fitness").unsealed = false), ready)],
    ["once it is a member again", {}, (step, ready) => ((step.draft("rejoining").recovery = undefined), ready)],
  ])("takes no answer %s", (_when, change, become) => {
    const step = asking(change);
    const ready = become(step, answerOf(step, 1));
    const {
      rejoining: { recovery },
    } = ready === undefined ? step.state : heard(step, 1, { _tag: "Ready", ...ready }).state;
    expect(recovery?.answers.size ?? 0).toBe(0);
  });

  it("takes the first of a member's answers", () => {
    const step = asking();
    for (const clock of [1, 2]) onMemberAnswer(step, 1, answerOf(step, 1, { clock }));
    expect(step.state.rejoining.recovery?.answers.get(1)?.clock).toBe(1);
  });

  it.each<readonly [string, Partial<Ready>]>([
    ["it is sealed", { sealed: true }],
    ["its stored records do not hold", { integrityOk: false }],
    ["it belongs to another topology", { topologyDigest: OTHER }],
    ["it has not recorded the restore", { recorded: undefined }],
    ["it is joining", { mode: "joining" }],
    ["it is quarantined", { mode: "quarantined" }],
    ["something is undecided there", { uncommitted: 1 }],
  ])("takes over only what reads show where of one member %s", (found, change) => {
    const {
      rejoining: { recovery },
    } = answered(asking(), change).state;
    expect(recovery?.transfer).toMatchObject({ helper: 1, isShared: false });
    const readable = answered(asking({ isReadable: true }), change).state.rejoining.recovery;
    expect(readable).toMatchObject({ nonce: undefined, transfer: undefined, waitsFor: `peer 3: ${found}` });
    const neither = answered(asking(), change, change).state.rejoining.recovery;
    expect(neither).toMatchObject({ nonce: undefined, transfer: undefined, waitsFor: `peer 1: ${found}` });
  });

  it("takes over only what reads show while not all have the restore on record, and from nobody who has not", () => {
    for (const [unproven, isShared] of [
      [3, false],
      [1, undefined],
    ] as const) {
      const step = asking();
      step.edit("rejoining", "unproven").add(unproven);
      answered(step, { mode: "joining" });
      expect(step.state.rejoining.recovery?.transfer?.isShared).toBe(isShared);
    }
  });

  it.each<readonly [string, Partial<Ready>]>([
    ["another registry", { registryRoot: OTHER }],
    ["another number of approvers", { approvers: 2 }],
  ])("takes nothing over where one member has %s", (_what, change) => {
    const {
      rejoining: { recovery },
    } = answered(asking(), change).state;
    expect(recovery).toMatchObject({ nonce: undefined, transfer: undefined });
    expect(recovery?.waitsFor).toContain("do not have the same registry");
  });

  it("takes over from who is no longer being restored, whatever who still is has, or has undecided", () => {
    const still = { mode: "recovering", uncommitted: 1, registryRoot: OTHER, approvers: 0 } as const;
    expect(answered(asking(), still).state.rejoining.recovery?.transfer?.helper).toBe(1);
    expect(answered(asking(), {}, still).state.rejoining.recovery?.transfer?.helper).toBe(3);
    expect(answered(asking(), still, still).state.rejoining.recovery?.waitsFor).toContain(
      "peer 1, the writer, puts together",
    );
  });

  it("takes over from somebody whose offer did hold, and trusts all again where nobody's did", () => {
    const one = answered(asking({ distrusted: new Set([1]) })).state.rejoining.recovery;
    expect([one?.transfer?.helper, [...(one?.distrusted ?? [])]]).toEqual([3, [1]]);
    const both = answered(asking({ distrusted: new Set([1, 3]) })).state.rejoining.recovery;
    expect([both?.transfer?.helper, [...(both?.distrusted ?? [])]]).toEqual([1, []]);
    // What another active member has said counts, whether that could be asked instead or not.
    expect([one?.transfer?.reach, both?.transfer?.reach]).toEqual([1, 1]);
  });

  describe("shows how far the writer has used its slots", () => {
    const proof = (by: PeerId, change: Partial<SignedStatement["statement"]> = {}): SignedStatement =>
      forgedBy(cluster, by, receipt, { seq: 5, ...change });

    it("with its receipt for the highest", () => {
      const { state } = answered(asking(), { highSeq: 5, highSeqProof: proof(1) });
      expect([state.undecided.highSeq, state.undecided.highProof]).toEqual([5, proof(1)]);
    });

    it.each<readonly [string, SignedStatement | undefined]>([
      ["without one", undefined],
      ["with one for another slot", proof(1, { seq: 4 })],
      ["with a vote of another kind", proof(1, { kind: "REFUSAL" })],
      ["with another member's receipt", proof(3)],
      ["with one that another member signed", { ...proof(1), signature: proof(3).signature }],
    ])("and not %s", (_how, highSeqProof) => {
      expect(answered(asking(), { highSeq: 5, highSeqProof }).state.undecided.highSeq).toBe(1);
    });
  });
});

describe("time, while a peer is being restored,", () => {
  const fired = (change: Partial<Recovery>): WholeStep => {
    const step = recovering(change);
    onRecoverTimer(step);
    return step;
  };

  it("leaves a member that goes on with its offer alone, asks it again after a second, and gives it up after five", () => {
    expect(sent(fired(moved({ movedAt: AT - 4_999, askedAt: AT - 999 })))).toEqual([]);
    const again = fired(moved({ movedAt: AT - 4_999, askedAt: AT - 1_000 }));
    expect(again.state.rejoining.recovery?.transfer?.askedAt).toBe(AT);
    expect(sent(again)).toMatchObject([{ to: 1, _tag: "SnapshotRequest" }]);
    const silent = fired({ ...moved({ movedAt: AT - 5_000, askedAt: AT }), distrusted: new Set([3]) });
    expect(silent.state.rejoining.recovery).toMatchObject({ nonce: undefined, transfer: undefined });
    // The others are asked first.
    expect(silent.state.rejoining.recovery?.distrusted).toEqual(new Set([3, 1]));
    expect(silent.state.rejoining.recovery?.waitsFor).toContain("does not go on");
  });

  it("begins a round, and another one after two seconds, which names who was silent", () => {
    const none = { transfer: undefined, answers: new Map() };
    const first = fired({ ...none, nonce: undefined, startedAt: AT, waitsFor: "the test" });
    expect(first.state.rejoining.recovery).toMatchObject({
      nonce: freshNonce(first, "members"),
      startedAt: AT,
      waitsFor: "the test",
    });
    expect(sent(first)).toMatchObject([1, 3].map((to) => ({ to, _tag: "ReadyProbe" })));
    expect(sent(fired({ ...none, startedAt: AT - 1_999 }))).toEqual([]);
    const one = new Map([...answers].filter(([peerId]) => peerId === 1));
    const next = fired({ ...none, answers: one, startedAt: AT - 2_000, isReadable: true });
    expect(next.state.rejoining.recovery).toMatchObject({
      startedAt: AT,
      waitsFor: "peer 3 does not answer",
      answers: new Map(),
    });
    expect(sent(next)).toHaveLength(2);
    const lone = fired({ ...none, answers: one, startedAt: AT - 2_000, distrusted: new Set() });
    expect(lone.state.rejoining.recovery?.transfer).toMatchObject({ helper: 1, isShared: false });
    const both = fired({ ...none, startedAt: AT - 2_000 });
    expect(both.state.rejoining.recovery?.waitsFor).toBe("peer 1 does not answer; peer 3 does not answer");
  });

  it("does nothing to a sealed peer, or to one that is a member again", () => {
    for (const become of [
      (step: WholeStep) => void (step.draft("fitness").unsealed = false),
      (step: WholeStep) => void (step.draft("rejoining").recovery = undefined),
    ]) {
      const step = recovering(moved({ movedAt: 0 }));
      become(step);
      const { state } = fires(step, "recover");
      expect(state.timers.size).toBe(0);
      expect(state.rejoining.recovery?.transfer?.movedAt ?? 0).toBe(0);
    }
    const member = openStep(cluster, 1);
    member.timers.clear();
    recover(member);
    expect(member.state.timers.size).toBe(0);
  });

  it("begins another incarnation where this one was made to refuse more than an honest writer can have open", () => {
    const { incarnation } = stateOf(cluster, 2).signed.chain;
    expect(fired({ writersOwn: CAPACITIES.preparations }).state.signed.chain.incarnation).toBe(incarnation);
    expect(fired({ writersOwn: CAPACITIES.preparations + 1 }).state.signed.chain.incarnation).toBeGreaterThan(
      incarnation,
    );
  });

  it("changes nothing before all have the restore on record", () => {
    const step = recovering(moved({ askedAt: 0 }));
    step.edit("rejoining", "unproven").add(3);
    onRecoverTimer(step);
    expect(step.state.rejoining.recovery?.transfer).toBeUndefined();
    expect(step.state.rejoining.recovery?.waitsFor).toContain("on record");
    expect(sent(step)).toEqual([]);
  });
});
