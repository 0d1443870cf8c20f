import { utf8ToBytes } from "@noble/hashes/utils.js";
import { describe, expect, it } from "vitest";
import { Cluster, crypto, founded } from "../../properties/cluster/Cluster.ts";
import { stateOf } from "../../properties/cluster/Restoring.ts";
import { openStep, type WholeStep, wholeStep } from "../../properties/cluster/OpenStep.ts";
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

/** A step of peer 1 of a cluster, which knows the bootstrap secret. */
const knowing = (of: Cluster, settings: Partial<Settings> = {}): WholeStep => {
  const { state, context } = openStep(of, 1);
  return wholeStep(state, { ...context, settings: { ...context.settings, bootstrapSecret: secret, ...settings } });
};
/** In the middle of the founding. */
const founding = (settings: Partial<Settings> = {}): WholeStep => knowing(cluster, settings);
/** When it is over. */
const over = (): WholeStep => knowing(done);
const done = founded(2);
/** Before peer 2 has introduced itself. */
const alone = (): WholeStep => {
  const step = founding();
  const { cards: shown } = step.state.cluster.founding;
  const faults = new Map();
  step.draft("cluster").founding = {
    cards: new Map([...shown].slice(0, 1)),
    vote: undefined,
    signatures: new Map(),
    faults,
  };
  return step;
};
/** The messages that a step sends in the end, and their receivers. */
const sentBy = (step: WholeStep): ReadonlyArray<readonly [number, Message["_tag"]]> =>
  step
    .finish(() => undefined)
    .thenSend.flatMap((action) => (action._tag === "Send" ? [[action.to, action.message._tag] as const] : []));
const sealed = (): WholeStep => {
  const step = founding();
  step.draft("fitness").unsealed = false;
  return step;
};

describe("a founding peer", () => {
  const signed = { _tag: "GenesisVote", topologyDigest: vote.digest, signature } as const;

  it.each<readonly [string, boolean, () => WholeStep, number, MessageOf<"GenesisVote">]>([
    ["with the last vote of a member", true, founding, 2, signed],
    ["not with a vote for another topology", false, founding, 2, { ...signed, topologyDigest: OTHER }],
    ["not with a forged one", false, founding, 2, { ...signed, signature: "00".repeat(64) as Signature }],
    ["not with the vote of a stranger", false, founding, 3, signed],
    ["not while it is sealed", false, sealed, 2, signed],
  ])("pins its topology %s", (_what, isPinned, begin, from, message) => {
    const step = begin();
    onGenesisVote(step, from, message);
    expect(step.state.cluster.membership !== undefined).toBe(isPinned);
    // From then on every other member has an incarnation on record.
    expect([...step.state.signed.seen.keys()]).toEqual(isPinned ? [2] : []);
  });

  const own = stateOf(cluster, 1).cluster.founding.signatures.get(1);
  if (own === undefined) throw new Error("peer 1 has voted");
  const pinned = { topology: vote.topology, signatures: [own, signature] };
  const longer = { ...pinned.topology, epoch: 2 };
  const signers = [1, 2].flatMap((peerId) => cluster.keys.get(peerId) ?? []);

  it.each<readonly [string, boolean, () => WholeStep, typeof pinned]>([
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
    const step = begin();
    onGenesisPinned(step, 2, { _tag: "GenesisPinned", pinned: shown });
    expect(step.state.cluster.membership !== undefined).toBe(isPinned);
  });

  const faultsOf = (
    step: WholeStep,
    change: Partial<GenesisCard>,
    from: number,
    mac?: Digest,
  ): ReadonlyArray<string> => {
    const shown = { ...card, ...change };
    onGenesisCard(step, from, { _tag: "GenesisCard", card: shown, mac: mac ?? cardMac(crypto, secret, shown) });
    return [...step.state.cluster.founding.faults.values()];
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
    const step = founding();
    onGenesisRefused(step, from, { _tag: "GenesisRefused", card, mac, reason: "a reason" });
    expect(step.state.cluster.founding.faults.size).toBe(count);
  });
});

describe("a peer that goes on with its founding", () => {
  const goneOn = (step: WholeStep) => {
    continueGenesis(step);
    return step.finish(() => undefined).writes.map(({ table }) => table);
  };

  it("introduces itself, and shows its vote, until it is founded", () => {
    const step = founding();
    onGenesisTimer(step);
    expect(sentBy(step)).toEqual([
      [2, "GenesisCard"],
      [2, "GenesisVote"],
    ]);
    const later = over();
    onGenesisTimer(later);
    expect(sentBy(later)).toEqual([]);
  });

  it("shows a card without a MAC where it has no secret, and notes that", () => {
    const step = founding({ bootstrapSecret: undefined });
    continueGenesis(step);
    expect([...step.state.cluster.founding.faults]).toEqual([[1, expect.stringContaining("no bootstrap secret")]]);
    const { thenSend } = step.finish(() => undefined);
    expect(thenSend).toMatchObject([
      { message: { _tag: "GenesisCard", mac: undefined } },
      { message: { _tag: "GenesisVote" } },
      { _tag: "SetTimer" },
    ]);
  });

  it("takes a card without a MAC for one under another secret", () => {
    const step = alone();
    onGenesisCard(step, 2, { _tag: "GenesisCard", card, mac: undefined });
    expect([...step.state.cluster.founding.faults]).toEqual([[2, expect.stringContaining("bootstrap secret")]]);
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
    const step = founding();
    step.draft("cluster").peer = step.state.cluster.peer && { ...step.state.cluster.peer, unsealedOnce: false };
    expect(goneOn(step)).toContain("peer");
    expect(step.state.cluster.peer?.unsealedOnce).toBe(true);
  });

  it.each<readonly [string, (step: WholeStep) => void]>([
    ["whose records do not hold", (step) => void (step.draft("fitness").integrityFault = "peer/self")],
    ["that is sealed", (step) => void (step.draft("fitness").unsealed = false)],
  ])("is none %s", (_which, change) => {
    const step = founding();
    step.draft("cluster").peer = step.state.cluster.peer && { ...step.state.cluster.peer, unsealedOnce: false };
    change(step);
    continueGenesis(step);
    const { writes, thenSend } = step.finish(() => undefined);
    expect([writes, thenSend]).toEqual([[], []]);
  });

  it("votes with its key when the last card is here, and not without it", () => {
    const shown = { _tag: "GenesisCard", card, mac: cardMac(crypto, secret, card) } as const;
    const step = alone();
    onGenesisCard(step, 2, shown);
    expect(step.state.cluster.founding.vote?.digest).toBe(vote.digest);
    const { state, context } = alone();
    const keyless = wholeStep(state, { ...context, signer: undefined });
    onGenesisCard(keyless, 2, shown);
    expect([keyless.state.cluster.founding.cards.size, keyless.state.cluster.founding.vote]).toEqual([2, undefined]);
  });

  it("blames nobody for a vote or a topology that comes before its own vote", () => {
    const step = alone();
    onGenesisVote(step, 2, { _tag: "GenesisVote", topologyDigest: vote.digest, signature });
    onGenesisPinned(step, 2, { _tag: "GenesisPinned", pinned: { topology: vote.topology, signatures: [signature] } });
    expect([step.state.cluster.founding.faults.size, step.state.cluster.membership]).toEqual([0, undefined]);
  });
});

describe("a peer that is founded", () => {
  const {
    cluster: { pinned, membership },
  } = stateOf(done, 1);
  if (pinned === undefined || membership === undefined) throw new Error("it is founded");

  it("shows a member that does not know it yet the topology, secret or not, and blames it for nothing", () => {
    const without = knowing(done, { bootstrapSecret: undefined });
    for (const step of [over(), without]) {
      onGenesisCard(step, 2, { _tag: "GenesisCard", card, mac: cardMac(crypto, secret, card) });
      onGenesisCard(step, 2, { _tag: "GenesisCard", card, mac: undefined });
      expect(step.state.cluster.founding.faults.size).toBe(0);
      expect(sentBy(step)).toEqual([
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
    const step = knowing(done, { bootstrapSecret: undefined });
    onGenesisCard(step, 2, { _tag: "GenesisCard", card: stranger, mac: undefined });
    expect([step.state.cluster.founding.faults.size, sentBy(step)]).toEqual([0, [[2, "GenesisPinned"]]]);
  });

  it.each<readonly [string, Digest, ReadonlyArray<readonly [number, string]>]>([
    ["shows it to whoever votes for it still", membership.digest, [[2, "GenesisPinned"]]],
    ["shows it to nobody who votes for another", OTHER, []],
  ])("%s", (_what, topologyDigest, sent) => {
    const step = over();
    onGenesisVote(step, 2, { _tag: "GenesisVote", topologyDigest, signature });
    expect(sentBy(step)).toEqual(sent);
    expect(step.state.cluster.founding.faults.size).toBe(0);
  });
});

describe("the faults that a peer notes", () => {
  const shown = (change: Partial<GenesisCard>): MessageOf<"GenesisCard"> => {
    const other = { ...card, ...change };
    return { _tag: "GenesisCard", card: other, mac: cardMac(crypto, secret, other) };
  };
  const refused = { _tag: "GenesisRefused", card, mac: cardMac(crypto, secret, card), reason: "a reason" } as const;

  it("of strangers leave room for those of the peers that are expected, itself included", () => {
    const step = founding();
    for (let peerId = 100; peerId < 101 + Limits.members; peerId++) onGenesisCard(step, peerId, shown({ peerId }));
    expect(step.state.cluster.founding.faults.size).toBe(Limits.members);
    onGenesisCard(step, 2, shown({ total: 3 }));
    onGenesisCard(step, 1, shown({ peerId: 1 }));
    expect([...step.state.cluster.founding.faults.keys()].slice(Limits.members)).toEqual([2, 1]);
  });

  it("stay when the card that was right comes again, and are noted once", () => {
    const step = founding();
    onGenesisCard(step, 2, shown({ total: 3 }));
    const {
      cluster: { founding: noted },
    } = step.state;
    onGenesisCard(step, 2, shown({}));
    onGenesisCard(step, 2, shown({ total: 3 }));
    expect(noted.faults.size).toBe(1);
    expect(step.state.cluster.founding).toBe(noted);
  });

  it("go when a card is right at last", () => {
    const step = alone();
    onGenesisCard(step, 2, shown({ total: 3 }));
    expect(step.state.cluster.founding.faults.size).toBe(1);
    onGenesisCard(step, 2, shown({}));
    expect(step.state.cluster.founding.faults.size).toBe(0);
  });

  it("name another key than that of the vote, although its card is forgotten", () => {
    const step = founding();
    const { identityKey } = [...cards.values()].find(({ peerId }) => peerId === 1) ?? card;
    step.draft("cluster").founding = {
      ...step.state.cluster.founding,
      cards: new Map([...cards].filter(([peerId]) => peerId === 1)),
    };
    onGenesisCard(step, 2, shown({ identityKey }));
    expect([...step.state.cluster.founding.faults]).toEqual([[2, expect.stringContaining("wiped")]]);
  });

  it("are none for a card of a peer that is expected since the vote", () => {
    const step = founding({ peers: [2, 3] });
    onGenesisCard(step, 3, shown({ peerId: 3 }));
    expect([step.state.cluster.founding.faults.size, step.state.cluster.founding.cards.has(3)]).toEqual([0, true]);
  });

  it.each<readonly [string, () => WholeStep, number]>([
    ["are there of a refusal in the founding", founding, 1],
    ["are none of one after it", over, 0],
    ["are none of one without the secret", () => founding({ bootstrapSecret: undefined }), 0],
  ])("%s", (_what, begin, count) => {
    const step = begin();
    onGenesisRefused(step, 2, refused);
    expect(step.state.cluster.founding.faults.size).toBe(count);
  });

  it("are there of a refusal before this peer was initialized, and it answers no card then", () => {
    const step = founding();
    step.draft("cluster").peer = undefined;
    onGenesisRefused(step, 2, refused);
    onGenesisCard(step, 2, shown({}));
    expect(step.state.cluster.founding.faults.size).toBe(1);
    expect(sentBy(step)).toEqual([]);
  });
});

describe("an initialization", () => {
  it("is refused where the records do not hold, for they do not tell who this peer was", () => {
    const step = alone();
    const {
      cluster: { peer },
    } = step.state;
    if (peer === undefined) throw new Error("it is initialized");
    step.draft("cluster").peer = undefined;
    step.draft("fitness").integrityFault = "peer/self";
    onInitialize(step, { _tag: "Initialize", requestId: "request", vault: new Uint8Array(), ...peer });
    const { writes, thenSend } = step.finish(() => undefined);
    expect(writes).toEqual([]);
    expect(thenSend).toMatchObject([{ answer: { rejection: { code: "INTEGRITY_FAILURE" } } }]);
  });
});
