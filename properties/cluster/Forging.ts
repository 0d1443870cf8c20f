/** Statements that lying members, or their other incarnations, would sign on a test cluster, with their real keys. */
import { NEWEST } from "../../core/codec/Versioned.ts";
import { proposalId, type Proposal } from "../../core/protocol/Proposal.ts";
import {
  type Restoration,
  RESTORATION_TAG,
  restorationCodec,
  type SignedRestoration,
} from "../../core/protocol/Restoration.ts";
import { BATCH_TAG, batchHeaderCodec, batchTree, type SignedStatement } from "../../core/protocol/Statement.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import { type Cluster, crypto } from "./Cluster.ts";
import { stateOf } from "./Restoring.ts";

const keyOf = (cluster: Cluster, peerId: PeerId) => {
  const key = cluster.keys.get(peerId);
  if (key === undefined) throw new Error("no such peer");
  return key;
};

/**
 * A statement like another one, alone in a batch. It has the number of the one that is there, so that no peer takes it
 * for the newest of its signer.
 *
 * @param change what its statement says instead
 * @param header what its batch says instead
 */
export const forgedBy = (
  cluster: Cluster,
  peerId: PeerId,
  like: SignedStatement,
  change: Partial<SignedStatement["statement"]> = {},
  header: Partial<SignedStatement["header"]> = {},
): SignedStatement => {
  const statement = { ...like.statement, ...change };
  const { root } = batchTree(crypto, [statement]);
  const signedHeader = { ...like.header, peerId, size: 1, root, ...header };
  const signature = keyOf(cluster, peerId).sign(BATCH_TAG, batchHeaderCodec, signedHeader);
  return { statement, index: 0, proof: [], header: signedHeader, signature };
};

/** A receipt of the writer for its present claim. */
export const receiptOfWriter = (cluster: Cluster, proposal: Proposal, like: SignedStatement): SignedStatement =>
  forgedBy(cluster, 1, like, { proposalId: proposalId(crypto, proposal), seq: proposal.seq });

/** The announcement of an incarnation that a member has not begun; `change` says how it differs from a true one. */
export const announcedBy = (
  cluster: Cluster,
  peerId: PeerId,
  incarnation: number,
  change: Partial<Restoration> = {},
): SignedRestoration => {
  const topologyDigest = stateOf(cluster, peerId).cluster.membership?.digest;
  if (topologyDigest === undefined) throw new Error("the cluster is not founded");
  const asTold = { version: NEWEST, topologyDigest, peerId, incarnation, recoveryId: topologyDigest };
  const restoration: Restoration = { ...asTold, ...change };
  const signature = keyOf(cluster, peerId).sign(RESTORATION_TAG, restorationCodec, restoration);
  return { restoration, signature };
};
