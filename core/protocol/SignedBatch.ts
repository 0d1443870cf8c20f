/** How a peer signs: all statements of one step under one header, chained to the batch before (protocol.md 2). */
import { InvariantViolation } from "../base/Invariant.ts";
import { isPresent } from "./Mode.ts";
import {
  BATCH_TAG,
  batchHash,
  batchHeaderCodec,
  batchTree,
  type SignedStatement,
  type Statement,
} from "./Statement.ts";
import { numberKey } from "./Tables.ts";
import type { Step } from "./Step.ts";

/** A statement before it has a batch: topology and epoch are the step's own. */
export type Draft = Pick<Statement, "kind" | "proposalId" | "seq" | "detail">;

/**
 * Signs statements as the step's next batch: one header, one signature.
 *
 * @returns them in the same order; throws {@link InvariantViolation} where the peer's mode allows none of them
 */
export const signBatch = (step: Step, drafts: ReadonlyArray<Draft>): ReadonlyArray<SignedStatement> => {
  const { crypto, signer, now } = step.context;
  const {
    signed: { chain },
  } = step.state;
  const { mode } = step;
  if (signer === undefined || !isPresent(mode))
    throw new InvariantViolation("S28", `a peer that must not sign was asked to: it is ${mode}`);
  if (mode === "promoting")
    throw new InvariantViolation("S20", "a peer was asked to sign before its new cluster has its registry");
  if (mode === "joining" || mode === "announcing")
    throw new InvariantViolation("S22", "a peer that has not joined was asked to sign");
  if (mode === "recovering" && drafts.some(({ kind }) => kind !== "REFUSAL"))
    throw new InvariantViolation("S26", "a peer that is recovering was asked to vote for something");
  const { digest: topologyDigest, topology } = step.membership;
  const { epoch } = topology;
  const { version } = step;
  const statements = drafts.map(({ kind, proposalId, seq, detail }) => ({
    version,
    kind,
    proposalId,
    epoch,
    seq,
    topologyDigest,
    detail,
  }));
  const tree = batchTree(crypto, statements);
  const header = {
    version,
    peerId: step.self,
    incarnation: chain.incarnation,
    batchNo: chain.batchNo + 1,
    prevBatchHash: chain.hash,
    size: statements.length,
    root: tree.root,
    signedAt: now,
  };
  const signature = signer.sign(BATCH_TAG, batchHeaderCodec, header);
  step.draft("signed").chain = {
    incarnation: chain.incarnation,
    batchNo: header.batchNo,
    hash: batchHash(crypto, header),
  };
  step.write({ op: "insert", table: "batches", key: numberKey(header.batchNo), row: { header, signature } });
  return statements.map((statement, index) => ({
    statement,
    index,
    proof: tree.proofs[index] ?? [],
    header,
    signature,
  }));
};
