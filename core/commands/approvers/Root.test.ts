import { expect, it } from "vitest";
import { crypto } from "../../../properties/cluster/Cluster.ts";
import type { Crypto } from "../../crypto/Crypto.ts";
import type { Digest } from "../../base/Digest.ts";
import type { Rows } from "../../Tables.ts";
import { replaceApprover } from "./Root.ts";

const row: Rows["approvers"] = {
  id: "alice",
  ref: `alice@sha256:${"ab".repeat(32)}`,
  descriptor: "{}",
  keyIdentity: "11".repeat(32) as Digest,
  metadata: [["team", "a"]],
  revision: 1,
  createdAt: 1_000,
  updatedAt: 1_000,
};

it("an approver is told anew by whoever computes digests otherwise", () => {
  const OTHER = "ab".repeat(32) as Digest;
  const other: Crypto = { ...crypto, digest: () => OTHER };
  const rootBy = (by: Crypto): Digest => by.setDigest(replaceApprover(by, by.emptySet, undefined, row));
  const before = rootBy(crypto);
  expect(rootBy(other)).toBe(crypto.setDigest(crypto.replaceInSet(crypto.emptySet, undefined, OTHER)));
  expect(rootBy(crypto)).toBe(before);
});
