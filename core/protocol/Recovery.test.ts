import { describe, expect, it } from "vitest";
import { actor, Cluster, crypto, NOW } from "../../properties/cluster/Cluster.ts";
import type { MemoryTables } from "../../runtime/MemoryByteStore.ts";
import { SELF, slotKey } from "../Tables.ts";
import type { Message, MessageOf } from "./Message.ts";
import { isReceiptFor } from "./Certificate.ts";
import type { SnapshotItem as Item } from "./Snapshot.ts";

const founded = (total = 3): Cluster => {
  const cluster = new Cluster(total);
  cluster.pass(2_000);
  return cluster;
};
const whole = (_from: number, _to: number, message: Message): Message | undefined => message;
const stateOf = (cluster: Cluster, peerId: number) => {
  const state = cluster.peers.get(peerId)?.state;
  if (state === undefined) throw new Error("no such peer");
  return state;
};
const copyOf = (tables: MemoryTables | undefined): MemoryTables =>
  new Map([...(tables ?? [])].map(([table, rows]) => [table, new Map(rows)]));
const register = (cluster: Cluster, id: string, seed: number, through = 1): void => {
  cluster.register(through, `register ${id}`, id, seed);
  cluster.pass(1_500);
};
const declare = (cluster: Cluster, peerId: number): void =>
  cluster.peers.get(peerId)?.dispatch({ _tag: "DeclareRestore", requestId: `declare ${peerId}` });
/** Stops a peer, puts an older disk in, and starts it; it has not been heard of before it is declared. */
const comeBackOn = (cluster: Cluster, peerId: number, old: MemoryTables, declared = true): void => {
  cluster.peers.get(peerId)?.stop();
  cluster.tables.set(peerId, copyOf(old));
  cluster.start(peerId);
  if (declared) declare(cluster, peerId);
};
const root = (cluster: Cluster, peerId: number) => crypto.setDigest(stateOf(cluster, peerId).registry.set);
const expectWhole = (cluster: Cluster, approvers: number): void => {
  for (let peerId = 1; peerId <= cluster.total; peerId++) {
    const state = stateOf(cluster, peerId);
    expect(state.recovery?.waitsFor).toBeUndefined();
    expect(state.quarantine).toBeUndefined();
    expect(state.registry.approvers).toBe(approvers);
    expect(root(cluster, peerId)).toBe(root(cluster, 1));
    expect([state.preparations.size, state.refused.size, state.aborting.size, state.outbox.size]).toEqual([0, 0, 0, 0]);
  }
};

describe("a declared restore", () => {
  for (const peerId of [1, 2])
    it(`brings back what peer ${peerId} lost, and changes go on`, () => {
      const cluster = founded();
      register(cluster, "alice", 7);
      const old = copyOf(cluster.tables.get(peerId));
      register(cluster, "bob", 8);
      register(cluster, "carol", 9);
      comeBackOn(cluster, peerId, old);
      expect(stateOf(cluster, peerId).recovery).toBeDefined();
      cluster.pass(5_000);
      expectWhole(cluster, 3);
      expect(stateOf(cluster, peerId).chain.incarnation).toBeGreaterThanOrEqual(NOW);
      register(cluster, "dave", 10, 3);
      expect(cluster.answers.get("register dave")).toMatchObject({ _tag: "Registered", created: true });
      cluster.pass(2_000);
      expectWhole(cluster, 4);
    });

  it("stops changes while it lasts, with the peer's name", () => {
    const cluster = founded();
    register(cluster, "alice", 7);
    cluster.tamper = (from, to, message) => (message._tag === "SnapshotOffer" ? undefined : whole(from, to, message));
    declare(cluster, 3);
    cluster.pass(3_000);
    expect(stateOf(cluster, 3).recovery?.waitsFor).toContain("takes the registry from peer 1");
    register(cluster, "bob", 8);
    expect(cluster.answers.get("register bob")).toMatchObject({
      _tag: "Rejected",
      rejection: { members: [{ peerId: 3, reason: "it is recovering" }], outcomeUnknown: false },
    });
    cluster.tamper = whole;
    cluster.pass(8_000);
    expectWhole(cluster, 1);
  });

  it("brings a quarantined peer back", () => {
    const cluster = founded();
    const old = copyOf(cluster.tables.get(2));
    register(cluster, "alice", 7);
    comeBackOn(cluster, 2, old, false);
    cluster.pass(1_000);
    expect(stateOf(cluster, 2).quarantine).toBeDefined();
    declare(cluster, 2);
    cluster.pass(5_000);
    expectWhole(cluster, 1);
  });

  it("declared while sealed begins before anything is signed", () => {
    const cluster = founded();
    register(cluster, "alice", 7);
    cluster.peers.get(2)?.dispatch({ _tag: "Sealed" });
    declare(cluster, 2);
    expect(cluster.answers.get("declare 2")).toEqual({ _tag: "Restoring", incarnation: undefined });
    const identity = cluster.keys.get(2);
    if (identity !== undefined) cluster.peers.get(2)?.unseal(identity);
    expect(stateOf(cluster, 2).recovery).toBeDefined();
    cluster.pass(5_000);
    expectWhole(cluster, 1);
  });

  it("signs nothing until every other member has it on record", () => {
    const cluster = founded();
    register(cluster, "alice", 7);
    cluster.tamper = (from, to, message) => (from === 3 && to === 2 && message._tag === "Ready" ? undefined : message);
    declare(cluster, 2);
    const before = stateOf(cluster, 2).chain;
    cluster.pass(10_000);
    expect(stateOf(cluster, 2).chain).toEqual(before);
    expect(stateOf(cluster, 2).recovery?.waitsFor).toContain("on record");
    cluster.tamper = whole;
    cluster.pass(5_000);
    expectWhole(cluster, 1);
  });

  it("is continued by the next process", () => {
    const cluster = founded();
    register(cluster, "alice", 7);
    cluster.tamper = (_from, _to, message) => (message._tag === "SnapshotOffer" ? undefined : message);
    declare(cluster, 2);
    cluster.pass(2_000);
    const { incarnation } = stateOf(cluster, 2).chain;
    cluster.peers.get(2)?.stop();
    cluster.tamper = whole;
    cluster.start(2);
    expect(stateOf(cluster, 2).recovery).toBeDefined();
    cluster.pass(5_000);
    expectWhole(cluster, 1);
    expect(stateOf(cluster, 2).chain.incarnation).toBe(incarnation);
  });

  it("needs somebody else, and a topology", () => {
    const alone = founded(1);
    declare(alone, 1);
    expect(alone.answers.get("declare 1")).toMatchObject({ rejection: { code: "RESTORE_IMPOSSIBLE" } });
    const unfounded = new Cluster(1, () => ({ peers: [2] }), 2);
    declare(unfounded, 1);
    expect(unfounded.answers.get("declare 1")).toMatchObject({ rejection: { code: "RESTORE_IMPOSSIBLE" } });
  });
});

describe("a second restore", () => {
  it("of the same peer, from an older disk, in the middle of the first, starts over", () => {
    const cluster = founded();
    const old = copyOf(cluster.tables.get(2));
    register(cluster, "alice", 7);
    cluster.tamper = (_from, _to, message) => (message._tag === "SnapshotOffer" ? undefined : message);
    declare(cluster, 2);
    cluster.pass(3_000);
    const first = stateOf(cluster, 2).chain.incarnation;
    comeBackOn(cluster, 2, old);
    cluster.tamper = whole;
    cluster.pass(6_000);
    expectWhole(cluster, 1);
    expect(stateOf(cluster, 2).chain.incarnation).toBeGreaterThan(first);
  });

  it("takes a higher incarnation although the clock was set back", () => {
    const cluster = founded();
    const old = copyOf(cluster.tables.get(2));
    register(cluster, "alice", 7);
    declare(cluster, 2);
    cluster.pass(5_000);
    const first = stateOf(cluster, 2).chain.incarnation;
    cluster.clockOffset = -3_600_000;
    comeBackOn(cluster, 2, old);
    expect(stateOf(cluster, 2).chain.incarnation).toBeLessThan(first);
    cluster.pass(5_000);
    expect(stateOf(cluster, 2).chain.incarnation).toBe(first + 1);
    expectWhole(cluster, 1);
  });

  it("of two peers at once needs one that was not restored, and has it", () => {
    const cluster = founded();
    register(cluster, "alice", 7);
    const olds = [2, 3].map((peerId) => copyOf(cluster.tables.get(peerId)));
    register(cluster, "bob", 8);
    olds.forEach((old, index) => comeBackOn(cluster, index + 2, old));
    cluster.pass(6_000);
    expectWhole(cluster, 2);
  });

  it("of everybody has nobody to take the registry from, and says so", () => {
    const cluster = founded();
    register(cluster, "alice", 7);
    for (const peerId of [1, 2, 3]) declare(cluster, peerId);
    cluster.pass(10_000);
    for (const peerId of [1, 2, 3]) expect(stateOf(cluster, peerId).recovery?.waitsFor).toContain("nobody has");
  });

  it("is not undone by a disk from before the first: that one goes into quarantine", () => {
    const cluster = founded();
    const old = copyOf(cluster.tables.get(2));
    declare(cluster, 2);
    cluster.pass(5_000);
    expectWhole(cluster, 0);
    comeBackOn(cluster, 2, old, false);
    cluster.pass(1_000);
    expect(stateOf(cluster, 2).quarantine).toContain("restored as incarnation");
  });
});

/** Everybody has prepared alice, and the votes that matter are held back. */
const prepared = (hold: (from: number, to: number, message: Message) => boolean): Cluster => {
  const cluster = founded();
  cluster.tamper = (from, to, message) => (hold(from, to, message) ? undefined : message);
  cluster.register(1, "request", "alice", 7);
  cluster.settle();
  return cluster;
};
const idOf = (cluster: Cluster, peerId: number) => [...stateOf(cluster, peerId).preparations.keys()][0];

describe("what was undecided when a member was restored", () => {
  it("is aborted where a receipt was lost with the old life", () => {
    const cluster = prepared((from, _to, message) => from === 2 && message._tag === "Votes");
    expect(stateOf(cluster, 2).preparations.size).toBe(1);
    cluster.tamper = whole;
    declare(cluster, 2);
    expect(stateOf(cluster, 2).preparations.size).toBe(0);
    cluster.pass(10_000);
    expectWhole(cluster, 0);
    expect(cluster.row(2, "slots", slotKey(1, 1))).toMatchObject({ outcome: "ABORTED" });
    register(cluster, "bob", 8);
    expect(cluster.answers.get("register bob")).toMatchObject({ _tag: "Registered" });
  });

  it("is applied where the old receipt had been collected, and the restored member takes it from the others", () => {
    const cluster = prepared((_from, to, message) => message._tag === "Commit" && to === 2);
    expect(stateOf(cluster, 1).registry.approvers).toBe(1);
    const id = idOf(cluster, 2);
    cluster.tamper = (_from, to, message) => (message._tag === "SnapshotOffer" && to === 2 ? undefined : message);
    declare(cluster, 2);
    cluster.pass(8_000);
    // Certificates come by every second, and it leaves them alone.
    expect(cluster.row(2, "certificates", id ?? "")).toBeUndefined();
    expect(cluster.answers.has("request")).toBe(false);
    cluster.tamper = whole;
    cluster.pass(8_000);
    expectWhole(cluster, 1);
    expect(cluster.row(2, "slots", slotKey(1, 1))?.ack?.header.incarnation).toBe(stateOf(cluster, 2).chain.incarnation);
    expect(cluster.row(2, "audit", "0000000000000001")).toMatchObject({ id });
  });

  it("counts a receipt at the incarnation its proposal pins, though its signer has another life since", () => {
    const votes: Array<MessageOf<"Votes">> = [];
    const cluster = prepared((from, _to, message) => {
      if (from === 2 && message._tag === "Votes") votes.push(message);
      return from === 2 && message._tag === "Votes";
    });
    const preparation = [...stateOf(cluster, 1).preparations.values()][0];
    const receipt = votes[0]?.statements[0];
    cluster.tamper = (_from, to, message) => (to === 2 && message._tag !== "ReadyProbe" ? undefined : message);
    declare(cluster, 2);
    cluster.settle();
    const { membership, seen } = stateOf(cluster, 1);
    expect(seen.get(2)?.incarnation).toBe(stateOf(cluster, 2).chain.incarnation);
    if (preparation === undefined || receipt === undefined || membership === undefined) throw new Error("prepared");
    expect(isReceiptFor(crypto, membership, preparation.id, preparation.proposal, receipt)).toBe(true);
    cluster.peers
      .get(1)
      ?.dispatch({ _tag: "Deliver", from: 2, message: { _tag: "Votes", statements: [receipt] }, actors: [] });
    expect(stateOf(cluster, 1).registry.approvers).toBe(1);
    cluster.tamper = whole;
    cluster.pass(10_000);
    expectWhole(cluster, 1);
  });

  it("does not count a vote of the old life for the end, neither one counted before nor one that comes late", () => {
    const late: Array<Message> = [];
    const cluster = founded();
    cluster.judge = (peerId) => (peerId === 3 ? { _tag: "Refused", reason: "test" } : actor);
    cluster.tamper = (from, to, message) => {
      const isVote = from === 2 && message._tag === "Votes" && message.statements[0]?.statement.kind !== "RECEIPT";
      if (isVote) late.push(message);
      return isVote || (message._tag === "AbortRequest" && to === 1) ? undefined : message;
    };
    cluster.register(1, "request", "alice", 7);
    cluster.pass(2_500);
    expect(late[0]).toMatchObject({ statements: [{ statement: { kind: "ABORT_ACK" } }] });
    cluster.tamper = (from, to, message) =>
      (to === 2 && from === 3 && message._tag === "Ready") || message._tag === "AbortRequest" ? undefined : message;
    declare(cluster, 2);
    cluster.settle();
    const [first] = late;
    if (first !== undefined) cluster.peers.get(1)?.dispatch({ _tag: "Deliver", from: 2, message: first, actors: [] });
    cluster.settle();
    const [held] = stateOf(cluster, 1).preparations.values();
    expect([...(held?.votes.keys() ?? [])].toSorted()).toEqual([1, 3]);
    cluster.tamper = whole;
    cluster.pass(10_000);
    expectWhole(cluster, 0);
  });

  it("holds no slot for what the old disk had bound and no helper has decided, also after a restart in between", () => {
    const cluster = founded();
    cluster.judge = (peerId) => (peerId === 2 ? { _tag: "Refused", reason: "test" } : actor);
    cluster.tamper = (_from, _to, message) => (message._tag === "AbortRequest" ? undefined : message);
    cluster.register(1, "request", "alice", 7);
    cluster.settle();
    expect([stateOf(cluster, 2).refused.size, stateOf(cluster, 3).preparations.size]).toEqual([1, 1]);
    // Peer 2 stays undecided, and is the one to offer: what peer 1 offers is spoilt.
    let isOffering = false;
    cluster.tamper = (from, to, message) => {
      const isVote = message._tag === "AbortRequest" || message._tag === "Votes";
      if (isVote && (from === 2 || to === 2)) return undefined;
      if (message._tag !== "SnapshotOffer") return message;
      return isOffering && from === 1
        ? { ...message, cutoff: { ...message.cutoff, root: message.nonce } }
        : isOffering
          ? message
          : undefined;
    };
    declare(cluster, 3);
    cluster.pass(4_000);
    expect(stateOf(cluster, 3).refused.size).toBe(1);
    cluster.peers.get(3)?.stop();
    cluster.start(3);
    isOffering = true;
    cluster.pass(3_000);
    expect(stateOf(cluster, 3).recovery).toBeUndefined();
    cluster.tamper = whole;
    cluster.pass(10_000);
    expectWhole(cluster, 0);
  });

  it("takes an acknowledgement of the old life back, so that nobody is told of a success that was lost", () => {
    const cluster = founded();
    cluster.tamper = (from, _to, message) => (from === 3 && message._tag === "CommitAcks" ? undefined : message);
    const old = copyOf(cluster.tables.get(2));
    cluster.register(1, "request", "alice", 7);
    cluster.settle();
    const delivery = () => [...stateOf(cluster, 1).outbox.values()][0];
    expect(delivery()?.acks.has(2)).toBe(true);
    comeBackOn(cluster, 2, old);
    cluster.settle();
    cluster.pass(30);
    expect(delivery()?.acks.has(2)).toBe(false);
    cluster.tamper = whole;
    cluster.pass(8_000);
    expectWhole(cluster, 1);
    expect(cluster.answers.get("request")).toMatchObject({ _tag: "Registered", created: true });
  });

  it("that only the old life applied, and the others abort, is taken away again", () => {
    // Peer 2 holds every receipt and applies; nobody hears of it, and its backup is from after that.
    const cluster = founded();
    cluster.tamper = (_from, to, message) =>
      to !== 2 && (message._tag === "Votes" || message._tag === "Commit") ? undefined : message;
    cluster.register(1, "request", "alice", 7);
    cluster.settle();
    cluster.tamper = (from, to, message) => {
      if (from === 2 && to !== 2 && message._tag !== "SettleQuery") return undefined;
      return message._tag === "SettleAnswer" && to !== 2 ? undefined : message;
    };
    cluster.pass(3_000);
    expect(stateOf(cluster, 2).registry.approvers).toBe(1);
    expect(stateOf(cluster, 1).preparations.size).toBe(1);
    cluster.tamper = whole;
    declare(cluster, 2);
    cluster.pass(10_000);
    expectWhole(cluster, 0);
    expect(cluster.tables.get(2)?.get("approvers")?.size ?? 0).toBe(0);
    expect(cluster.tables.get(2)?.get("keys")?.size ?? 0).toBe(0);
    cluster.register(3, "again", "bob", 7);
    cluster.pass(3_000);
    expect(cluster.answers.get("again")).toMatchObject({ _tag: "Registered", created: true });
  });
});

describe("an offer", () => {
  const offered = (change: (offer: MessageOf<"SnapshotOffer">) => Message | undefined, from = 1): Cluster => {
    const cluster = founded();
    register(cluster, "alice", 7);
    const old = copyOf(cluster.tables.get(3));
    register(cluster, "bob", 8);
    register(cluster, "carol", 9);
    cluster.tamper = (sender, _to, message) =>
      message._tag === "SnapshotOffer" && sender === from ? change(message) : message;
    comeBackOn(cluster, 3, old);
    return cluster;
  };

  it.each([
    ["leaves one record out", (offer: MessageOf<"SnapshotOffer">) => ({ ...offer, items: offer.items.slice(0, -1) })],
    [
      "changes what a certificate registers",
      (offer: MessageOf<"SnapshotOffer">) => ({
        ...offer,
        items: offer.items.map((item, index) =>
          index === 1 && item.certificate !== undefined
            ? {
                ...item,
                certificate: {
                  ...item.certificate,
                  proposal: {
                    ...item.certificate.proposal,
                    effects: { ...item.certificate.proposal.effects, id: "mallory" },
                  },
                },
              }
            : item,
        ),
      }),
    ],
    [
      "leaves a receipt out",
      (offer: MessageOf<"SnapshotOffer">) => ({
        ...offer,
        items: offer.items.map((item) =>
          item.certificate === undefined
            ? item
            : { ...item, certificate: { ...item.certificate, receipts: item.certificate.receipts.slice(1) } },
        ),
      }),
    ],
    [
      "puts a record into another slot",
      (offer: MessageOf<"SnapshotOffer">) => ({
        ...offer,
        items: offer.items.map((item, index) => (index === 2 ? { ...item, key: slotKey(1, 9) } : item)),
      }),
    ],
    [
      "says that a registration was aborted",
      (offer: MessageOf<"SnapshotOffer">) => ({
        ...offer,
        items: offer.items.map((item, index) =>
          index === 2 ? { ...item, certificate: undefined, writerReceipt: item.certificate?.receipts[0] } : item,
        ),
      }),
    ],
    [
      "is of another root",
      (offer: MessageOf<"SnapshotOffer">) => ({ ...offer, cutoff: { ...offer.cutoff, root: offer.nonce } }),
    ],
  ])("that %s is not taken; another member's is", (_what, change) => {
    const asked: Array<number> = [];
    const cluster = offered((offer) => {
      asked.push(1);
      return change(offer);
    });
    cluster.pass(2_000);
    expect(asked.length).toBeGreaterThan(0);
    cluster.pass(8_000);
    expectWhole(cluster, 3);
  });

  it("of an earlier recovery is not taken", () => {
    const cluster = founded();
    const kept: Array<MessageOf<"SnapshotOffer">> = [];
    const old = copyOf(cluster.tables.get(3));
    cluster.tamper = (_from, _to, message) => {
      if (message._tag === "SnapshotOffer") kept.push(message);
      return message;
    };
    declare(cluster, 3);
    cluster.pass(3_000);
    expectWhole(cluster, 0);
    register(cluster, "alice", 7);
    cluster.tamper = (_from, _to, message) => {
      const [earlier] = kept;
      return message._tag === "SnapshotOffer" && earlier !== undefined ? earlier : message;
    };
    comeBackOn(cluster, 3, old);
    cluster.pass(4_000);
    expect(stateOf(cluster, 3).recovery).toBeDefined();
    expect(cluster.tables.get(3)?.get("approvers")?.size ?? 0).toBe(0);
    cluster.tamper = whole;
    cluster.pass(8_000);
    expectWhole(cluster, 1);
  });

  it("is not made by a member that has something undecided, or is being restored itself", () => {
    const cluster = founded();
    cluster.tamper = (from, _to, message) => (from === 3 && message._tag === "Votes" ? undefined : message);
    cluster.register(1, "request", "alice", 7);
    cluster.settle();
    declare(cluster, 3);
    cluster.settle();
    const offers: Array<number> = [];
    cluster.tamper = (from, _to, message) => {
      if (message._tag === "SnapshotOffer") offers.push(from);
      return message;
    };
    const { restored } = stateOf(cluster, 3);
    for (const to of [1, 2])
      cluster.peers.get(to)?.dispatch({
        _tag: "Deliver",
        from: 3,
        message: {
          _tag: "SnapshotRequest",
          recoveryId: restored?.restoration.recoveryId ?? crypto.setDigest(crypto.emptySet),
          nonce: crypto.setDigest(crypto.emptySet),
          after: "",
        },
        actors: [],
      });
    expect(offers).toEqual([]);
    cluster.pass(10_000);
    expectWhole(cluster, 0);
  });

  it("of more than one page is taken in pages, also after a restart in between", () => {
    const cluster = founded();
    const old = copyOf(cluster.tables.get(2));
    for (let at = 0; at < 70; at++) cluster.register(1, `r${at}`, `id-${at}`, 20 + at);
    cluster.pass(8_000);
    let pages = 0;
    cluster.tamper = (_from, _to, message) => {
      if (message._tag === "SnapshotOffer" && ++pages === 2) return undefined;
      return message;
    };
    comeBackOn(cluster, 2, old);
    cluster.pass(700);
    expect(pages).toBe(2);
    expect(cluster.tables.get(2)?.get("approvers")?.size).toBe(64);
    expect(stateOf(cluster, 2).registry.approvers).toBe(0);
    cluster.peers.get(2)?.stop();
    cluster.start(2);
    cluster.pass(6_000);
    expectWhole(cluster, 70);
    expect(cluster.tables.get(2)?.get("audit")?.size).toBe(70);
    expect(cluster.row(2, "restore", SELF)?.recovering).toBe(false);
  });
});

describe("a restored peer", () => {
  it("is not put out by what another life of it signed, which reaches it before who has that life on record", () => {
    const cluster = founded();
    const old = copyOf(cluster.tables.get(1));
    declare(cluster, 1);
    cluster.pass(5_000);
    const first = stateOf(cluster, 1).chain.incarnation;
    cluster.tamper = (_from, to, message) => (to === 1 && message._tag === "Votes" ? undefined : message);
    cluster.register(1, "request", "alice", 7);
    cluster.settle();
    expect(stateOf(cluster, 2).preparations.size).toBe(1);
    // The others ask their new writer about its own proposal; what they say of its lives is on the way.
    cluster.clockOffset = -3_600_000;
    cluster.tamper = (_from, to, message) =>
      to === 1 && (message._tag === "Ready" || message._tag === "ReadyProbe") ? undefined : message;
    comeBackOn(cluster, 1, old);
    expect(stateOf(cluster, 1).chain.incarnation).toBeLessThan(first);
    cluster.pass(4_000);
    expect(stateOf(cluster, 1).quarantine).toBeUndefined();
    expect(stateOf(cluster, 1).chain.incarnation).toBeGreaterThan(first);
    cluster.tamper = whole;
    cluster.pass(15_000);
    expectWhole(cluster, 1);
  });

  it("answers the writer that waits for the end of what nobody else knows any more", () => {
    const cluster = founded();
    cluster.judge = (peerId) => (peerId === 1 ? actor : { _tag: "Refused", reason: "test" });
    cluster.tamper = (_from, _to, message) => (message._tag === "AbortRequest" ? undefined : message);
    cluster.register(1, "request", "alice", 7);
    cluster.settle();
    expect(stateOf(cluster, 1).aborting.size).toBe(1);
    expect([stateOf(cluster, 2).refused.size, stateOf(cluster, 3).refused.size]).toEqual([1, 1]);
    // Each takes the registry from the other, which has not come to an end with it and keeps it to itself.
    cluster.tamper = (from, _to, message) => {
      if (message._tag === "AbortRequest") return undefined;
      const isSpoilt = from === 1 && message._tag === "SnapshotOffer";
      return isSpoilt ? { ...message, cutoff: { ...message.cutoff, root: message.nonce } } : message;
    };
    for (const peerId of [2, 3]) {
      declare(cluster, peerId);
      cluster.pass(5_000);
      expect(stateOf(cluster, peerId).recovery).toBeUndefined();
      expect(stateOf(cluster, peerId).refused.size).toBe(0);
    }
    cluster.tamper = whole;
    cluster.pass(15_000);
    expectWhole(cluster, 0);
    cluster.judge = () => actor;
    register(cluster, "alice", 7);
    expect(cluster.answers.get("register alice")).toMatchObject({ _tag: "Registered", created: true });
  });

  it("that is the writer goes on within what the others vote on, whatever it had reserved that nobody heard of", () => {
    const cluster = founded();
    cluster.tamper = (_from, _to, message) => (message._tag === "Prepare" ? undefined : message);
    for (let at = 0; at < 256; at++) cluster.register(1, `lost ${at}`, `id-${at}`, at);
    cluster.pass(8_000);
    expect(stateOf(cluster, 1).preparations.size).toBe(256);
    declare(cluster, 1);
    cluster.pass(5_000);
    expectWhole(cluster, 0);
    cluster.tamper = whole;
    register(cluster, "alice", 7);
    expect(cluster.answers.get("register alice")).toMatchObject({ _tag: "Registered", created: true });
    cluster.pass(2_000);
    expectWhole(cluster, 1);
  });

  it.each([
    [
      "was aborted",
      (item: Item) => [{ ...item, certificate: undefined, writerReceipt: item.certificate?.receipts[0] }],
    ],
    ["never was", () => []],
  ])("believes nobody that a revision that others built on %s", (_what, change) => {
    const cluster = founded();
    register(cluster, "alice", 7);
    const old = copyOf(cluster.tables.get(3));
    const ref = [...(cluster.tables.get(1)?.get("approvers")?.keys() ?? [])][0] ?? "";
    for (const revision of [1, 2]) {
      cluster.replace(1, `replace ${revision}`, ref, `"${revision}"`, { team: `t${revision}` });
      cluster.pass(1_500);
      expect(cluster.answers.get(`replace ${revision}`)).toMatchObject({ _tag: "Replaced" });
    }
    let lies = 0;
    cluster.tamper = (from, _to, message) => {
      if (from !== 1 || message._tag !== "SnapshotOffer") return message;
      lies += 1;
      return { ...message, items: message.items.flatMap((item, at) => (at === 1 ? change(item) : [item])) };
    };
    comeBackOn(cluster, 3, old);
    cluster.pass(10_000);
    expect(lies).toBeGreaterThan(0);
    expectWhole(cluster, 1);
    for (const seq of [1, 2, 3]) expect(cluster.row(3, "slots", slotKey(1, seq))).toMatchObject({ outcome: "APPLIED" });
    expect(cluster.tables.get(3)?.get("audit")?.size).toBe(3);
  });

  it("takes no more away in one transaction than fits, whatever an offer leaves out", () => {
    const cluster = founded();
    for (let at = 0; at < 140; at++) cluster.register(1, `r${at}`, `id-${at}`, at);
    cluster.pass(8_000);
    let lies = 0;
    cluster.tamper = (from, _to, message) => {
      if (from !== 1 || message._tag !== "SnapshotOffer") return message;
      lies += 1;
      return { ...message, items: [], upTo: undefined };
    };
    const before = cluster.committed.length;
    declare(cluster, 3);
    cluster.pass(10_000);
    expect(lies).toBeGreaterThan(1);
    const sizes = cluster.committed
      .slice(before)
      .map(({ changes }) => changes.filter(({ table }) => table === "slots"));
    expect(Math.max(...sizes.map((changes) => changes.length))).toBe(128);
    expectWhole(cluster, 140);
  });
});
