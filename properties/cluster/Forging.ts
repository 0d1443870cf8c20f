/** What members that lie would sign on a test cluster: statements of their own making, with their real keys. */
import { proposalId, type Proposal } from "../../core/protocol/Proposal.ts";
import { BATCH_TAG, batchHeaderCodec, batchTree, type SignedStatement } from "../../core/protocol/Statement.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import { type Cluster, crypto } from "./Cluster.ts";

/**
 * A statement like another one, alone in a batch. It has the number of the one that is there, so that nobody takes
 * it for the newest of its signer.
 *
 * @param change what its statement says instead
 * @param header what its batch says instead
 */
export const forgedBy = (
  cluster: Cluster,
  peerId: PeerId,
  like: SignedStatement,
  change: Partial<SignedStatement["statement"]>,
  header: Partial<SignedStatement["header"]> = {},
): SignedStatement => {
  const statement = { ...like.statement, ...change };
  const { root } = batchTree(crypto, [statement]);
  const signedHeader = { ...like.header, peerId, size: 1, root, ...header };
  const signer = cluster.keys.get(peerId);
  if (signer === undefined) throw new Error("no such peer");
  return {
    statement,
    index: 0,
    proof: [],
    header: signedHeader,
    signature: signer.sign(BATCH_TAG, batchHeaderCodec, signedHeader),
  };
};

/** A receipt of the writer for whatever it now claims. */
export const receiptOfWriter = (cluster: Cluster, proposal: Proposal, like: SignedStatement): SignedStatement =>
  forgedBy(cluster, 1, like, { proposalId: proposalId(crypto, proposal), seq: proposal.seq });
