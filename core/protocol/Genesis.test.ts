import { utf8ToBytes } from "@noble/hashes/utils.js";
import { describe, expect, it } from "vitest";
import { Cluster } from "../../properties/cluster/Cluster.ts";
import type { Digest } from "../base/Digest.ts";
import { Limits } from "../base/Limits.ts";
import { isPinnedByAll } from "./Topology.ts";
import { crypto } from "../../properties/cluster/Cluster.ts";

const faultsAt = (cluster: Cluster, peerId: number) => [
  ...(cluster.peers.get(peerId)?.state.cluster.founding.faults.values() ?? []),
];

describe("genesis", () => {
  it("pins one topology, signed by all, under every loss that the timers repair", () => {
    for (let lost = 0; lost < 12; lost++) {
      const cluster = new Cluster(3);
      let count = 0;
      cluster.tamper = (_from, _to, message) => (count++ === lost ? undefined : message);
      cluster.pass(3_000);
      const pinned = [...cluster.peers.values()].map((each) => each.state.cluster.pinned);
      const [first] = pinned;
      for (const each of pinned) expect(each).toEqual(first);
      expect(first !== undefined && isPinnedByAll(crypto, first)).toBe(true);
    }
  });

  it("is not fooled by a pinned topology that lacks a member's signature", () => {
    const cluster = new Cluster(3);
    cluster.pass(3_000);
    const pinned = cluster.peers.get(1)?.state.cluster.pinned;
    if (pinned === undefined) throw new Error("the cluster was not founded");
    expect(isPinnedByAll(crypto, { ...pinned, signatures: pinned.signatures.slice(1) })).toBe(false);
    expect(isPinnedByAll(crypto, { ...pinned, signatures: pinned.signatures.toReversed() })).toBe(false);
    expect(isPinnedByAll(crypto, { topology: { ...pinned.topology, members: [] }, signatures: [] })).toBe(false);
  });

  const refusals: ReadonlyArray<readonly [string, ConstructorParameters<typeof Cluster>[1], string]> = [
    [
      "another configuration",
      (peerId) => (peerId === 3 ? { configDigest: "22".repeat(32) as Digest } : {}),
      "another cluster configuration",
    ],
    [
      "another bootstrap secret",
      (peerId) => (peerId === 3 ? { bootstrapSecret: utf8ToBytes("guess") } : {}),
      "bootstrap secret",
    ],
    ["a development peer among others", (peerId) => (peerId === 3 ? { development: false } : {}), "development peer"],
  ];
  for (const [name, override, words] of refusals)
    it(`refuses ${name} and says which peer`, () => {
      const cluster = new Cluster(3, override);
      cluster.pass(3_000);
      for (const { state } of cluster.peers.values()) expect(state.cluster.membership).toBeUndefined();
      expect(faultsAt(cluster, 1).join("; ")).toContain(words);
      expect(faultsAt(cluster, 1).join("; ")).toContain("peer 3");
    });

  it("refuses a wiped peer after the founding, and tells it so", () => {
    const cluster = new Cluster(3);
    cluster.pass(3_000);
    cluster.peers.get(3)?.stop();
    cluster.tables.delete(3);
    cluster.startAs(3, 77);
    cluster.pass(3_000);
    expect(cluster.peers.get(3)?.state.cluster.membership).toBeUndefined();
    expect(faultsAt(cluster, 3).join("; ")).toContain("it was wiped, or is a stranger");
  });

  for (const victim of [1, 2, 3])
    it(`is finished by peer ${victim} although it stopped after its vote and the others pinned without it`, () => {
      const cluster = new Cluster(3);
      cluster.tamper = (_from, to, message) =>
        to === victim && (message._tag === "GenesisVote" || message._tag === "GenesisPinned") ? undefined : message;
      cluster.pass(1_000);
      expect(cluster.peers.get(victim)?.state.cluster.founding.vote).toBeDefined();
      expect([...cluster.peers.values()].filter((each) => each.state.cluster.membership !== undefined)).toHaveLength(2);
      cluster.peers.get(victim)?.stop();
      cluster.tamper = (_from, _to, message) => message;
      cluster.start(victim);
      cluster.pass(3_000);
      expect(cluster.peers.get(victim)?.state.cluster.membership?.digest).toBe(
        cluster.peers.get(victim === 1 ? 2 : 1)?.state.cluster.membership?.digest,
      );
    });

  it("spends no vote on a peer that the configuration does not name", () => {
    const cluster = new Cluster(
      4,
      (peerId) => ({ peers: peerId === 4 ? [1, 2] : [1, 2, 3].filter((each) => each !== peerId) }),
      3,
    );
    cluster.peers.get(3)?.stop();
    cluster.pass(2_000);
    expect(faultsAt(cluster, 1).join("; ")).toContain("peer 4 is not in this peer's configuration");
    cluster.start(3);
    cluster.pass(3_000);
    for (const peerId of [1, 2, 3])
      expect(cluster.peers.get(peerId)?.state.cluster.membership?.peerIds).toEqual([1, 2, 3]);
  });

  it("names a peer that signed another topology", () => {
    const cluster = new Cluster(3);
    cluster.tamper = (_from, _to, message) =>
      message._tag === "GenesisVote" ? { ...message, topologyDigest: "cd".repeat(32) as Digest } : message;
    cluster.pass(2_000);
    expect(faultsAt(cluster, 1).join("; ")).toContain("peer 2 signed another topology");
  });

  it("signs nothing when the peer's records do not hold", () => {
    const cluster = new Cluster(3);
    cluster.peers.get(2)?.dispatch({ _tag: "IntegrityLost", where: "peer/self" });
    cluster.pass(2_000);
    expect(cluster.peers.get(2)?.state.cluster.founding.vote).toBeUndefined();
    expect(cluster.tables.get(2)?.get("genesis")?.size ?? 0).toBe(0);
  });

  it("keeps its one vote through a restart of every peer in mid-founding", () => {
    const cluster = new Cluster(3);
    cluster.tamper = (_from, _to, message) =>
      message._tag === "GenesisVote" || message._tag === "GenesisPinned" ? undefined : message;
    cluster.pass(1_000);
    const votes = [...cluster.peers.values()].map((each) => each.state.cluster.founding.vote?.digest);
    expect(new Set(votes).size).toBe(1);
    expect(votes[0]).toBeDefined();
    cluster.tamper = (_from, _to, message) => message;
    for (const [peerId, driver] of cluster.peers) {
      driver.stop();
      cluster.start(peerId);
    }
    cluster.pass(3_000);
    expect([...cluster.peers.values()].map((each) => each.state.cluster.membership?.digest)).toEqual(votes);
  });

  const others = (count: number) => Array.from({ length: count }, (_, index) => index + 2);
  const range = "out_of_range";

  it.each<readonly [number, number, number, number, ReadonlyArray<readonly [string, string]>]>([
    [1, 2, 3, 2, []],
    [1, 3, 3, 2, []],
    [0, 2, 3, 2, [["/peerId", range]]],
    [2, 2, 3, 2, [["/peerId", "duplicate"]]],
    [1, 1, 3, 2, [["/threshold", range]]],
    [1, 4, 3, 2, [["/threshold", range]]],
    [1, 2, 4, 2, [["/total", "mismatch"]]],
    [1, 1, 1, 2, []],
    [1, 1, 1, 0, []],
    [1, 2, 1, 0, [["/threshold", range]]],
    [1, 0, 1, 0, [["/threshold", range]]],
    [1, 2, Limits.members, Limits.members - 1, []],
    [1, 2, Limits.members + 1, Limits.members, [["/total", range]]],
    [
      1,
      1,
      0,
      0,
      [
        ["/total", range],
        ["/threshold", range],
        ["/total", "mismatch"],
      ],
    ],
  ])(
    "initializes peer %i as %i of %i beside %i others, but for these faults: %j",
    (peerId, threshold, total, count, faults) => {
      const answer = new Cluster(1).initialize({ peerId, threshold, total, others: others(count) });
      if (faults.length === 0) return expect(answer).toEqual({ _tag: "Initialized" });
      expect(answer).toMatchObject({
        _tag: "Rejected",
        rejection: { code: "INVALID_REQUEST_BODY", faults: faults.map(([pointer, code]) => ({ pointer, code })) },
      });
    },
  );

  it("says which total the configuration asks for", () => {
    const answer = new Cluster(1).initialize({ peerId: 1, threshold: 2, total: 4, others: [2, 3] });
    expect(answer).toMatchObject({
      rejection: { faults: [{ detail: "The configuration names 2 other peers, so the total is 3." }] },
    });
  });

  it("lets initialization be repeated until the first unseal, and never after", () => {
    const cluster = new Cluster(3);
    expect(cluster.initialize({ peerId: 1, threshold: 2, total: 3, others: [2, 3], times: 2 })).toEqual({
      _tag: "Initialized",
    });
    expect(
      cluster.initialize({ peerId: 1, threshold: 2, total: 3, others: [2, 3], times: 2, unsealBetween: true }),
    ).toMatchObject({
      _tag: "Rejected",
      // A peer whose keys are lost cannot be replaced (docs/operations.md).
      rejection: { code: "ALREADY_INITIALIZED", hint: expect.stringMatching(/restore it from any backup of its own/) },
    });
  });
});
