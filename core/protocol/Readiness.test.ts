import { describe, expect, it } from "vitest";
import { Cluster, crypto, founded } from "../../properties/cluster/Cluster.ts";
import { announcedBy, forgedBy } from "../../properties/cluster/Forging.ts";
import { declare, register, stateOf } from "../../properties/cluster/Restoring.ts";
import { heard, turnOf, type WholeTurn, wholeTurn } from "../../properties/cluster/TurnOf.ts";
import type { Digest } from "../base/Digest.ts";
import { Limits } from "../base/Limits.ts";
import type { Preparation, Refused } from "./Undecided.ts";
import type { Verdict } from "./ProbeState.ts";
import { slotKey } from "./Tables.ts";
import type { Turn } from "./Turn.ts";
import type { Step } from "../Action.ts";
import type { Message, MessageOf } from "../Message.ts";
import type { Ready } from "./Message.ts";
import { isPresent } from "./Mode.ts";
import {
  currentVerdict,
  nonceFor,
  onCheckReadiness,
  onProbeTimer,
  onReady,
  onReadyProbe,
  probe,
  unreadiness,
} from "./Readiness.ts";
import { freshRecovery } from "./TakingOver.ts";
import type { SignedStatement } from "./Statement.ts";
import type { PeerId } from "./Topology.ts";

/** Of three members who have registered somebody, and what the writer was told by the two others, who are ready. */
const answering = () => {
  const cluster = founded();
  register(cluster, "alice", 7);
  cluster.pass(2_000);
  const answers = new Map<PeerId, Ready>();
  cluster.tamper = (from, to, message) => {
    if (message._tag === "Ready" && to === 1) answers.set(from, message);
    return message;
  };
  cluster.peers.get(1)?.dispatch({ _tag: "CheckReadiness", requestId: "ready?" });
  cluster.settle();
  const { proposalId = "" } = cluster.row(1, "slots", slotKey(1, 1)) ?? {};
  const [receipt] = cluster.row(1, "certificates", proposalId)?.receipts ?? [];
  if (receipt === undefined) throw new Error("alice is registered");
  return { cluster, answers, receipt };
};
const { cluster, answers, receipt } = answering();
const AT = cluster.now;
const OTHER = "ab".repeat(32) as Digest;

type Become = (turn: Turn) => void;
const asItIs: Become = () => undefined;
const uninitialized: Become = (turn) => void (turn.state.peer = undefined);
const sealed: Become = (turn) => void (turn.state.unsealed = false);
const unfounded: Become = (turn) => void (turn.state.membership = undefined);
const damaged: Become = (turn) => void (turn.state.integrityFault = "the test");
const quarantined: Become = (turn) => turn.quarantine("the test");
const recovering: Become = (turn) => void (turn.state.recovery = freshRecovery("the test"));
const joining: Become = (turn) => void turn.edit("unproven").add(3);

/** A turn of a member that has asked nobody whether it is ready, and is so itself but for what it has become. */
const memberTurn = (peerId: PeerId, become: Become = asItIs, of: Cluster = cluster): WholeTurn => {
  const turn = turnOf(of, peerId, AT, AT);
  turn.edit("timers").clear();
  turn.state.verdict = undefined;
  become(turn);
  return turn;
};

/** A turn in which the writer has asked. */
const asking = (become: Become = asItIs): WholeTurn => {
  const turn = memberTurn(1, become);
  probe(turn);
  return turn;
};

/** The next turn of the same peer, whose wall clock may have been set meanwhile. */
const later = ({ state, context }: WholeTurn, millis: number, setBy = 0): WholeTurn =>
  wholeTurn(state, { ...context, now: context.now + millis + setBy, elapsed: context.elapsed + millis });

const ended = (turn: WholeTurn): Step => turn.finish(asItIs);
const sent = (turn: WholeTurn): ReadonlyArray<readonly [to: PeerId, message: Message]> =>
  ended(turn).thenSend.flatMap((action) => (action._tag === "Send" ? [[action.to, action.message] as const] : []));
const replies = (turn: WholeTurn): ReadonlyArray<unknown> =>
  ended(turn).thenSend.flatMap((action) => (action._tag === "Reply" ? [[action.requestId, action.answer]] : []));

describe("a peer", () => {
  it.each([
    ["it is not initialized", uninitialized],
    ["it is sealed", sealed],
    ["the cluster is not founded yet", unfounded],
    ["its stored records do not hold", damaged],
    ["it ran from an old disk", quarantined],
  ])("neither reads what others say nor takes part in anything where %s", (reason, become) => {
    const turn = memberTurn(2, become);
    expect([isPresent(turn.mode), unreadiness(turn)]).toEqual([false, reason]);
  });

  it.each([
    ["it is recovering", recovering],
    ["it is joining", joining],
  ])("reads what others say and takes part in nothing while %s", (reason, become) => {
    const turn = memberTurn(2, become);
    expect(isPresent(turn.mode)).toBe(true);
    expect(unreadiness(turn)).toContain(reason);
  });

  it("takes part where nothing is in its way", () => {
    expect(unreadiness(memberTurn(2))).toBeUndefined();
  });
});

describe("the question whether members are ready", () => {
  it("goes to each of them with a nonce of its own and what is known of its lives, and waits for two seconds", () => {
    const own = announcedBy(cluster, 1, 5);
    const theirs = announcedBy(cluster, 2, 6);
    const turn = asking((each) => {
      each.state.restored = own;
      each.edit("seen").set(2, { peerId: 2, incarnation: 6, newest: undefined, restored: theirs });
    });
    const { configDigest } = turn.context.settings;
    const question = (peerId: PeerId, seen: object | undefined, recorded: object | undefined) => [
      peerId,
      {
        _tag: "ReadyProbe",
        nonce: nonceFor(turn, turn.context.entropy, peerId),
        topologyDigest: turn.membership.digest,
        configDigest,
        process: turn.state.process,
        seen,
        restored: own,
        recorded,
      },
    ];
    const { newest } = turn.state.seen.get(3) ?? {};
    expect(newest).toBeDefined();
    expect(turn.state.timers.get("probe")).toBe(AT + 2_000);
    expect(sent(turn)).toEqual([question(2, undefined, theirs), question(3, newest, undefined)]);
  });

  it("is not asked twice at a time", () => {
    const turn = later(asking(), 1_000);
    probe(turn);
    expect(turn.state.probe?.startedAt).toBe(AT);
    expect(sent(turn)).toEqual([]);
  });

  it.each([
    ["by a peer that could not take part itself", quarantined, cluster, "it ran from an old disk"],
    ["by one that has no others", asItIs, founded(1), undefined],
  ])("is not asked, but answered at once, %s", (_whom, become, of, reason) => {
    const turn = memberTurn(1, become, of);
    probe(turn);
    const faults = reason === undefined ? [] : [{ peerId: 1, reason }];
    expect(turn.state.verdict).toEqual({ probedAt: AT, concludedAt: AT, wallAhead: 0, faults });
    expect(turn.state.probe).toBeUndefined();
    expect(sent(turn)).toEqual([]);
  });
});

describe("a peer that is asked whether it is ready", () => {
  const question: MessageOf<"ReadyProbe"> = {
    _tag: "ReadyProbe",
    nonce: OTHER,
    topologyDigest: stateOf(cluster, 1).membership?.digest ?? OTHER,
    configDigest: OTHER,
    process: undefined,
    seen: undefined,
    restored: undefined,
    recorded: undefined,
  };
  /** What the second answers the first. */
  const answerOf = (become: Become, change: Partial<typeof question> = {}, of = cluster) => {
    const turn = memberTurn(2, become, of);
    onReadyProbe(turn, 1, { ...question, ...change });
    const [answer] = sent(turn);
    return { state: turn.state, answer: answer?.[1] };
  };

  it("says where it stands, what it has, and what it knows of who asks", () => {
    const own = announcedBy(cluster, 2, 5);
    const theirs = announcedBy(cluster, 1, 6);
    const newest = stateOf(cluster, 2).seen.get(1)?.newest;
    expect(newest).toBeDefined();
    const { state, answer } = answerOf((turn) => {
      turn.state.restored = own;
      turn.edit("seen").set(1, { peerId: 1, incarnation: 6, newest, restored: theirs });
      turn.edit("preparations").set(OTHER, {} as Preparation);
      turn
        .edit("refused")
        .set(OTHER, {} as Refused)
        .set(receipt.statement.proposalId, {} as Refused);
    });
    expect(state.highProof).toBeDefined();
    expect(answer).toEqual({
      _tag: "Ready",
      nonce: OTHER,
      peerId: 2,
      topologyDigest: state.membership?.digest,
      configDigest: "11".repeat(32),
      mode: "active",
      sealed: false,
      integrityOk: true,
      judgesTokens: true,
      incarnation: state.chain.incarnation,
      batchNo: state.chain.batchNo,
      batchHash: state.chain.hash,
      highSeq: 1,
      highSeqProof: state.highProof,
      uncommitted: 1,
      refusals: 2,
      registryRoot: crypto.setDigest(state.registry.set),
      approvers: 1,
      clock: AT,
      moment: { process: state.process, at: AT },
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
    const { answer } = answerOf((turn) => {
      turn.state.restored = announcedBy(cluster, 2, 5);
      become(turn);
    });
    expect(answer).toMatchObject({ ...says, highSeqProof: undefined, restored: undefined });
  });

  it("answers before it belongs to a cluster, and not before it is initialized", () => {
    const alone = new Cluster(2, () => ({}), 3);
    expect(answerOf(asItIs, {}, alone).answer).toMatchObject({ topologyDigest: undefined, seen: undefined });
    expect(heard(memberTurn(2, uninitialized), 1, question).thenSend).toEqual([]);
  });

  const theirs = announcedBy(cluster, 1, 6);
  const forgotten = forgedBy(cluster, 2, receipt, {}, { peerId: 2, batchNo: 1_000 });
  it.each<readonly [string, Partial<typeof question>, Partial<Ready>]>([
    ["records the life of who asks", { restored: theirs }, { recorded: theirs }],
    ["is out where it does not know its own life", { recorded: announcedBy(cluster, 2, 6) }, { mode: "quarantined" }],
    ["is out where it does not remember a signature", { seen: forgotten }, { mode: "quarantined" }],
  ])("%s, before it answers; and not while it is sealed", (_what, change, says) => {
    expect(answerOf(asItIs, change).answer).toMatchObject(says);
    const untouched = { state: { seen: stateOf(cluster, 2).seen, quarantine: undefined } };
    expect(answerOf(sealed, change)).toMatchObject({ ...untouched, answer: { mode: "sealed", recorded: undefined } });
  });
});

describe("a member's answer whether it is ready", () => {
  const answerOf = (turn: WholeTurn, from: PeerId, change: Partial<Ready> = {}): Ready => {
    const ready = answers.get(from);
    if (ready === undefined) throw new Error(`peer ${from} was not asked`);
    return { ...ready, clock: AT, nonce: nonceFor(turn, turn.context.entropy, from), ...change };
  };

  it("is waited for of all others: with the last one all of them are ready", () => {
    const turn = asking();
    turn.state.readinessWaiters = ["first", "second"];
    onReady(turn, 2, answerOf(turn, 2));
    expect(turn.state.verdict).toBeUndefined();
    const last = later(turn, 300);
    onReady(last, 3, answerOf(last, 3));
    expect(last.state.verdict).toEqual({ probedAt: AT, concludedAt: AT + 300, wallAhead: 0, faults: [] });
    expect([last.state.probe, last.state.readinessWaiters]).toEqual([undefined, []]);
    const answer = { _tag: "Readiness", faults: [] };
    expect(replies(last)).toEqual([
      ["first", answer],
      ["second", answer],
    ]);
  });

  /** The newest batch that was seen of the third, of its first life. */
  const newest = stateOf(cluster, 1).seen.get(3)?.newest?.header.batchNo ?? 0;

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
      (turn) => void turn.edit("seen").set(3, { peerId: 3, incarnation: 2, newest: undefined, restored: undefined }),
    ],
    ["it holds as many uncommitted preparations as it may", { uncommitted: Limits.preparations }, asItIs],
    ["it holds as many refusals as it may", { refusals: Limits.refusals }, asItIs],
  ])("decides the matter, whoever has not answered yet, where %s", (reason, change, become) => {
    const turn = later(asking(), 1_000);
    become(turn);
    onReady(turn, 3, answerOf(turn, 3, change));
    expect(turn.state.verdict?.faults).toEqual([{ peerId: 3, reason }]);
  });

  it.each([AT - 5_001, AT + 6_001])("names it for a clock at %i when all have answered", (clock) => {
    const turn = later(asking(), 1_000);
    onReady(turn, 3, answerOf(turn, 3, { clock }));
    expect(turn.state.verdict).toBeUndefined();
    onReady(turn, 2, answerOf(turn, 2));
    expect(turn.state.verdict?.faults).toEqual([{ peerId: 3, reason: "its clock differs by more than 5 s" }]);
  });

  it("names this peer where its own clock has jumped since it asked, and nobody else", () => {
    const turn = later(asking(), 1_000, 86_400_000);
    onReady(turn, 3, answerOf(turn, 3));
    onReady(turn, 2, answerOf(turn, 2));
    expect(turn.state.verdict?.faults).toEqual([{ peerId: 1, reason: "its clock differs by more than 5 s" }]);
  });

  it("names nobody where its own clock was wrong when one answered, and is right when the last does", () => {
    const wrong = later(asking(), 1_000, 86_400_000);
    onReady(wrong, 2, answerOf(wrong, 2));
    const right = later(wrong, 1_000, -86_400_000);
    onReady(right, 3, answerOf(right, 3));
    expect(right.state.verdict?.faults).toEqual([]);
  });

  it.each<readonly [string, Partial<Ready>, Become]>([
    ["a clock five seconds behind when it was asked", { clock: AT - 5_000 }, asItIs],
    ["a clock five seconds ahead when it answered", { clock: AT + 6_000 }, asItIs],
    ["the newest batch that was seen of it", { batchNo: newest }, asItIs],
    ["fewer batches in another life", { incarnation: 2, batchNo: 0 }, asItIs],
    [
      "no batch, where none was seen of it",
      { batchNo: 0 },
      (turn) => void turn.edit("seen").set(3, { peerId: 3, incarnation: 1, newest: undefined, restored: undefined }),
    ],
    ["room for one more preparation", { uncommitted: Limits.preparations - 1 }, asItIs],
    ["room for one more refusal", { refusals: Limits.refusals - 1 }, asItIs],
  ])("makes it ready with %s", (_what, change, become) => {
    const turn = later(asking(become), 1_000);
    onReady(turn, 2, answerOf(turn, 2));
    onReady(turn, 3, answerOf(turn, 3, change));
    expect(turn.state.verdict?.faults).toEqual([]);
  });

  it.each<readonly [string, PeerId, Partial<Ready>]>([
    ["another member gave it", 3, { peerId: 2 }],
    ["it comes from this peer itself", 1, {}],
    ["it is to another question", 3, { nonce: OTHER }],
  ])("does not count where %s", (_why, from, change) => {
    const turn = asking();
    const ready = { ...answerOf(turn, 3), peerId: from, nonce: nonceFor(turn, turn.context.entropy, from) };
    onReady(turn, from, { ...ready, sealed: true, ...change });
    expect([turn.state.probe?.answers.size, turn.state.verdict]).toEqual([0, undefined]);
  });

  it("counts once, and only while somebody asks", () => {
    const turn = asking();
    onReady(turn, 3, answerOf(turn, 3));
    onReady(turn, 3, answerOf(turn, 3, { sealed: true }));
    expect(turn.state.verdict).toBeUndefined();
    const idle = memberTurn(1);
    onReady(idle, 3, answerOf(idle, 3, { sealed: true }));
    expect([idle.state.probe, idle.state.verdict]).toEqual([undefined, undefined]);
  });

  describe("shows the writer", () => {
    const proof = (by: PeerId, change = {}, header = {}): SignedStatement =>
      forgedBy(cluster, by, receipt, { seq: 5, ...change }, header);
    const shown = (change: Partial<Ready>, become: Become = asItIs): WholeTurn => {
      const turn = asking(become);
      onReady(turn, 3, answerOf(turn, 3, change));
      return turn;
    };

    it("that it ran from an old disk, by its own receipt for a slot that it does not know", () => {
      const { state } = shown({ highSeq: 5, highSeqProof: proof(1) });
      expect(state.quarantine).toContain(`batch ${receipt.header.batchNo} is not in this peer's chain`);
      expect(state.verdict?.faults).toEqual([{ peerId: 1, reason: "it ran from an old disk" }]);
    });

    it.each<readonly [string, Partial<Ready>, Become]>([
      ["without a receipt", { highSeqProof: undefined }, asItIs],
      ["with one for a slot that it knows", { highSeq: 1, highSeqProof: proof(1, { seq: 1 }) }, asItIs],
      ["with one for another slot", { highSeqProof: proof(1, { seq: 4 }) }, asItIs],
      ["with another member's", { highSeqProof: proof(3) }, asItIs],
      ["with one of another life", { highSeqProof: proof(1, {}, { incarnation: 2 }) }, asItIs],
      ["with one that another signed", { highSeqProof: { ...proof(1), signature: proof(3).signature } }, asItIs],
      [
        "where another peer is the writer",
        { highSeqProof: proof(1) },
        (turn) => void (turn.state.membership = { ...turn.membership, writer: 2 }),
      ],
    ])("nothing of that kind %s", (_how, change, become) => {
      const { state } = shown({ highSeq: 5, ...change }, become);
      expect([state.quarantine, state.probe?.answers.size]).toEqual([undefined, 1]);
    });
  });

  it("of a life that is over makes nobody ready", () => {
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
    const turn = asking();
    onReady(turn, 2, answerOf(turn, 2));
    const early = later(turn, 1_999);
    early.edit("timers").clear();
    onProbeTimer(early);
    expect([early.state.verdict, early.state.timers.get("probe")]).toEqual([undefined, AT + 2_000]);
    const late = later(turn, 2_000);
    onProbeTimer(late);
    const faults = [{ peerId: 3, reason: "it does not answer" }];
    expect(late.state.verdict).toEqual({ probedAt: AT, concludedAt: AT + 2_000, wallAhead: 0, faults });
  });

  it("is not missed where nobody asks any more", () => {
    const turn = memberTurn(1);
    onProbeTimer(turn);
    expect([turn.state.verdict, turn.state.timers.size]).toEqual([undefined, 0]);
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
  const asked = (become: Become): WholeTurn => {
    const turn = memberTurn(1, become);
    onCheckReadiness(turn, "ready?");
    return turn;
  };

  it.each([
    ["is not initialized", uninitialized, 0],
    ["is sealed", sealed, 1],
  ])("is answered at once by a peer that %s", (reason, become, peerId) => {
    const turn = asked(become);
    expect(replies(turn)).toEqual([["ready?", { _tag: "Readiness", faults: [{ peerId, reason: `it ${reason}` }] }]]);
    expect([turn.state.probe, turn.state.readinessWaiters]).toEqual([undefined, []]);
  });

  it.each([
    ["that all are ready", []],
    ["that some are not", unready],
  ])("is told at once %s where that was found within a second", (_what, faults) => {
    const turn = asked((each) => void (each.state.verdict = found(1_000, 900, faults)));
    expect(replies(turn)).toEqual([["ready?", { _tag: "Readiness", faults }]]);
    expect(turn.state.probe).toBeUndefined();
  });

  it("waits for the members' answers otherwise, with at most 255 others", () => {
    const others = (count: number) => Array.from({ length: count }, (_, at) => `caller ${at}`);
    const last = asked((turn) => void (turn.state.readinessWaiters = others(Limits.readinessWaiters - 1)));
    expect(last.state.readinessWaiters).toEqual([...others(Limits.readinessWaiters - 1), "ready?"]);
    expect(last.state.probe).toBeDefined();
    const turn = asked((each) => void (each.state.readinessWaiters = others(Limits.readinessWaiters)));
    const faults = [{ peerId: 1, reason: "it is asked too often" }];
    expect(turn.state.readinessWaiters).toEqual(others(Limits.readinessWaiters));
    expect(replies(turn)).toEqual([["ready?", { _tag: "Readiness", faults }]]);
  });
});

describe("what members answered last", () => {
  const current = (verdict: Verdict, become: Become = asItIs) => {
    const turn = memberTurn(1, (each) => {
      each.state.verdict = verdict;
      become(each);
    });
    return { turn, current: currentVerdict(turn) };
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
    const { turn, current: now } = current(verdict);
    expect([now, turn.state.verdict]).toEqual([undefined, undefined]);
    expect(turn.state.probe).toBeDefined();
  });

  it("counts for nothing at a peer that cannot take part itself any more", () => {
    const { current: now } = current(found(500, 400), quarantined);
    expect(now?.faults).toEqual([{ peerId: 1, reason: "it ran from an old disk" }]);
  });
});
