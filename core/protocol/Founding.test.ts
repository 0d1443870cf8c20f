import { utf8ToBytes } from "@noble/hashes/utils.js";
import { describe, expect, it } from "vitest";
import { Cluster, crypto } from "../../properties/cluster/Cluster.ts";
import { stateOf } from "../../properties/cluster/Restoring.ts";
import { turnOf } from "../../properties/cluster/TurnOf.ts";
import type { Digest, Signature } from "../Digest.ts";
import { Turn } from "../Turn.ts";
import { onGenesisCard, onGenesisPinned, onGenesisRefused, onGenesisVote } from "./Genesis.ts";
import { cardMac, type GenesisCard } from "./GenesisCard.ts";
import type { MessageOf } from "./Message.ts";
import { TOPOLOGY_TAG, topologyCodec } from "./Topology.ts";

const secret = utf8ToBytes("bootstrap");
const OTHER = "ab".repeat(32) as Digest;

/** Both peers have voted, and neither has heard the other's vote. */
const cluster = new Cluster(2);
cluster.tamper = (_from, _to, message) => (message._tag === "GenesisCard" ? message : undefined);
cluster.pass(600);
const { vote, cards } = stateOf(cluster, 1).founding;
const card = cards.get(2);
const key = cluster.keys.get(2);
if (vote === undefined || card === undefined || key === undefined) throw new Error("both have voted");
const signature = key.sign(TOPOLOGY_TAG, topologyCodec, vote.topology);

/** A turn of peer 1 in the middle of the founding, which knows the bootstrap secret. */
const founding = (bootstrapSecret: Uint8Array | undefined = secret): Turn => {
  const { state, context } = turnOf(cluster, 1);
  return new Turn(state, { ...context, settings: { ...context.settings, bootstrapSecret } });
};
const sealed = (turn: Turn): Turn => {
  turn.state.unsealed = false;
  return turn;
};

describe("a founding peer", () => {
  const signed = { _tag: "GenesisVote", topologyDigest: vote.digest, signature } as const;

  it.each<readonly [string, boolean, Turn, number, MessageOf<"GenesisVote">]>([
    ["with the last vote of a member", true, founding(), 2, signed],
    ["not with a vote for another topology", false, founding(), 2, { ...signed, topologyDigest: OTHER }],
    ["not with a forged one", false, founding(), 2, { ...signed, signature: "00".repeat(64) as Signature }],
    ["not with the vote of a stranger", false, founding(), 3, signed],
    ["not while it is sealed", false, sealed(founding()), 2, signed],
  ])("pins its topology %s", (_what, isPinned, turn, from, message) => {
    onGenesisVote(turn, from, message);
    expect(turn.state.membership !== undefined).toBe(isPinned);
  });

  const own = stateOf(cluster, 1).founding.signatures.get(1);
  if (own === undefined) throw new Error("peer 1 has voted");
  const pinned = { topology: vote.topology, signatures: [own, signature] };
  const longer = { ...pinned.topology, epoch: 2 };
  const signers = [1, 2].flatMap((peerId) => cluster.keys.get(peerId) ?? []);

  it.each<readonly [string, boolean, Turn, typeof pinned]>([
    ["that it voted for, with all signatures", true, founding(), pinned],
    ["with a signature missing: not", false, founding(), { ...pinned, signatures: [own] }],
    [
      "that it did not vote for: not, although all have signed it",
      false,
      founding(),
      { topology: longer, signatures: signers.map((each) => each.sign(TOPOLOGY_TAG, topologyCodec, longer)) },
    ],
    ["while it is sealed: not", false, sealed(founding()), pinned],
  ])("takes over a topology %s", (_what, isPinned, turn, shown) => {
    onGenesisPinned(turn, { _tag: "GenesisPinned", pinned: shown });
    expect(turn.state.membership !== undefined).toBe(isPinned);
  });

  const faultsOf = (turn: Turn, change: Partial<GenesisCard>, from: number, mac?: Digest): ReadonlyArray<string> => {
    const shown = { ...card, ...change };
    onGenesisCard(turn, from, { _tag: "GenesisCard", card: shown, mac: mac ?? cardMac(crypto, secret, shown) });
    return [...turn.state.founding.faults.values()];
  };

  it.each<readonly [string, Partial<GenesisCard>, number, string]>([
    ["its own id", { peerId: 1 }, 1, "is used twice"],
    ["another key than it had", { identityKey: stateOf(cluster, 1).peer?.identityKey ?? card.identityKey }, 2, "wiped"],
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
    expect(faultsOf(turnOf(cluster, 1), { total: 3 }, 2)).toEqual([]);
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
    expect(turn.state.founding.faults.size).toBe(count);
  });
});
