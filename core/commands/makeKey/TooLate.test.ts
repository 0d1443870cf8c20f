/** What callers are told of a key whose change takes longer than they were promised. */
import { expect, it } from "vitest";
import { type Cluster, whole } from "../../../properties/cluster/Cluster.ts";
import { create, destroy, keyed, renew } from "../../../properties/cluster/Keyed.ts";

const ANSWERED_MILLIS = 11_000;

/** A key that all members have, and then messages of some kinds are lost. */
const made = (isLost: (tag: string, to: number) => boolean): Cluster => {
  const cluster = keyed();
  create(cluster, 2, "made");
  cluster.pass(3_000);
  cluster.tamper = (from, to, message) => (isLost(message._tag, to) ? undefined : whole(from, to, message));
  return cluster;
};

/** All that a refusal says. */
const saidTo = (cluster: Cluster, requestId: string): string => {
  const answer = cluster.answers.get(requestId);
  return answer?._tag === "Rejected"
    ? `${answer.rejection.detail} ${answer.rejection.hint}`
    : expect.fail("it was done");
};

it("is an earlier change of the same key, where a destruction is undecided", () => {
  const cluster = made((tag, to) => to === 1 && ["Votes", "SettleAnswer", "Commit", "CommitAcks"].includes(tag));
  destroy(cluster, 1, "destroy", { baseGeneration: 1, generation: 1, final: true });
  cluster.pass(500);
  renew(cluster, 1, "rotate", "rotate", 1);
  cluster.pass(ANSWERED_MILLIS);
  expect(saidTo(cluster, "rotate")).toMatch(/^An earlier change of the same approver or key is still undecided\./);
});

it("is that a member has not said that it stores the change, where a creation is repeated", () => {
  const cluster = made((tag) => tag === "StoredAnswer");
  create(cluster, 2, "again");
  cluster.pass(ANSWERED_MILLIS);
  expect(saidTo(cluster, "again")).toMatch(/^Not every member has said in time that it stores the change\./);
});
