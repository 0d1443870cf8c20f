import { describe, expect, it } from "vitest";
import { Cluster, crypto, founded } from "../../properties/cluster/Cluster.ts";
import { announcedBy, receiptOfWriter } from "../../properties/cluster/Forging.ts";
import { prepared } from "../../properties/cluster/Prepared.ts";
import { comeBackOn, declare, expectWhole, register, stateOf } from "../../properties/cluster/Restoring.ts";
import { turnOf } from "../../properties/cluster/TurnOf.ts";
import type { Digest } from "../base/Digest.ts";
import { Limits } from "../base/Limits.ts";
import type { Inquiry, Recovery } from "./RecoveryState.ts";
import type { Refused } from "./Undecided.ts";
import { slotKey } from "./Tables.ts";
import type { Turn } from "./Turn.ts";
import { inquire, inquireAgain, isMisled, unappliedAt } from "./Inquiry.ts";
import type { Message, MessageOf } from "../Message.ts";
import type { PrepareItem, SettleItem } from "./Message.ts";
import { proposalId } from "./Proposal.ts";
import { freshRecovery } from "./TakingOver.ts";
import type { PeerId } from "./Topology.ts";

const outcomeAt = (cluster: Cluster, peerId: number): string | undefined =>
  cluster.row(peerId, "slots", slotKey(1, 1))?.outcome;
const isSettling = ({ _tag }: Message): boolean =>
  _tag === "Votes" || _tag === "SettleAnswer" || _tag === "AbortRequest" || _tag === "CommitAcks";

/**
 * Of four members 3 is restored and refuses what its old life had prepared; 2 and 4 pledge. Its old receipt reaches 1,
 * which has heard of none of it and applies. What 1 says of that is kept back, so that it can be delivered later.
 */
const appliedBehindPledges = () => {
  const cluster = new Cluster(4);
  cluster.pass(2_000);
  const receipts: Array<Message> = [];
  const commits: Array<Message> = [];
  cluster.tamper = (from, to, message) => {
    if (from === 3 && message._tag === "Votes") receipts.push(message);
    return from === 3 && to === 1 && isSettling(message) ? undefined : message;
  };
  cluster.register(1, "request", "alice", 7);
  cluster.settle();
  const [receipt] = receipts;
  cluster.tamper = (from, to, message) => {
    if (from === 1 && to === 2 && message._tag === "Commit" && message.acks.length > 0) commits.push(message);
    return (to === 1 && isSettling(message)) || (from === 1 && message._tag === "Commit") ? undefined : message;
  };
  declare(cluster, 3);
  cluster.pass(6_000);
  for (const peerId of [2, 4])
    expect(cluster.peers.get(peerId)?.state.preparations.values().next().value).toMatchObject({ pledge: {} });
  if (receipt !== undefined) cluster.peers.get(1)?.dispatch({ _tag: "Deliver", from: 3, message: receipt, actors: [] });
  cluster.pass(1_500);
  const [commit] = commits;
  if (commit === undefined) throw new Error("peer 1 has not applied it");
  return { cluster, commit };
};

describe("a restored member that knows nothing of a proposal", () => {
  it("refuses it only after every other member has said that it has not applied it", () => {
    const { cluster, commit } = appliedBehindPledges();
    // Word of it from the old life of 1 frees 2 from its pledge; then 1 is restored, and 4 has not heard of it.
    cluster.peers.get(2)?.dispatch({ _tag: "Deliver", from: 1, message: commit, actors: [] });
    expect(outcomeAt(cluster, 2)).toBe("APPLIED");
    cluster.tamper = (_from, to, message) => (to === 4 && message._tag === "Commit" ? undefined : message);
    declare(cluster, 1);
    cluster.pass(10_000);
    expect(outcomeAt(cluster, 2)).toBe("APPLIED");
    expect(outcomeAt(cluster, 4)).not.toBe("ABORTED");
    cluster.tamper = (_from, _to, message) => message;
    cluster.pass(15_000);
    for (const peerId of [1, 2, 3, 4]) {
      expect(outcomeAt(cluster, peerId)).toBe("APPLIED");
      expect(cluster.peers.get(peerId)?.state.recovery).toBeUndefined();
    }
  });

  it("says nothing of what it has forgotten while somebody has its old life on record", () => {
    const cluster = new Cluster(3);
    cluster.pass(2_000);
    const answered: Array<number> = [];
    let isRecorded = false;
    cluster.tamper = (from, to, message) => {
      if (from === 2 && message._tag === "SettleAnswer") answered.push(to);
      if (message._tag === "Votes" || message._tag === "SnapshotOffer") return undefined;
      return !isRecorded && from === 3 && to === 2 && message._tag === "Ready" ? undefined : message;
    };
    cluster.register(1, "request", "alice", 7);
    cluster.settle();
    const [held] = cluster.peers.get(3)?.state.preparations.values() ?? [];
    if (held === undefined) throw new Error("peer 3 has not prepared");
    const query: Message = {
      _tag: "SettleQuery",
      items: [{ proposal: held.proposal, receipt: held.writerReceipt }],
      demandFinal: false,
      nonce: held.id,
    };
    declare(cluster, 2);
    cluster.settle();
    const ask = (): void => {
      cluster.peers.get(2)?.dispatch({ _tag: "Deliver", from: 3, message: query, actors: [] });
      cluster.settle();
    };
    ask();
    expect(answered).toEqual([]);
    isRecorded = true;
    cluster.pass(600);
    ask();
    expect(answered).toContain(3);
  });
});

/** Proposals like one that was made, each a millisecond later, with receipts that the writer's driver knows nothing of. */
const forged = (cluster: Cluster, { proposal: like, receipt, evidence }: PrepareItem, count: number) =>
  Array.from({ length: count }, (_, at): PrepareItem => {
    const proposal = { ...like, seq: like.seq + 1 + at, proposedAt: like.proposedAt + 1 + at };
    return { proposal, receipt: receiptOfWriter(cluster, proposal, receipt), evidence };
  });

/** Peer 2 of three is being restored; the writer made one proposal before, which it keeps to itself as long as it lies. */
const restoredUnderLies = () => {
  const cluster = founded();
  const made: Array<PrepareItem> = [];
  cluster.tamper = (_from, _to, message) => {
    if (message._tag === "Prepare") made.push(...message.items);
    return message;
  };
  register(cluster, "alice", 7);
  const [like] = made;
  if (like === undefined) throw new Error("nothing was proposed");
  const shared = new Set<Digest>();
  const ended = new Set<Digest>();
  const stateAt = (peerId: number, id: Digest) => {
    if (ended.has(id)) return "ABORTED";
    return peerId === 1 || shared.has(id) ? "PREPARED" : "UNKNOWN";
  };
  cluster.tamper = (_from, to, message) => {
    if (message._tag === "SnapshotOffer" || message._tag === "AbortRequest" || message._tag === "Prepare")
      return undefined;
    if (message._tag !== "SettleQuery") return message;
    // The writer's own driver would find itself out.
    const items = message.items.map(({ proposal }) => {
      const id = proposalId(crypto, proposal);
      return { proposalId: id, state: stateAt(to, id), held: [] } as const;
    });
    const answer: Message = { _tag: "SettleAnswer", nonce: message.nonce, items };
    cluster.peers.get(2)?.dispatch({ _tag: "Deliver", from: to, message: answer, actors: [] });
    return undefined;
  };
  register(cluster, "bob", 8);
  declare(cluster, 2);
  cluster.pass(1_500);
  const prepare = (items: ReadonlyArray<PrepareItem>): void => {
    for (let from = 0; from < items.length; from += 64) {
      const message: Message = { _tag: "Prepare", items: items.slice(from, from + 64), stableSeq: 0 };
      cluster.peers.get(2)?.dispatch({ _tag: "Deliver", from: 1, message, actors: [] });
      cluster.settle();
    }
  };
  const refusals = (): number | undefined => cluster.tables.get(2)?.get("refusals")?.size;
  return { cluster, like, shared, ended, prepare, refusals };
};

/** The writer is honest again; shown a receipt that is not in its chain, its driver would find itself out. */
const keepLiesFromItsDriver = (cluster: Cluster, like: PrepareItem, lies: number): void => {
  const isLie = ({ proposal: { proposedAt } }: { readonly proposal: { readonly proposedAt: number } }): boolean =>
    proposedAt > like.proposal.proposedAt && proposedAt <= like.proposal.proposedAt + lies;
  cluster.tamper = (from, _to, message) =>
    from === 2 && message._tag === "AbortRequest" && message.items.some(isLie) ? undefined : message;
};

describe("a restored member to which the writer lies", () => {
  it("refuses no more of what only that writer knows than an honest one can have open, and what others wait for", () => {
    const { cluster, like, shared, prepare, refusals } = restoredUnderLies();
    const items = forged(cluster, like, Limits.preparations + 64);
    prepare(items);
    expect(stateOf(cluster, 2).recovery).toBeDefined();
    expect(refusals()).toBe(Limits.preparations);
    const waitedFor = items.slice(-3);
    for (const { proposal } of waitedFor) shared.add(proposalId(crypto, proposal));
    prepare(waitedFor);
    expect(refusals()).toBe(Limits.preparations + waitedFor.length);
  });

  it("begins another life for what that writer really has open, and becomes a member again once it is honest", () => {
    const { cluster, like, prepare, refusals } = restoredUnderLies();
    prepare(forged(cluster, like, Limits.preparations));
    expect(refusals()).toBe(Limits.preparations);
    expect(stateOf(cluster, 1).preparations.size).toBe(1);
    const { incarnation } = stateOf(cluster, 2).chain;
    keepLiesFromItsDriver(cluster, like, Limits.preparations);
    cluster.pass(20_000);
    expect(stateOf(cluster, 2).chain.incarnation).toBeGreaterThan(incarnation);
    expectWhole(cluster, 1);
  });
  it("begins another life too when the lies of several processes would leave it unready for ever", () => {
    const { cluster, like, prepare, refusals } = restoredUnderLies();
    const most = Limits.refusals;
    const lies = forged(cluster, like, most);
    for (let from = 0; from < most; from += Limits.preparations) {
      if (from > 0) comeBackOn(cluster, 2, cluster.tables.get(2) ?? new Map(), false);
      cluster.pass(100);
      prepare(lies.slice(from, from + Limits.preparations));
    }
    expect(refusals()).toBe(most);
    comeBackOn(cluster, 2, cluster.tables.get(2) ?? new Map(), false);
    keepLiesFromItsDriver(cluster, like, most);
    cluster.pass(20_000);
    expectWhole(cluster, 1);
  });
});

describe("a restored member that is asked about more than a writer can have open", () => {
  it("goes on where all of it has come to an end, which is no lie", () => {
    const { cluster, like, ended, prepare, refusals } = restoredUnderLies();
    const { incarnation } = stateOf(cluster, 2).chain;
    const items = forged(cluster, like, Limits.preparations + 64);
    for (const { proposal } of items) ended.add(proposalId(crypto, proposal));
    prepare(items);
    cluster.pass(2_000);
    expect(stateOf(cluster, 2).chain.incarnation).toBe(incarnation);
    expect(refusals() ?? 0).toBe(0);
  });
});

const { cluster: three, preparation } = prepared();
const item: SettleItem = { proposal: preparation.proposal, receipt: preparation.writerReceipt };
const idOf = (at: number): Digest => String(at).padStart(64, "0") as Digest;
const announced = announcedBy(three, 2, 5);
const { recoveryId: nonce } = announced.restoration;
const open = (change: Partial<Inquiry> = {}): Inquiry => ({
  item,
  silent: new Set([1, 3]),
  isOpen: false,
  isShared: false,
  ...change,
});
const numbered = (count: number) => new Map(Array.from({ length: count }, (_, at) => [idOf(at), open()]));

/** A turn of the second of three members in the middle of its recovery, but for what is different. */
const recovering = (change: Partial<Recovery> = {}, become: (turn: Turn) => void = () => undefined): Turn => {
  const turn = turnOf(three, 2);
  turn.state.restored = announced;
  turn.state.recovery = { ...freshRecovery("the test"), ...change };
  become(turn);
  return turn;
};
const inquiriesOf = ({ state }: Turn) => [...(state.recovery?.inquiries ?? [])];
const sent = (turn: Turn) =>
  turn
    .finish(() => undefined)
    .thenSend.flatMap((action) => (action._tag === "Send" ? [[action.to, action.message]] : []));
const question = (count: number) => ({
  _tag: "SettleQuery",
  items: Array.from({ length: count }, () => item),
  demandFinal: false,
  nonce,
});

describe("a life that was made to refuse", () => {
  const refused = (count: number) => new Map(Array.from({ length: count }, (_, at) => [idOf(at), {} as Refused]));

  it.each([
    ["256 of what only the writer has prepared is", 256, 0, false],
    ["257 of what only the writer has prepared is not", 257, 0, true],
    ["4,095 altogether is", 0, 4_095, false],
    ["4,096 altogether is not", 0, 4_096, true],
  ])("%s one that an honest writer may have had", (_what, writersOwn, refusals, misled) => {
    const recovery = { ...freshRecovery("the test"), writersOwn };
    expect(isMisled({ recovery, refused: refused(refusals) })).toBe(misled);
    expect(isMisled({ recovery: undefined, refused: refused(refusals) })).toBe(false);
  });
});

describe("before a restored member refuses a proposal", () => {
  it("it asks all others what they have of it, by the name of its life", () => {
    const turn = recovering();
    inquire(turn, [[idOf(1), { ...item, evidence: "with a token in it" } as SettleItem]]);
    expect(inquiriesOf(turn)).toEqual([[idOf(1), open()]]);
    expect(sent(turn)).toEqual([
      [1, question(1)],
      [3, question(1)],
    ]);
  });

  it("it knows, as the writer, that not only that one has prepared it", () => {
    const turn = recovering({}, (each) => void (each.state.membership = { ...each.membership, writer: 2 }));
    inquire(turn, [[idOf(1), item]]);
    expect(inquiriesOf(turn)).toEqual([[idOf(1), open({ isShared: true })]]);
  });

  it("it asks about no more than a writer can have open", () => {
    const turn = recovering({ inquiries: numbered(Limits.preparations - 1) });
    inquire(turn, [
      [idOf(1_000), item],
      [idOf(1_001), item],
    ]);
    expect(turn.state.recovery?.inquiries.size).toBe(Limits.preparations);
    expect(sent(turn)[0]).toEqual([1, question(1)]);
  });

  it.each<readonly [string, Partial<Recovery>, (turn: Turn) => void]>([
    ["that it is asking about", { inquiries: new Map([[idOf(1), open({ silent: new Set([3]) })]]) }, () => undefined],
    ["that it has refused", {}, (turn) => void turn.edit("refused").set(idOf(1), {} as Refused)],
    ["while somebody has its old life on record", {}, (turn) => void turn.edit("unproven").add(3)],
    ["once it is a member again", {}, (turn) => void (turn.state.recovery = undefined)],
  ])("it asks nobody about one %s", (_which, change, become) => {
    const turn = recovering(change, become);
    const before = inquiriesOf(turn);
    inquire(turn, [[idOf(1), item]]);
    expect(inquiriesOf(turn)).toEqual(before);
    expect(sent(turn)).toEqual([]);
  });

  it("it asks again who has not answered, about a message's worth at a time", () => {
    const inquiries = numbered(Limits.batchProposals + 1);
    inquiries.set(idOf(0), open({ silent: new Set([3]) }));
    inquiries.set(idOf(1), open({ silent: new Set([3]) }));
    const turn = recovering({ inquiries });
    inquireAgain(turn, { ...freshRecovery("the test"), inquiries });
    expect(sent(turn)).toEqual([
      [1, question(Limits.batchProposals - 1)],
      [3, question(Limits.batchProposals)],
    ]);
    const answered = recovering();
    inquireAgain(answered, freshRecovery("the test"));
    expect(sent(answered)).toEqual([]);
  });
});

type State = MessageOf<"SettleAnswer">["items"][number]["state"];

describe("what the others say of a proposal that a restored member would refuse", () => {
  const told = (turn: Turn, from: PeerId, state: State, change: Partial<MessageOf<"SettleAnswer">> = {}) =>
    unappliedAt(turn, from, {
      _tag: "SettleAnswer",
      nonce,
      items: [{ proposalId: idOf(1), state, held: [] }],
      ...change,
    });
  const asking = (change: Partial<Recovery> = {}, become?: (turn: Turn) => void): Turn =>
    recovering({ inquiries: new Map([[idOf(1), open()]]), ...change }, become);

  it("is waited for of all of them", () => {
    const turn = asking();
    expect(told(turn, 1, "PREPARED")).toEqual([]);
    expect(inquiriesOf(turn)).toEqual([[idOf(1), open({ silent: new Set([3]), isOpen: true })]]);
    expect(told(turn, 3, "UNKNOWN")).toEqual([[idOf(1), item]]);
    expect(inquiriesOf(turn)).toEqual([]);
  });

  it.each<readonly [State, State, number, number]>([
    ["UNKNOWN", "UNKNOWN", 0, 0],
    ["REFUSED", "ABORTED", 0, 0],
    ["PREPARED", "UNKNOWN", 1, 1],
    ["PLEDGED", "REFUSED", 1, 1],
    ["PREPARED", "PREPARED", 1, 0],
    ["UNKNOWN", "PREPARED", 1, 0],
    ["UNKNOWN", "PLEDGED", 1, 0],
    ["PREPARED", "APPLIED", 0, 0],
  ])("where the writer says %s and the other %s makes it refuse %i, %i on the writer's word alone", (...each) => {
    const [writers, others, refusing, writersOwn] = each;
    for (const order of [
      [1, 3],
      [3, 1],
    ]) {
      const turn = asking();
      const unapplied = order.flatMap((from) => told(turn, from, from === 1 ? writers : others));
      expect(unapplied).toHaveLength(refusing);
      expect([inquiriesOf(turn), turn.state.recovery?.writersOwn]).toEqual([[], writersOwn]);
    }
  });

  it("is not waited for any longer where one of them has applied it: that comes with the registry", () => {
    const turn = asking();
    expect(told(turn, 1, "APPLIED")).toEqual([]);
    expect(inquiriesOf(turn)).toEqual([]);
  });

  it.each([
    ["its own, as it was asked as the writer", true, 0, 1, 0],
    ["the writer's alone, with room for it", false, 255, 1, 256],
    ["the writer's alone, past what an honest one has open", false, 256, 0, 257],
    ["known to others too, whatever the writer has claimed", true, 1_000, 1, 1_000],
  ])("counts against the writer where it is the writer's alone: %s", (_whose, isShared, before, refusing, after) => {
    const inquiries = new Map([[idOf(1), open({ silent: new Set([1]), isShared })]]);
    const turn = asking({ inquiries, writersOwn: before });
    expect(told(turn, 1, "PREPARED")).toHaveLength(refusing);
    expect([inquiriesOf(turn), turn.state.recovery?.writersOwn]).toEqual([[], after]);
  });

  const OTHER = "ab".repeat(32) as Digest;
  const outbid = (turn: Turn): void => {
    turn.state.recovery = { ...freshRecovery("the test"), inquiries: new Map([[idOf(1), open()]]), outbid: 7 };
  };

  it.each<readonly [string, Partial<MessageOf<"SettleAnswer">>, (turn: Turn) => void]>([
    ["it answers another question", { nonce: OTHER }, () => undefined],
    ["nobody asked about it", { items: [{ proposalId: OTHER, state: "APPLIED", held: [] }] }, () => undefined],
    ["somebody has the old life on record", {}, (turn) => void turn.edit("unproven").add(3)],
    ["this life is to be followed by another one", {}, outbid],
  ])("counts for nothing where %s", (_why, change, become) => {
    const turn = asking({}, become);
    expect(told(turn, 1, "APPLIED", change)).toEqual([]);
    expect(inquiriesOf(turn)).toEqual([[idOf(1), open()]]);
  });

  it("counts once of each of them, and only while it is being restored", () => {
    const turn = asking();
    for (const state of ["PREPARED", "APPLIED"] as const) expect(told(turn, 1, state)).toEqual([]);
    expect(inquiriesOf(turn)).toEqual([[idOf(1), open({ silent: new Set([3]), isOpen: true })]]);
    const member = asking({}, (each) => void (each.state.recovery = undefined));
    expect(told(member, 1, "PREPARED")).toEqual([]);
    expect(member.state.recovery).toBeUndefined();
  });
});
