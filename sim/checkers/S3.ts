/** S3: what is applied has a valid receipt of every member, at the pinned incarnations, signed in time. */
import type { Digest } from "../../core/base/Digest.ts";
import type { Rows, Write } from "../../core/Tables.ts";
import type { Checker } from "./Checker.ts";
import type { Ghost } from "./Ghost.ts";
import { generationIn } from "../models/keys/KeyEffects.ts";
import type { Subject } from "../models/Subject.ts";
import { ofSubjects } from "./SubjectHooks.ts";
import { Violation } from "../base/Violation.ts";
import { votesOn } from "./Votes.ts";

type Generation = Rows["generations"];

const fault = (ghost: Ghost, id: string, { proposal, receipts }: Rows["certificates"]): string | undefined => {
  const membership = ghost.signersFor(proposal);
  if (membership === undefined) return "no topology is pinned anywhere";
  if (receipts.length !== membership.peerIds.length)
    return `its certificate holds ${receipts.length} receipts of ${membership.peerIds.length} members`;
  let index = -1;
  for (const peerId of membership.peerIds) {
    index += 1;
    const receipt = receipts[index];
    if (receipt === undefined || receipt.header.peerId !== peerId) return `the receipt of member ${peerId} is missing`;
    const { statement, header } = receipt;
    if (statement.kind !== "RECEIPT" || statement.proposalId !== id || statement.seq !== proposal.seq)
      return `what stands for the receipt of member ${peerId} is a ${statement.kind} of ${statement.proposalId}`;
    if (statement.topologyDigest !== membership.digest) return `member ${peerId} signed for another topology`;
    if (header.incarnation !== proposal.incarnations[index]) return `member ${peerId} signed at another incarnation`;
    if (header.signedAt > proposal.expiresAt)
      return `member ${peerId} signed at ${header.signedAt}, after it expired at ${proposal.expiresAt}`;
    if (!ghost.isLying(peerId) && !ghost.isReceipt(statement.proposalId, receipt))
      return `member ${peerId} never made such a receipt durable`;
  }
  return undefined;
};

/** Whether a transaction applies what makes this revision of a subject. */
const isCertified = (
  { product }: Ghost,
  writes: ReadonlyArray<Write>,
  subject: Subject,
  { key, op }: { readonly key: string; readonly op: string },
): boolean =>
  writes.some((other) => {
    if (other.table !== "certificates" || other.op !== "insert") return false;
    const change = product.changeOf(other.row.proposal);
    return change.subject === subject && change.ref === key && (change.revision === 1) === (op === "insert");
  });

/** Whether a transaction applies what makes this generation of a key. */
const isGenerationCertified = (writes: ReadonlyArray<Write>, { keyId, generation }: Generation): boolean =>
  writes.some((other) => {
    const made = other.table === "certificates" && other.op === "insert" ? generationIn(other.row.proposal) : undefined;
    return made?.keyId === keyId && made.generation === generation;
  });

export const S3 = (ghost: Ghost): Checker => ({
  id: "S3",
  written: {
    certificates: ({ slot, honest }, write) => {
      if (!honest || write.op === "remove") return;
      const found = fault(ghost, write.key, write.row);
      if (found !== undefined)
        throw new Violation(
          "S3",
          `peer ${slot} applied proposal ${write.key} (${votesOn(ghost, write.key as Digest)})`,
          `${found}, and what is applied needs a receipt of every member in time`,
        );
    },
    generations: ({ slot, honest }, write, writes) => {
      if (honest && write.op === "insert" && !isGenerationCertified(writes, write.row))
        throw new Violation(
          "S3",
          `peer ${slot} stored generation ${write.row.generation} of ${write.row.keyId}`,
          "no certificate of it came in the same transaction, and nothing else makes a generation active",
        );
    },
    ...ofSubjects(ghost.product, (subject) => ({ slot, honest }, write, writes) => {
      if (honest && write.op !== "remove" && !isCertified(ghost, writes, subject, write))
        throw new Violation(
          "S3",
          `peer ${slot} stored ${subject.name} ${write.key}`,
          "no certificate of that revision came in the same transaction, and only a certificate changes what is stored",
        );
    }),
  },
});
