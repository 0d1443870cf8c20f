/** A restored member that is told of proposals unknown to it, by honest members and by a lying writer. */
import { describe, expect, it } from "vitest";
import { Cluster, crypto, founded } from "../../properties/cluster/Cluster.ts";
import { receiptOfWriter } from "../../properties/cluster/Forging.ts";
import { comeBackOn, declare, expectWhole, register, stateOf } from "../../properties/cluster/Restoring.ts";
import type { Digest } from "../base/Digest.ts";
import { CAPACITIES } from "../base/Capacities.ts";
import { slotKey } from "./Tables.ts";
import type { Message } from "../Message.ts";
import type { PrepareItem } from "./Message.ts";
import { proposalId } from "./Proposal.ts";

const outcomeAt = (cluster: Cluster, peerId: number): string | undefined =>
  cluster.row(peerId, "slots", slotKey(1, 1))?.outcome;
const isSettling = ({ _tag }: Message): boolean =>
  _tag === "Votes" || _tag === "SettleAnswer" || _tag === "AbortRequest" || _tag === "CommitAcks";

/**
 * Of four members 3 is restored and refuses what its old incarnation had prepared; 2 and 4 pledge. Its old receipt
 * reaches 1, which knows nothing of this and applies; its word of that is kept back for later.
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
    expect(cluster.peers.get(peerId)?.state.undecided.preparations.values().next().value).toMatchObject({ pledge: {} });
  if (receipt !== undefined) cluster.peers.get(1)?.dispatch({ _tag: "Deliver", from: 3, message: receipt, actors: [] });
  cluster.pass(1_500);
  const [commit] = commits;
  if (commit === undefined) throw new Error("peer 1 has not applied it");
  return { cluster, commit };
};

describe("a restored member that knows nothing of a proposal", () => {
  it("refuses it only after every other member has said that it has not applied it", () => {
    const { cluster, commit } = appliedBehindPledges();
    // A statement of the old incarnation of 1 frees 2 from its pledge; then 1 is restored, and 4 has not heard of it.
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
      expect(cluster.peers.get(peerId)?.state.rejoining.recovery).toBeUndefined();
    }
  });

  it("says nothing of what it has forgotten while somebody has its old incarnation on record", () => {
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
    const [held] = cluster.peers.get(3)?.state.undecided.preparations.values() ?? [];
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

/** Proposals like an existing one, each a millisecond later, with receipts unknown to the writer's driver. */
const forged = (cluster: Cluster, { proposal: like, receipt, evidence }: PrepareItem, count: number) =>
  Array.from({ length: count }, (_, at): PrepareItem => {
    const proposal = { ...like, seq: like.seq + 1 + at, proposedAt: like.proposedAt + 1 + at };
    return { proposal, receipt: receiptOfWriter(cluster, proposal, receipt), evidence };
  });

/** Peer 2 of three is being restored; the writer made one proposal before, and hides it as long as it lies. */
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
    // The writer's own driver would detect its lie.
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

/** The writer is honest again; shown a receipt that is not in its chain, its driver would quarantine itself. */
const keepLiesFromItsDriver = (cluster: Cluster, like: PrepareItem, lies: number): void => {
  const isLie = ({ proposal: { proposedAt } }: { readonly proposal: { readonly proposedAt: number } }): boolean =>
    proposedAt > like.proposal.proposedAt && proposedAt <= like.proposal.proposedAt + lies;
  cluster.tamper = (from, _to, message) =>
    from === 2 && message._tag === "AbortRequest" && message.items.some(isLie) ? undefined : message;
};

describe("a restored member to which the writer lies", () => {
  it("refuses no more of what only that writer knows than an honest one can have open, and what others wait for", () => {
    const { cluster, like, shared, prepare, refusals } = restoredUnderLies();
    const items = forged(cluster, like, CAPACITIES.preparations + 64);
    prepare(items);
    expect(stateOf(cluster, 2).rejoining.recovery).toBeDefined();
    expect(refusals()).toBe(CAPACITIES.preparations);
    const waitedFor = items.slice(-3);
    for (const { proposal } of waitedFor) shared.add(proposalId(crypto, proposal));
    prepare(waitedFor);
    expect(refusals()).toBe(CAPACITIES.preparations + waitedFor.length);
  });

  it("begins another incarnation for what that writer really has open, and becomes a member again once it is honest", () => {
    const { cluster, like, prepare, refusals } = restoredUnderLies();
    prepare(forged(cluster, like, CAPACITIES.preparations));
    expect(refusals()).toBe(CAPACITIES.preparations);
    expect(stateOf(cluster, 1).undecided.preparations.size).toBe(1);
    const { incarnation } = stateOf(cluster, 2).signed.chain;
    keepLiesFromItsDriver(cluster, like, CAPACITIES.preparations);
    cluster.pass(20_000);
    expect(stateOf(cluster, 2).signed.chain.incarnation).toBeGreaterThan(incarnation);
    expectWhole(cluster, 1);
  });
  it("begins another incarnation too when the lies of several processes would never let it be ready", () => {
    const { cluster, like, prepare, refusals } = restoredUnderLies();
    const most = CAPACITIES.refusals;
    const lies = forged(cluster, like, most);
    for (let from = 0; from < most; from += CAPACITIES.preparations) {
      if (from > 0) comeBackOn(cluster, 2, cluster.tables.get(2) ?? new Map(), false);
      cluster.pass(100);
      prepare(lies.slice(from, from + CAPACITIES.preparations));
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
    const { incarnation } = stateOf(cluster, 2).signed.chain;
    const items = forged(cluster, like, CAPACITIES.preparations + 64);
    for (const { proposal } of items) ended.add(proposalId(crypto, proposal));
    prepare(items);
    cluster.pass(2_000);
    expect(stateOf(cluster, 2).signed.chain.incarnation).toBe(incarnation);
    expect(refusals() ?? 0).toBe(0);
  });
});

it("gives a helper up that leaves out another slot in each pass, and takes the registry from an honest one", () => {
  const cluster = founded();
  for (const [at, id] of ["alice", "bob", "carol"].entries()) register(cluster, id, 7 + at);
  let pass = 0;
  cluster.tamper = (from, to, message) => {
    if (from !== 1 || to !== 3 || message._tag !== "SnapshotOffer") return message;
    pass += 1;
    const slots = [...(cluster.tables.get(1)?.get("slots")?.keys() ?? [])].toSorted();
    const items = slots.flatMap((key) => {
      const { proposalId: id } = cluster.row(1, "slots", key) ?? {};
      const certificate = id && cluster.row(1, "certificates", id);
      return id && certificate ? [{ key, proposalId: id, certificate, writerReceipt: undefined }] : [];
    });
    return { ...message, items: items.filter((_, at) => at !== pass % 2), upTo: undefined, alike: undefined };
  };
  declare(cluster, 3);
  cluster.pass(6_000);
  expectWhole(cluster, 3);
  expect(pass).toBe(2);
});

/** Aborted slots of a lying writer from a number on, each with its receipt, as a page that is not the last one. */
const endlessPage = (cluster: Cluster, like: PrepareItem, from: number) => {
  const made = { ...like, proposal: { ...like.proposal, seq: from - 1 } };
  const items = forged(cluster, made, CAPACITIES.offeredSlots).map(({ proposal, receipt: writerReceipt }) => ({
    key: slotKey(proposal.epoch, proposal.seq),
    proposalId: proposalId(crypto, proposal),
    certificate: undefined,
    writerReceipt,
  }));
  return { items, upTo: items.at(-1)?.key, alike: undefined };
};

/** The writer offers peer 3 page after page of these behind its last slot, as long as it is asked for more. */
const restoredWithoutEnd = (size: number, awayMillis = 0) => {
  const cluster = new Cluster(size);
  cluster.pass(2_000);
  const made: Array<PrepareItem> = [];
  cluster.tamper = (_from, _to, message) => {
    if (message._tag === "Prepare") made.push(...message.items);
    return message;
  };
  register(cluster, "alice", 7);
  const [like] = made;
  if (like === undefined) throw new Error("nothing was proposed");
  const pages: Array<string | undefined> = [];
  const back = cluster.now + awayMillis;
  cluster.tamper = (from, to, message) => {
    if ((from === 2 || to === 2) && cluster.now < back) return undefined;
    if (from !== 1 || to !== size || message._tag !== "SnapshotOffer") return message;
    if (message.after === "") return { ...message, upTo: slotKey(1, 1) };
    const page = endlessPage(cluster, like, 1 + Number(message.after.slice(message.after.indexOf(".") + 1)));
    return pages.push(page.upTo) > 100 ? undefined : { ...message, ...page };
  };
  declare(cluster, size);
  cluster.pass(8_000 + 2 * awayMillis);
  return { cluster, pages };
};

describe("a restored member whose helper goes on with aborted slots without end", () => {
  it("asks another one once these are far ahead of what the others know, and takes the registry from that", () => {
    const { cluster, pages } = restoredWithoutEnd(3);
    expectWhole(cluster, 1);
    expect(pages).toHaveLength(1 + CAPACITIES.slotWindow / CAPACITIES.offeredSlots);
    expect(cluster.tables.get(3)?.get("slots")?.size).toBe(cluster.tables.get(2)?.get("slots")?.size);
  });

  it("asks whether another one is back before it goes on for longer with the only one", () => {
    const { cluster, pages } = restoredWithoutEnd(3, 3_000);
    expectWhole(cluster, 1);
    expect(pages.length).toBeLessThan(100);
    expect(cluster.tables.get(3)?.get("slots")?.size).toBe(cluster.tables.get(2)?.get("slots")?.size);
  });

  it("goes on with it where there is nobody else", () => {
    const { pages } = restoredWithoutEnd(2);
    expect(pages.length).toBeGreaterThan(100);
  });
});
