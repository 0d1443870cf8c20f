import { describe, expect, it } from "vitest";
import { crypto, founded } from "../../properties/cluster/Cluster.ts";
import { forgedBy } from "../../properties/cluster/Forging.ts";
import { stateOf } from "../../properties/cluster/Restoring.ts";
import { openStep } from "../../properties/cluster/OpenStep.ts";
import type { Digest } from "../base/Digest.ts";
import { type BatchHeader, isAuthentic, type SignedStatement, type Statement } from "./Statement.ts";

const cluster = founded();
const {
  cluster: { membership },
} = stateOf(cluster, 2);
if (membership === undefined) throw new Error("the cluster is not founded");
const OTHER = "ab".repeat(32) as Digest;

/** Three statements of peer 2 in one batch. */
const batch = (): ReadonlyArray<SignedStatement> => {
  const step = openStep(cluster, 2);
  const drafts = [1, 2, 3].map((seq) => ({ kind: "REFUSAL" as const, proposalId: OTHER, seq, detail: "EXPIRED" }));
  const all: Array<SignedStatement> = [];
  step.sign(drafts, (signed) => all.push(...signed));
  step.finish(() => undefined);
  return all;
};
const isBelieved = (signed: SignedStatement): boolean => isAuthentic(crypto, membership, signed);

describe("a statement", () => {
  it("convinces by itself, whatever else its batch held", () => {
    expect(batch().map(isBelieved)).toEqual([true, true, true]);
  });

  const [first, second] = batch();
  if (first === undefined || second === undefined) throw new Error("there are three");
  it.each<readonly [string, SignedStatement]>([
    ["with another statement's proof", { ...first, proof: second.proof }],
    ["at another statement's index", { ...first, index: second.index }],
    ["that its signer's batch does not hold", { ...first, statement: { ...first.statement, detail: "CLOCK_SKEW" } }],
    ["with another root in its header", { ...first, header: { ...first.header, root: OTHER } }],
    ["with the signature of another batch", { ...first, signature: forgedBy(cluster, 2, first, {}).signature }],
  ])("convinces nobody %s", (_what, signed) => {
    expect(isBelieved(signed)).toBe(false);
  });

  it.each<readonly [string, Partial<Statement>, Partial<BatchHeader>]>([
    ["made for other members", { topologyDigest: OTHER }, {}],
    ["made for another epoch", { epoch: 2 }, {}],
    ["of somebody who is no member", {}, { peerId: 4 }],
    ["in another member's name", {}, { peerId: 3 }],
  ])("convinces nobody %s, though it is signed", (_what, change, header) => {
    expect(isBelieved(forgedBy(cluster, 2, first, {}))).toBe(true);
    expect(isBelieved(forgedBy(cluster, 2, first, change, header))).toBe(false);
  });
});
