import { describe, expect, it } from "vitest";
import { Cluster, crypto, founded } from "../../properties/cluster/Cluster.ts";
import { announcedBy, forgedBy } from "../../properties/cluster/Forging.ts";
import { stateOf } from "../../properties/cluster/Restoring.ts";
import { heard, type WholeStep } from "../../properties/cluster/OpenStep.ts";
import { CAPACITIES } from "../base/Capacities.ts";
import type { Preparation, RefusedProposal } from "./Undecided.ts";
import type { Verdict } from "./ProbeState.ts";
import type { Message, MessageOf } from "../Message.ts";
import type { Ready } from "./Message.ts";
import { isPresent } from "./Mode.ts";
import { freshNonce, nonceFor } from "./Nonces.ts";
import { currentVerdict, onCheckReadiness, onReadyProbe, probe, notReadyReason } from "./Readiness.ts";
import { freshRecovery } from "./TakingOver.ts";
import type { PeerId } from "./Topology.ts";
import {
  AT,
  type Become,
  OTHER,
  asItIs,
  asking,
  cluster,
  ended,
  later,
  memberStep,
  receipt,
  replies,
} from "../../properties/cluster/Probing.ts";

const uninitialized: Become = (step) => void (step.draft("cluster").peer = undefined);
const sealed: Become = (step) => void (step.draft("fitness").unsealed = false);
const unfounded: Become = (step) => void (step.draft("cluster").membership = undefined);
const damaged: Become = (step) => void (step.draft("fitness").integrityFault = "the test");
const quarantined: Become = (step) => step.quarantine("the test");
const recovering: Become = (step) => void (step.draft("rejoining").recovery = freshRecovery("the test"));
const joining: Become = (step) => void step.edit("rejoining", "unproven").add(3);

const sent = (step: WholeStep): ReadonlyArray<readonly [to: PeerId, message: Message]> =>
  ended(step).thenSend.flatMap((action) => (action._tag === "Send" ? [[action.to, action.message] as const] : []));

describe("a peer", () => {
  it.each([
    ["it is not initialized", uninitialized],
    ["it is sealed", sealed],
    ["the cluster is not founded yet", unfounded],
    ["its stored records do not hold", damaged],
    ["it ran from an old disk", quarantined],
  ])("neither reads what others say nor takes part in anything where %s", (reason, become) => {
    const step = memberStep(2, become);
    expect([isPresent(step.mode), notReadyReason(step)]).toEqual([false, reason]);
  });

  it.each([
    ["it is recovering", recovering],
    ["it is joining", joining],
  ])("reads what others say and takes part in nothing while %s", (reason, become) => {
    const step = memberStep(2, become);
    expect(isPresent(step.mode)).toBe(true);
    expect(notReadyReason(step)).toContain(reason);
  });

  it("takes part where nothing is in its way", () => {
    expect(notReadyReason(memberStep(2))).toBeUndefined();
  });
});

describe("the question whether members are ready", () => {
  it("goes to each of them with a nonce of its own and what is known of its incarnations, and waits for two seconds", () => {
    const own = announcedBy(cluster, 1, 5);
    const theirs = announcedBy(cluster, 2, 6);
    const step = asking((each) => {
      each.draft("rejoining").restored = own;
      each.edit("signed", "seen").set(2, { peerId: 2, incarnation: 6, newest: undefined, restored: theirs });
    });
    const { configDigest } = step.context.settings;
    const question = (peerId: PeerId, seen: object | undefined, recorded: object | undefined) => [
      peerId,
      {
        _tag: "ReadyProbe",
        nonce: nonceFor(step, freshNonce(step, "probe"), peerId),
        topologyDigest: step.membership.digest,
        configDigest,
        process: step.state.fitness.process,
        seen,
        restored: own,
        recorded,
      },
    ];
    const { newest } = step.state.signed.seen.get(3) ?? {};
    expect(newest).toBeDefined();
    expect(step.state.timers.get("probe")).toBe(AT + 2_000);
    expect(sent(step)).toEqual([question(2, undefined, theirs), question(3, newest, undefined)]);
  });

  it("is not asked twice at a time", () => {
    const step = later(asking(), 1_000);
    probe(step);
    expect(step.state.probing.probe?.startedAt).toBe(AT);
    expect(sent(step)).toEqual([]);
  });

  it.each([
    ["by a peer that could not take part itself", quarantined, cluster, "it ran from an old disk"],
    ["by one that has no others", asItIs, founded(1), undefined],
  ])("is not asked, but answered at once, %s", (_whom, become, of, reason) => {
    const step = memberStep(1, become, of);
    probe(step);
    const faults = reason === undefined ? [] : [{ peerId: 1, reason }];
    expect(step.state.probing.verdict).toEqual({ probedAt: AT, concludedAt: AT, wallAhead: 0, faults });
    expect(step.state.probing.probe).toBeUndefined();
    expect(sent(step)).toEqual([]);
  });
});

describe("a peer that is asked whether it is ready", () => {
  const question: MessageOf<"ReadyProbe"> = {
    _tag: "ReadyProbe",
    nonce: OTHER,
    topologyDigest: stateOf(cluster, 1).cluster.membership?.digest ?? OTHER,
    configDigest: OTHER,
    process: undefined,
    seen: undefined,
    restored: undefined,
    recorded: undefined,
  };
  /** The second peer's answer to the first. */
  const answerOf = (become: Become, change: Partial<typeof question> = {}, of = cluster) => {
    const step = memberStep(2, become, of);
    onReadyProbe(step, 1, { ...question, ...change });
    const [answer] = sent(step);
    return { state: step.state, answer: answer?.[1] };
  };

  it("says where it stands, what it has, and what it knows of who asks", () => {
    const own = announcedBy(cluster, 2, 5);
    const theirs = announcedBy(cluster, 1, 6);
    const newest = stateOf(cluster, 2).signed.seen.get(1)?.newest;
    expect(newest).toBeDefined();
    const { state, answer } = answerOf((step) => {
      step.draft("rejoining").restored = own;
      step.edit("signed", "seen").set(1, { peerId: 1, incarnation: 6, newest, restored: theirs });
      step.edit("undecided", "preparations").set(OTHER, {} as Preparation);
      step
        .edit("undecided", "refused")
        .set(OTHER, {} as RefusedProposal)
        .set(receipt.statement.proposalId, {} as RefusedProposal);
    });
    expect(state.undecided.highProof).toBeDefined();
    expect(answer).toEqual({
      _tag: "Ready",
      nonce: OTHER,
      peerId: 2,
      topologyDigest: state.cluster.membership?.digest,
      configDigest: "11".repeat(32),
      mode: "active",
      sealed: false,
      integrityOk: true,
      judgesTokens: true,
      incarnation: state.signed.chain.incarnation,
      batchNo: state.signed.chain.batchNo,
      batchHash: state.signed.chain.hash,
      highSeq: 1,
      highSeqProof: state.undecided.highProof,
      uncommitted: 1,
      refusals: 2,
      registryRoot: crypto.setDigest(state.registry.set),
      approvers: 1,
      clock: AT,
      moment: { process: state.fitness.process, at: AT },
      seen: newest,
      restored: own,
      recorded: theirs,
    });
  });

  it.each([
    ["quarantined", quarantined],
    ["recovering", recovering],
    ["joining", joining],
  ])("says that it is %s", (mode, become) => {
    expect(answerOf(become).answer).toMatchObject({ mode });
  });

  it.each([
    ["is sealed", sealed, { sealed: true, integrityOk: true }],
    ["cannot trust its rows", damaged, { sealed: false, integrityOk: false }],
  ])("shows nothing that it may have signed and never flushed while it %s", (_what, become, says) => {
    const { answer } = answerOf((step) => {
      step.draft("rejoining").restored = announcedBy(cluster, 2, 5);
      become(step);
    });
    expect(answer).toMatchObject({ ...says, highSeqProof: undefined, restored: undefined });
  });

  it("answers before it belongs to a cluster, and not before it is initialized", () => {
    const alone = new Cluster(2, () => ({}), 3);
    expect(answerOf(asItIs, {}, alone).answer).toMatchObject({ topologyDigest: undefined, seen: undefined });
    expect(heard(memberStep(2, uninitialized), 1, question).thenSend).toEqual([]);
  });

  const theirs = announcedBy(cluster, 1, 6);
  const forgotten = forgedBy(cluster, 2, receipt, {}, { peerId: 2, batchNo: 1_000 });
  it.each<readonly [string, Partial<typeof question>, Partial<Ready>]>([
    ["records the incarnation of who asks", { restored: theirs }, { recorded: theirs }],
    [
      "is out where it does not know its own incarnation",
      { recorded: announcedBy(cluster, 2, 6) },
      { mode: "quarantined" },
    ],
    ["is out where it does not remember a signature", { seen: forgotten }, { mode: "quarantined" }],
  ])("%s, before it answers; and not while it is sealed", (_what, change, says) => {
    expect(answerOf(asItIs, change).answer).toMatchObject(says);
    const { seen } = stateOf(cluster, 2).signed;
    const untouched = { state: { signed: { seen }, fitness: { quarantine: undefined } } };
    expect(answerOf(sealed, change)).toMatchObject({ ...untouched, answer: { mode: "sealed", recorded: undefined } });
  });
});

const found = (probedAgo: number, concludedAgo: number, faults: Verdict["faults"] = []): Verdict => ({
  probedAt: AT - probedAgo,
  concludedAt: AT - concludedAgo,
  wallAhead: 0,
  faults,
});
const unready = [{ peerId: 3, reason: "it is sealed" }];

describe("a caller who asks whether a change would be accepted", () => {
  const asked = (become: Become): WholeStep => {
    const step = memberStep(1, become);
    onCheckReadiness(step, "ready?");
    return step;
  };

  it.each([
    ["is not initialized", uninitialized, 0],
    ["is sealed", sealed, 1],
  ])("is answered at once by a peer that %s", (reason, become, peerId) => {
    const step = asked(become);
    expect(replies(step)).toEqual([["ready?", { _tag: "Readiness", faults: [{ peerId, reason: `it ${reason}` }] }]]);
    expect([step.state.probing.probe, step.state.probing.readinessWaiters]).toEqual([undefined, []]);
  });

  it.each([
    ["that all are ready", []],
    ["that some are not", unready],
  ])("is told at once %s where that was found within a second", (_what, faults) => {
    const step = asked((each) => void (each.draft("probing").verdict = found(1_000, 900, faults)));
    expect(replies(step)).toEqual([["ready?", { _tag: "Readiness", faults }]]);
    expect(step.state.probing.probe).toBeUndefined();
  });

  it("waits for the members' answers otherwise, with at most 255 others", () => {
    const others = (count: number) => Array.from({ length: count }, (_, at) => `caller ${at}`);
    const last = asked(
      (step) => void (step.draft("probing").readinessWaiters = others(CAPACITIES.readinessWaiters - 1)),
    );
    expect(last.state.probing.readinessWaiters).toEqual([...others(CAPACITIES.readinessWaiters - 1), "ready?"]);
    expect(last.state.probing.probe).toBeDefined();
    const step = asked((each) => void (each.draft("probing").readinessWaiters = others(CAPACITIES.readinessWaiters)));
    const faults = [{ peerId: 1, reason: "it is asked too often" }];
    expect(step.state.probing.readinessWaiters).toEqual(others(CAPACITIES.readinessWaiters));
    expect(replies(step)).toEqual([["ready?", { _tag: "Readiness", faults }]]);
  });
});

describe("what members answered last", () => {
  const current = (verdict: Verdict, become: Become = asItIs) => {
    const step = memberStep(1, (each) => {
      each.draft("probing").verdict = verdict;
      become(each);
    });
    return { step, current: currentVerdict(step) };
  };

  it.each([
    ["they were asked a second ago and are ready", found(1_000, 900)],
    ["they have answered just now, however late", found(1_900, 0)],
    ["they have answered just now that one is not ready", found(1_900, 0, unready)],
  ])("serves a request where %s", (_when, verdict) => {
    expect(current(verdict).current).toBe(verdict);
  });

  it.each([
    ["they were asked more than a second ago", found(1_001, 900)],
    ["one was not ready then", found(500, 400, unready)],
  ])("serves none, and they are asked again, where %s", (_when, verdict) => {
    const { step, current: now } = current(verdict);
    expect([now, step.state.probing.verdict]).toEqual([undefined, undefined]);
    expect(step.state.probing.probe).toBeDefined();
  });

  it("counts for nothing at a peer that cannot take part itself any more", () => {
    const { current: now } = current(found(500, 400), quarantined);
    expect(now?.faults).toEqual([{ peerId: 1, reason: "it ran from an old disk" }]);
  });
});
