import { describe, expect, it } from "vitest";
import { type Cluster, founded } from "../../properties/cluster/Cluster.ts";
import { stateOf } from "../../properties/cluster/Restoring.ts";
import { CAPACITIES } from "../base/Capacities.ts";
import type { Message } from "../Message.ts";
import type { PeerId } from "./Topology.ts";

/** A cluster whose member 3 withholds its acknowledgements, and the votes of every member. */
const withheld = () => {
  const cluster = founded();
  const details: Array<string> = [];
  cluster.tamper = (from, _to, message): Message | undefined => {
    if (message._tag === "Votes") details.push(...message.statements.map(({ statement }) => statement.detail));
    return from === 3 && message._tag === "CommitAcks" ? undefined : message;
  };
  cluster.register(1, "first", "alice", 7);
  cluster.settle();
  return { cluster, details };
};

/** Puts copies of a peer's one open delivery beside it, until there are so many. */
const fill = (cluster: Cluster, peerId: PeerId, count: number): void => {
  const {
    undecided: { outbox },
  } = stateOf(cluster, peerId);
  const [open] = outbox.values();
  if (!(outbox instanceof Map) || open === undefined) throw new Error("nothing is open there");
  for (let seq = 10_000; outbox.size < count; seq += 1) outbox.set(seq, { ...open, seq });
};

describe("a member that acknowledges nothing", () => {
  it("does not fill the memory of the writer: past so many nothing new is begun", () => {
    const { cluster } = withheld();
    fill(cluster, 1, CAPACITIES.unacknowledged - 1);
    cluster.register(1, "last", "bob", 8);
    cluster.settle();
    expect(stateOf(cluster, 3).registry.approvers).toBe(2);
    expect(stateOf(cluster, 1).undecided.outbox.size).toBe(CAPACITIES.unacknowledged);
    cluster.register(1, "more", "carol", 9);
    cluster.settle();
    expect(cluster.answers.get("more")).toMatchObject({
      rejection: { code: "APPROVER_REPLICATION_UNAVAILABLE", outcomeUnknown: false },
    });
    expect(stateOf(cluster, 1).undecided.outbox.size).toBe(CAPACITIES.unacknowledged);
  });

  it("nor does a writer that says of nothing that it is acknowledged fill the memory of the members", () => {
    const { cluster, details } = withheld();
    fill(cluster, 2, CAPACITIES.unacknowledged - 1);
    cluster.register(1, "last", "bob", 8);
    cluster.settle();
    expect(details.filter((detail) => detail !== "")).toEqual([]);
    cluster.register(1, "more", "carol", 9);
    cluster.settle();
    expect(details.filter((detail) => detail !== "")).toContain("UNACKNOWLEDGED");
    expect(stateOf(cluster, 2).undecided.outbox.size).toBe(CAPACITIES.unacknowledged);
  });
});
