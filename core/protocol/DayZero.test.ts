/** A peer that is put back on a disk from before its cluster was founded, as early as its first transaction. */
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { describe, expect, it } from "vitest";
import { Cluster } from "../../properties/cluster/Cluster.ts";
import { comeBackOn, declare, diskAfter, expectWhole, register, stateOf } from "../../properties/cluster/Restoring.ts";
import { openStep } from "../../properties/cluster/OpenStep.ts";
import type { Signature } from "../base/Digest.ts";
import { SELF } from "./Tables.ts";
import { onGenesisPinned } from "./Genesis.ts";
import { TOPOLOGY_TAG, topologyCodec } from "./Topology.ts";

/** Three founded members with one approver, and no secret on any machine any more. */
const relieved = (): Cluster => {
  const settings: { bootstrapSecret: Uint8Array | undefined } = { bootstrapSecret: utf8ToBytes("bootstrap") };
  const cluster = new Cluster(3, () => settings);
  cluster.pass(2_000);
  settings.bootstrapSecret = undefined;
  for (const peerId of [1, 2, 3]) {
    cluster.peers.get(peerId)?.stop();
    cluster.start(peerId);
  }
  cluster.pass(1_000);
  register(cluster, "alice", 7);
  return cluster;
};

/** How many transactions a peer had made before it knew its cluster. */
const foundedAfter = (cluster: Cluster, peerId: number): number => {
  for (let count = 1; ; count++)
    if (diskAfter(cluster, peerId, count).get("topology")?.has(SELF) === true) return count;
};

describe("a peer on a disk from before the founding", () => {
  // So the disks below are those of a peer that is initialized, was unsealed, and has voted.
  it("knows its cluster with its fourth transaction", () => {
    expect(foundedAfter(relieved(), 3)).toBe(4);
  });

  for (const transactions of [1, 2, 3])
    for (const peerId of [1, 3]) {
      it(`as of its transaction ${transactions} is shown its topology, joins and is restored: peer ${peerId}`, () => {
        const cluster = relieved();
        comeBackOn(cluster, peerId, diskAfter(cluster, peerId, transactions), false);
        cluster.pass(3_000);
        expect(stateOf(cluster, peerId).cluster.membership?.digest).toBe(
          stateOf(cluster, 2).cluster.membership?.digest,
        );
        expect(stateOf(cluster, peerId).fitness.quarantine).toContain("does not remember");
        declare(cluster, peerId);
        expect(cluster.answers.get(`declare ${peerId}`)).toMatchObject({ _tag: "Restoring" });
        cluster.pass(6_000);
        expectWhole(cluster, 1);
        register(cluster, "bob", 8, peerId);
        expect(cluster.answers.get("register bob")).toMatchObject({ _tag: "Registered", created: true });
      });

      it(`as of its transaction ${transactions} is restored as was declared before: peer ${peerId}`, () => {
        const cluster = relieved();
        comeBackOn(cluster, peerId, diskAfter(cluster, peerId, transactions));
        expect(cluster.answers.get(`declare ${peerId}`)).toEqual({ _tag: "Restoring", incarnation: undefined });
        cluster.pass(6_000);
        expectWhole(cluster, 1);
        expect(stateOf(cluster, peerId).signed.chain.incarnation).toBeGreaterThan(1);
      });
    }

  it("keeps the vote that its topology shows it to have cast", () => {
    const cluster = relieved();
    const cast = cluster.row(3, "genesis", SELF);
    comeBackOn(cluster, 3, diskAfter(cluster, 3, 1), false);
    cluster.pass(3_000);
    expect(cluster.row(3, "genesis", SELF)).toEqual(cast);
  });

  it("that was initialized again is another one, and says so by name", () => {
    const cluster = relieved();
    cluster.peers.get(3)?.stop();
    cluster.tables.delete(3);
    cluster.startAs(3, 77);
    cluster.pass(3_000);
    expect(stateOf(cluster, 3).cluster.membership).toBeUndefined();
    expect([...stateOf(cluster, 3).cluster.founding.faults.values()].join("; ")).toContain(
      "with another key for peer 3",
    );
  });

  it("says that it has no secret to found a cluster with", () => {
    const cluster = new Cluster(1, () => ({ bootstrapSecret: undefined, peers: [2] }), 2);
    expect([...stateOf(cluster, 1).cluster.founding.faults.values()].join("; ")).toContain("no bootstrap secret");
  });
});

describe("a topology shown to a peer that has not voted", () => {
  const cluster = relieved();
  const {
    cluster: { pinned },
  } = stateOf(cluster, 1);
  if (pinned === undefined) throw new Error("it is founded");
  comeBackOn(cluster, 3, diskAfter(cluster, 3, 2), false);
  const shown = (change: Partial<typeof pinned>) => {
    const step = openStep(cluster, 3);
    onGenesisPinned(step, 1, { _tag: "GenesisPinned", pinned: { ...pinned, ...change } });
    return step.state;
  };
  const signers = [1, 2, 3].flatMap((peerId) => cluster.keys.get(peerId) ?? []);
  const signedBy = (topology: typeof pinned.topology, keys: typeof signers) => ({
    topology,
    signatures: keys.map((key) => key.sign(TOPOLOGY_TAG, topologyCodec, topology)),
  });
  const [first, second] = signers;
  if (first === undefined || second === undefined) throw new Error("there are three");
  const without = { ...pinned.topology, members: pinned.topology.members.slice(0, 2) };

  it("is pinned where all have signed it, itself included", () => {
    expect(shown({}).cluster.membership?.peerIds).toEqual([1, 2, 3]);
  });

  it.each<readonly [string, Partial<typeof pinned>]>([
    ["without its own signature", { signatures: [...pinned.signatures.slice(0, 2), "00".repeat(64) as Signature] }],
    ["with another's in its place", signedBy(pinned.topology, [first, second, first])],
    ["short of one", { signatures: pinned.signatures.slice(0, 2) }],
    ["that it is no member of", signedBy(without, [first, second])],
  ])("is not pinned %s", (_what, change) => {
    const {
      cluster: { membership, founding },
    } = shown(change);
    expect([membership, founding.faults.has(1)]).toEqual([undefined, false]);
  });
});
