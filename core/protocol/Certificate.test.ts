import { describe, expect, it } from "vitest";
import { crypto } from "../../properties/cluster/Cluster.ts";
import { forgedBy } from "../../properties/cluster/Forging.ts";
import { prepared } from "../../properties/cluster/Prepared.ts";
import { stateOf } from "../../properties/cluster/Restoring.ts";
import type { Digest } from "../base/Digest.ts";
import { type Certificate, isComplete, isReceiptFor } from "./Certificate.ts";
import type { BatchHeader, SignedStatement, Statement } from "./Statement.ts";
import type { PeerId } from "./Topology.ts";

const { cluster, preparation } = prepared();
const { id, proposal, own } = preparation;
const {
  cluster: { membership },
} = stateOf(cluster, 2);
if (membership === undefined) throw new Error("the cluster is not founded");
const OTHER = "ab".repeat(32) as Digest;

/** A receipt by a member, with some fields of statement or batch changed. */
const receiptBy = (peerId: PeerId, change: Partial<Statement> = {}, header: Partial<BatchHeader> = {}) =>
  forgedBy(cluster, peerId, own, change, header);

describe("a receipt", () => {
  const counts = (signed: SignedStatement): boolean => isReceiptFor(crypto, membership, id, proposal, signed);

  it("counts up to the proposal's last millisecond, by the clock of its signer", () => {
    expect(counts(receiptBy(3))).toBe(true);
    expect(counts(receiptBy(3, {}, { signedAt: proposal.expiresAt }))).toBe(true);
    expect(counts(receiptBy(3, {}, { signedAt: proposal.expiresAt + 1 }))).toBe(false);
  });

  it.each<readonly [string, Partial<Statement>, Partial<BatchHeader>]>([
    ["is a vote of another kind", { kind: "COMMIT_ACK" }, {}],
    ["is about another proposal", { proposalId: OTHER }, {}],
    ["names another slot", { seq: proposal.seq + 1 }, {}],
    ["was made for other members", { topologyDigest: OTHER }, {}],
    ["is of another incarnation of its signer than the proposal pins", {}, { incarnation: own.header.incarnation + 1 }],
    ["is said to be another member's", {}, { peerId: 2 }],
  ])("does not count where it %s", (_what, change, header) => {
    expect(counts(receiptBy(3, change, header))).toBe(false);
  });
});

describe("a certificate", () => {
  const certificate: Certificate = { proposal, receipts: [1, 2, 3].map((peerId) => receiptBy(peerId)) };
  const holds = (change: Partial<Certificate>): boolean =>
    isComplete(crypto, membership, id, { ...certificate, ...change });

  it("is one receipt of every member, in member order", () => {
    expect(holds({})).toBe(true);
  });

  it.each<readonly [string, Partial<Certificate>]>([
    ["whose proposal names other members", { proposal: { ...proposal, topologyDigest: OTHER } }],
    ["with a receipt missing", { receipts: certificate.receipts.slice(0, 2) }],
    ["with a receipt too many", { receipts: [...certificate.receipts, receiptBy(3)] }],
    ["with one member's receipt in place of another's", { receipts: [1, 2, 2].map((peerId) => receiptBy(peerId)) }],
    ["in another order", { receipts: certificate.receipts.toReversed() }],
    ["with a receipt that does not count", { receipts: [receiptBy(1), receiptBy(2), receiptBy(3, { seq: 0 })] }],
  ])("is none %s", (_what, change) => {
    expect(holds(change)).toBe(false);
  });
});
