import { utf8ToBytes } from "@noble/hashes/utils.js";
import { describe, expect, it } from "vitest";
import { Cluster, crypto, founded } from "../../properties/cluster/Cluster.ts";
import { stateOf } from "../../properties/cluster/Restoring.ts";
import { turnOf, type WholeTurn, wholeTurn } from "../../properties/cluster/TurnOf.ts";
import type { Digest, Signature } from "../base/Digest.ts";
import type { Settings } from "./Event.ts";
import { Limits } from "../base/Limits.ts";
import {
  continueGenesis,
  onGenesisCard,
  onGenesisPinned,
  onGenesisRefused,
  onGenesisTimer,
  onGenesisVote,
  onInitialize,
} from "./Genesis.ts";
import { cardMac, type GenesisCard } from "./GenesisCard.ts";
import type { Message, MessageOf } from "../Message.ts";
import { TOPOLOGY_TAG, topologyCodec } from "./Topology.ts";

const secret = utf8ToBytes("bootstrap");
const OTHER = "ab".repeat(32) as Digest;

/** Both peers have voted, and neither has heard the other's vote. */
const cluster = new Cluster(2);
cluster.tamper = (_from, _to, message) => (message._tag === "GenesisCard" ? message : undefined);
cluster.pass(600);
const { vote, cards } = stateOf(cluster, 1).cluster.founding;
const card = cards.get(2);
const key = cluster.keys.get(2);
if (vote === undefined || card === undefined || key === undefined) throw new Error("both have voted");
const signature = key.sign(TOPOLOGY_TAG, topologyCodec, vote.topology);

/** A turn of peer 1 of a cluster, which knows the bootstrap secret. */
const knowing = (of: Cluster, settings: Partial<Settings> = {}): WholeTurn => {
  const { state, context } = turnOf(of, 1);
  return wholeTurn(state, { ...context, settings: { ...context.settings, bootstrapSecret: secret, ...settings } });
};
/** In the middle of the founding. */
const founding = (settings: Partial<Settings> = {}): WholeTurn => knowing(cluster, settings);
/** When it is over. */
const over = (): WholeTurn => knowing(done);
const done = founded(2);
/** Before peer 2 has introduced itself. */
const alone = (): WholeTurn => {
  const turn = founding();
  const { cards: shown } = turn.state.cluster.founding;
  const faults = new Map();
  turn.draft("cluster").founding = {
    cards: new Map([...shown].slice(0, 1)),
    vote: undefined,
    signatures: new Map(),
    faults,
  };
  return turn;
};
/** What a turn sends in the end, and to whom. */
const sentBy = (turn: WholeTurn): ReadonlyArray<readonly [number, Message["_tag"]]> =>
  turn
    .finish(() => undefined)
    .thenSend.flatMap((action) => (action._tag === "Send" ? [[action.to, action.message._tag] as const] : []));
const sealed = (): WholeTurn => {
  const turn = founding();
  turn.draft("standing").unsealed = false;
  return turn;
};

describe("a founding peer", () => {
  const signed = { _tag: "GenesisVote", topologyDigest: vote.digest, signature } as const;

  it.each<readonly [string, boolean, () => WholeTurn, number, MessageOf<"GenesisVote">]>([
    ["with the last vote of a member", true, founding, 2, signed],
    ["not with a vote for another topology", false, founding, 2, { ...signed, topologyDigest: OTHER }],
    ["not with a forged one", false, founding, 2, { ...signed, signature: "00".repeat(64) as Signature }],
    ["not with the vote of a stranger", false, founding, 3, signed],
    ["not while it is sealed", false, sealed, 2, signed],
  ])("pins its topology %s", (_what, isPinned, begin, from, message) => {
    const turn = begin();
    onGenesisVote(turn, from, message);
    expect(turn.state.cluster.membership !== undefined).toBe(isPinned);
    // From then on every other member has a life on record.
    expect([...turn.state.signed.seen.keys()]).toEqual(isPinned ? [2] : []);
  });

  const own = stateOf(cluster, 1).cluster.founding.signatures.get(1);
  if (own === undefined) throw new Error("peer 1 has voted");
  const pinned = { topology: vote.topology, signatures: [own, signature] };
  const longer = { ...pinned.topology, epoch: 2 };
  const signers = [1, 2].flatMap((peerId) => cluster.keys.get(peerId) ?? []);

  it.each<readonly [string, boolean, () => WholeTurn, typeof pinned]>([
    ["that it voted for, with all signatures", true, founding, pinned],
    ["with a signature missing: not", false, founding, { ...pinned, signatures: [own] }],
    [
      "that it did not vote for: not, although all have signed it",
      false,
      founding,
      { topology: longer, signatures: signers.map((each) => each.sign(TOPOLOGY_TAG, topologyCodec, longer)) },
    ],
    ["while it is sealed: not", false, sealed, pinned],
  ])("takes over a topology %s", (_what, isPinned, begin, shown) => {
    const turn = begin();
    onGenesisPinned(turn, 2, { _tag: "GenesisPinned", pinned: shown });
    expect(turn.state.cluster.membership !== undefined).toBe(isPinned);
  });

  const faultsOf = (
    turn: WholeTurn,
    change: Partial<GenesisCard>,
    from: number,
    mac?: Digest,
  ): ReadonlyArray<string> => {
    const shown = { ...card, ...change };
    onGenesisCard(turn, from, { _tag: "GenesisCard", card: shown, mac: mac ?? cardMac(crypto, secret, shown) });
    return [...turn.state.cluster.founding.faults.values()];
  };

  it.each<readonly [string, Partial<GenesisCard>, number, string]>([
    ["its own id", { peerId: 1 }, 1, "is used twice"],
    [
      "another key than it had",
      { identityKey: stateOf(cluster, 1).cluster.peer?.identityKey ?? card.identityKey },
      2,
      "wiped",
    ],
    ["another total", { total: 3 }, 2, "has total 3"],
    ["another threshold", { threshold: 1 }, 2, "has threshold 1"],
    ["another configuration", { configDigest: OTHER }, 2, "another cluster configuration"],
    ["another mode", { development: false }, 2, "development peer"],
    ["an id that nobody expects", { peerId: 3 }, 3, "not in this peer's configuration"],
  ])("refuses a card with %s", (_what, change, from, words) => {
    expect(faultsOf(founding(), change, from)).toEqual([expect.stringContaining(words)]);
  });

  it("hears of no card that another peer shows, nor of any without the secret", () => {
    expect(faultsOf(founding(), { total: 3 }, 3)).toEqual([]);
    expect(faultsOf(founding({ bootstrapSecret: undefined }), { total: 3 }, 2)).toEqual([]);
  });

  it("blames for a wrong secret only whoever has shown no card that was right", () => {
    expect(faultsOf(founding(), {}, 2, OTHER)).toEqual([]);
    expect(faultsOf(founding(), { peerId: 3 }, 3, OTHER)).toEqual([expect.stringContaining("bootstrap secret")]);
  });

  it.each<readonly [string, number, Digest, number]>([
    ["from that peer under the secret", 2, cardMac(crypto, secret, card), 1],
    ["from that peer under no secret: not", 2, OTHER, 0],
    ["from another peer: not", 3, cardMac(crypto, secret, card), 0],
  ])("notes a refusal %s", (_what, from, mac, count) => {
    const turn = founding();
    onGenesisRefused(turn, from, { _tag: "GenesisRefused", card, mac, reason: "a reason" });
    expect(turn.state.cluster.founding.faults.size).toBe(count);
  });
});

describe("a peer that goes on with its founding", () => {
  const goneOn = (turn: WholeTurn) => {
    continueGenesis(turn);
    return turn.finish(() => undefined).writes.map(({ table }) => table);
  };

  it("introduces itself, and shows its vote, until it is founded", () => {
    const turn = founding();
    onGenesisTimer(turn);
    expect(sentBy(turn)).toEqual([
      [2, "GenesisCard"],
      [2, "GenesisVote"],
    ]);
    const later = over();
    onGenesisTimer(later);
    expect(sentBy(later)).toEqual([]);
  });

  it("shows a card without a MAC where it has no secret, and notes that", () => {
    const turn = founding({ bootstrapSecret: undefined });
    continueGenesis(turn);
    expect([...turn.state.cluster.founding.faults]).toEqual([[1, expect.stringContaining("no bootstrap secret")]]);
    const { thenSend } = turn.finish(() => undefined);
    expect(thenSend).toMatchObject([
      { message: { _tag: "GenesisCard", mac: undefined } },
      { message: { _tag: "GenesisVote" } },
      { _tag: "SetTimer" },
    ]);
  });

  it("takes a card without a MAC for one under another secret", () => {
    const turn = alone();
    onGenesisCard(turn, 2, { _tag: "GenesisCard", card, mac: undefined });
    expect([...turn.state.cluster.founding.faults]).toEqual([[2, expect.stringContaining("bootstrap secret")]]);
  });

  it("has nobody to introduce itself to where it is alone", () => {
    const {
      cluster: { membership },
      timers,
    } = stateOf(new Cluster(1), 1);
    expect([membership?.peerIds, timers.has("genesis")]).toEqual([[1], false]);
  });

  it("fixes who it is once", () => {
    expect(goneOn(founding())).not.toContain("peer");
    const turn = founding();
    turn.draft("cluster").peer = turn.state.cluster.peer && { ...turn.state.cluster.peer, unsealedOnce: false };
    expect(goneOn(turn)).toContain("peer");
    expect(turn.state.cluster.peer?.unsealedOnce).toBe(true);
  });

  it.each<readonly [string, (turn: WholeTurn) => void]>([
    ["whose records do not hold", (turn) => void (turn.draft("standing").integrityFault = "peer/self")],
    ["that is sealed", (turn) => void (turn.draft("standing").unsealed = false)],
  ])("is none %s", (_which, change) => {
    const turn = founding();
    turn.draft("cluster").peer = turn.state.cluster.peer && { ...turn.state.cluster.peer, unsealedOnce: false };
    change(turn);
    continueGenesis(turn);
    const { writes, thenSend } = turn.finish(() => undefined);
    expect([writes, thenSend]).toEqual([[], []]);
  });

  it("votes with its key when the last card is here, and not without it", () => {
    const shown = { _tag: "GenesisCard", card, mac: cardMac(crypto, secret, card) } as const;
    const turn = alone();
    onGenesisCard(turn, 2, shown);
    expect(turn.state.cluster.founding.vote?.digest).toBe(vote.digest);
    const { state, context } = alone();
    const keyless = wholeTurn(state, { ...context, signer: undefined });
    onGenesisCard(keyless, 2, shown);
    expect([keyless.state.cluster.founding.cards.size, keyless.state.cluster.founding.vote]).toEqual([2, undefined]);
  });

  it("blames nobody for a vote or a topology that comes before its own vote", () => {
    const turn = alone();
    onGenesisVote(turn, 2, { _tag: "GenesisVote", topologyDigest: vote.digest, signature });
    onGenesisPinned(turn, 2, { _tag: "GenesisPinned", pinned: { topology: vote.topology, signatures: [signature] } });
    expect([turn.state.cluster.founding.faults.size, turn.state.cluster.membership]).toEqual([0, undefined]);
  });
});

describe("a peer that is founded", () => {
  const {
    cluster: { pinned, membership },
  } = stateOf(done, 1);
  if (pinned === undefined || membership === undefined) throw new Error("it is founded");

  it("shows a member that does not know it yet the topology, secret or not, and blames it for nothing", () => {
    const without = knowing(done, { bootstrapSecret: undefined });
    for (const turn of [over(), without]) {
      onGenesisCard(turn, 2, { _tag: "GenesisCard", card, mac: cardMac(crypto, secret, card) });
      onGenesisCard(turn, 2, { _tag: "GenesisCard", card, mac: undefined });
      expect(turn.state.cluster.founding.faults.size).toBe(0);
      expect(sentBy(turn)).toEqual([
        [2, "GenesisPinned"],
        [2, "GenesisPinned"],
      ]);
    }
  });

  it("refuses one with another key by name under the secret, and without it lets it see that for itself", () => {
    const stranger = { ...card, identityKey: stateOf(done, 1).cluster.peer?.identityKey ?? card.identityKey };
    const refused = over();
    onGenesisCard(refused, 2, { _tag: "GenesisCard", card: stranger, mac: cardMac(crypto, secret, stranger) });
    expect([...refused.state.cluster.founding.faults]).toEqual([[2, expect.stringContaining("not the one pinned")]]);
    expect(sentBy(refused)).toEqual([[2, "GenesisRefused"]]);
    const turn = knowing(done, { bootstrapSecret: undefined });
    onGenesisCard(turn, 2, { _tag: "GenesisCard", card: stranger, mac: undefined });
    expect([turn.state.cluster.founding.faults.size, sentBy(turn)]).toEqual([0, [[2, "GenesisPinned"]]]);
  });

  it.each<readonly [string, Digest, ReadonlyArray<readonly [number, string]>]>([
    ["shows it to whoever votes for it still", membership.digest, [[2, "GenesisPinned"]]],
    ["shows it to nobody who votes for another", OTHER, []],
  ])("%s", (_what, topologyDigest, sent) => {
    const turn = over();
    onGenesisVote(turn, 2, { _tag: "GenesisVote", topologyDigest, signature });
    expect(sentBy(turn)).toEqual(sent);
    expect(turn.state.cluster.founding.faults.size).toBe(0);
  });
});

describe("the faults that a peer notes", () => {
  const shown = (change: Partial<GenesisCard>): MessageOf<"GenesisCard"> => {
    const other = { ...card, ...change };
    return { _tag: "GenesisCard", card: other, mac: cardMac(crypto, secret, other) };
  };
  const refused = { _tag: "GenesisRefused", card, mac: cardMac(crypto, secret, card), reason: "a reason" } as const;

  it("of strangers leave room for those of the peers that are expected, itself included", () => {
    const turn = founding();
    for (let peerId = 100; peerId < 101 + Limits.members; peerId++) onGenesisCard(turn, peerId, shown({ peerId }));
    expect(turn.state.cluster.founding.faults.size).toBe(Limits.members);
    onGenesisCard(turn, 2, shown({ total: 3 }));
    onGenesisCard(turn, 1, shown({ peerId: 1 }));
    expect([...turn.state.cluster.founding.faults.keys()].slice(Limits.members)).toEqual([2, 1]);
  });

  it("stay when the card that was right comes again, and are noted once", () => {
    const turn = founding();
    onGenesisCard(turn, 2, shown({ total: 3 }));
    const {
      cluster: { founding: noted },
    } = turn.state;
    onGenesisCard(turn, 2, shown({}));
    onGenesisCard(turn, 2, shown({ total: 3 }));
    expect(noted.faults.size).toBe(1);
    expect(turn.state.cluster.founding).toBe(noted);
  });

  it("go when a card is right at last", () => {
    const turn = alone();
    onGenesisCard(turn, 2, shown({ total: 3 }));
    expect(turn.state.cluster.founding.faults.size).toBe(1);
    onGenesisCard(turn, 2, shown({}));
    expect(turn.state.cluster.founding.faults.size).toBe(0);
  });

  it("name another key than that of the vote, although its card is forgotten", () => {
    const turn = founding();
    const { identityKey } = [...cards.values()].find(({ peerId }) => peerId === 1) ?? card;
    turn.draft("cluster").founding = {
      ...turn.state.cluster.founding,
      cards: new Map([...cards].filter(([peerId]) => peerId === 1)),
    };
    onGenesisCard(turn, 2, shown({ identityKey }));
    expect([...turn.state.cluster.founding.faults]).toEqual([[2, expect.stringContaining("wiped")]]);
  });

  it("are none for a card of a peer that is expected since the vote", () => {
    const turn = founding({ peers: [2, 3] });
    onGenesisCard(turn, 3, shown({ peerId: 3 }));
    expect([turn.state.cluster.founding.faults.size, turn.state.cluster.founding.cards.has(3)]).toEqual([0, true]);
  });

  it.each<readonly [string, () => WholeTurn, number]>([
    ["are there of a refusal in the founding", founding, 1],
    ["are none of one after it", over, 0],
    ["are none of one without the secret", () => founding({ bootstrapSecret: undefined }), 0],
  ])("%s", (_what, begin, count) => {
    const turn = begin();
    onGenesisRefused(turn, 2, refused);
    expect(turn.state.cluster.founding.faults.size).toBe(count);
  });

  it("are there of a refusal before this peer was initialized, and it answers no card then", () => {
    const turn = founding();
    turn.draft("cluster").peer = undefined;
    onGenesisRefused(turn, 2, refused);
    onGenesisCard(turn, 2, shown({}));
    expect(turn.state.cluster.founding.faults.size).toBe(1);
    expect(sentBy(turn)).toEqual([]);
  });
});

describe("an initialization", () => {
  it("is refused where the records do not hold, for they do not tell who this peer was", () => {
    const turn = alone();
    const {
      cluster: { peer },
    } = turn.state;
    if (peer === undefined) throw new Error("it is initialized");
    turn.draft("cluster").peer = undefined;
    turn.draft("standing").integrityFault = "peer/self";
    onInitialize(turn, { _tag: "Initialize", requestId: "request", vault: new Uint8Array(), ...peer });
    const { writes, thenSend } = turn.finish(() => undefined);
    expect(writes).toEqual([]);
    expect(thenSend).toMatchObject([{ answer: { rejection: { code: "INTEGRITY_FAILURE" } } }]);
  });
});
