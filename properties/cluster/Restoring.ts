/** Declared restores on a test cluster: disks kept and put back, and what all members must have in the end. */
import { expect } from "vitest";
import type { PeerState } from "../../core/protocol/PeerState.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import type { StoredRow } from "../../runtime/ByteStore.ts";
import type { MemoryTables } from "../../runtime/MemoryByteStore.ts";
import { type Cluster, crypto } from "./Cluster.ts";

export const stateOf = (cluster: Cluster, peerId: PeerId): PeerState => {
  const state = cluster.peers.get(peerId)?.state;
  if (state === undefined) throw new Error("no such peer");
  return state;
};

/** A disk as it is now, to be put back later. */
export const copyOf = (tables: MemoryTables | undefined): MemoryTables =>
  new Map([...(tables ?? [])].map(([table, rows]) => [table, new Map(rows)]));

/** A peer's disk as it was after so many of its transactions, counted from its very first one. */
export const diskAfter = ({ committed }: Cluster, peerId: PeerId, transactions: number): MemoryTables => {
  const tables: MemoryTables = new Map();
  const own = committed.filter((each) => each.peerId === peerId).slice(0, transactions);
  for (const change of own.flatMap(({ changes }) => changes)) {
    const rows = tables.get(change.table) ?? new Map<string, StoredRow>();
    tables.set(change.table, rows);
    if (change.op === "remove") rows.delete(change.key);
    else rows.set(change.key, change.value);
  }
  return tables;
};

/** Registers a key and waits for the answer. */
export const register = (cluster: Cluster, id: string, seed: number, through: PeerId = 1): void => {
  cluster.register(through, `register ${id}`, id, seed);
  cluster.pass(1_500);
};

export const declare = (cluster: Cluster, peerId: PeerId): void =>
  cluster.dispatch(peerId, { _tag: "DeclareRestore", requestId: `declare ${peerId}` });

/** Stops a peer, puts an older disk in, and starts it; no other hears of it before it is declared. */
export const comeBackOn = (cluster: Cluster, peerId: PeerId, old: MemoryTables, declared = true): void => {
  cluster.peers.get(peerId)?.stop();
  cluster.tables.set(peerId, copyOf(old));
  cluster.start(peerId);
  if (declared) declare(cluster, peerId);
};

const root = (cluster: Cluster, peerId: PeerId) => crypto.setDigest(stateOf(cluster, peerId).registry.set);

/** Every member takes part, has so many approvers, the same ones, and nothing open. */
export const expectWhole = (cluster: Cluster, approvers: number): void => {
  for (let peerId = 1; peerId <= cluster.total; peerId++) {
    const state = stateOf(cluster, peerId);
    expect(state.rejoining.recovery?.waitsFor).toBeUndefined();
    expect(state.fitness.quarantine).toBeUndefined();
    expect(state.registry.approvers).toBe(approvers);
    expect(root(cluster, peerId)).toBe(root(cluster, 1));
    expect([
      state.undecided.preparations.size,
      state.undecided.refused.size,
      state.undecided.aborting.size,
      state.undecided.outbox.size,
    ]).toEqual([0, 0, 0, 0]);
  }
};
