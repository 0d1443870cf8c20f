import { describe, expect, it } from "vitest";
import { crypto, founded } from "../../properties/cluster/Cluster.ts";
import { declare, register } from "../../properties/cluster/Restoring.ts";
import { watched } from "../../properties/cluster/Watching.ts";
import { SELF } from "../../core/protocol/Tables.ts";
import { countOf, firstPeers, Ghost, maskOf, MOST_PEERS, slotsOf } from "./Ghost.ts";

describe("sets of peers", () => {
  it.each([0, 1, 3, 31, MOST_PEERS])("hold the first %d", (count) => {
    const expected = Array.from({ length: count }, (_, index) => index + 1);
    expect(slotsOf(firstPeers(count))).toEqual(expected);
    expect(expected.reduce((mask, slot) => mask | maskOf(slot), 0)).toBe(firstPeers(count));
    expect(countOf(firstPeers(count))).toBe(count);
  });

  it("hold the last peer alone, and everybody but it", () => {
    expect(slotsOf(maskOf(MOST_PEERS))).toEqual([MOST_PEERS]);
    expect(firstPeers(MOST_PEERS) & ~maskOf(MOST_PEERS)).toBe(firstPeers(MOST_PEERS - 1));
  });
});

describe("what a restored member had applied", () => {
  const cluster = founded();
  register(cluster, "alice", 7);
  const [ref = ""] = cluster.tables.get(1)?.get("approvers")?.keys() ?? [];
  const stored = cluster.row(1, "approvers", ref);
  declare(cluster, 2);
  cluster.settle();
  const restore = cluster.row(2, "restore", SELF);
  if (stored === undefined || restore === undefined) throw new Error("nothing was registered, or nobody was restored");

  /** An approver that these peers hold, the second of whom is then restored. */
  const afterRestore = (...holders: ReadonlyArray<number>): Ghost => {
    const ghost = new Ghost(crypto, cluster.total);
    for (const slot of holders)
      ghost.flushed(watched(cluster, slot), [{ op: "insert", table: "approvers", key: stored.ref, row: stored }]);
    ghost.flushed(watched(cluster, 2), [
      { op: "insert", table: "restore", key: SELF, row: { ...restore, recovering: true } },
    ]);
    return ghost;
  };

  it("is there no more where nobody else had, and may be made anew at another time", () => {
    expect(afterRestore(2).subjects.has(stored.ref)).toBe(false);
  });

  it("is there as long as somebody else has", () => {
    expect(afterRestore(2, 1).subjects.get(stored.ref)?.holders).toBe(maskOf(1));
  });
});
