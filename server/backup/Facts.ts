/** What a database says of its peer, from rows whose seals hold: the content of a manifest, but for its making. */
import type { Crypto } from "../../core/crypto/Crypto.ts";
import { SELF } from "../../core/protocol/Tables.ts";
import { topologyDigest } from "../../core/protocol/Topology.ts";
import type { RowView } from "../../core/Tables.ts";
import type { BackupFacts } from "./Manifest.ts";

export type StoredFacts = Omit<BackupFacts, "madeAt" | "program" | "bytes" | "sha256">;

/** How many members the peer's cluster has, or is to have once it is founded; 0 for a peer that was never initialized. */
export const membersIn = (view: RowView): number =>
  view.get("topology", SELF)?.topology.members.length ?? view.get("peer", SELF)?.total ?? 0;

/** Undefined for the database of a peer that was never initialized. Throws where a row does not hold. */
export const storedFacts = (view: RowView, crypto: Crypto): StoredFacts | undefined => {
  const peer = view.get("peer", SELF);
  const head = view.get("head", SELF);
  if (peer === undefined || head === undefined) return undefined;
  const topology = view.get("topology", SELF)?.topology;
  const counters = view.get("counters", SELF);
  return {
    peerId: peer.peerId,
    identityKey: peer.identityKey,
    cluster: topology && {
      clusterId: topology.clusterId,
      epoch: topology.epoch,
      topologyDigest: topologyDigest(crypto, topology),
      development: topology.development,
    },
    incarnation: counters?.incarnation ?? 0,
    batchNo: counters?.batchNo ?? 0,
    auditSeq: counters?.auditSeq ?? 0,
    approvers: counters?.approvers ?? 0,
    transactions: head.transactions,
    rows: head.rows,
  };
};
