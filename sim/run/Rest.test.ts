import { describe, expect, it } from "vitest";
import { crypto, founded } from "../../properties/cluster/Cluster.ts";
import { comeBackOn, copyOf, stateOf } from "../../properties/cluster/Restoring.ts";
import { watched } from "../../properties/cluster/Watching.ts";
import { Ghost } from "../checkers/Ghost.ts";
import { unrestOf } from "./Rest.ts";

describe("what a writer had prepared before it came back on an older disk", () => {
  const cluster = founded();
  const old = copyOf(cluster.tables.get(1));
  cluster.tamper = (_from, _to, message) => (message._tag === "Prepare" ? undefined : message);
  cluster.register(1, "nobody hears of it", "alice", 7);
  cluster.settle();
  const [id = ""] = stateOf(cluster, 1).undecided.preparations.keys();
  const row = cluster.row(1, "preparations", id);
  if (row === undefined) throw new Error("nothing was prepared");
  comeBackOn(cluster, 1, old, false);
  cluster.pass(1_500);
  const peers = [1, 2, 3].map((slot) => ({ slot, state: stateOf(cluster, slot) }));

  const prepare = (ghost: Ghost, slot: number): void =>
    ghost.flushed(watched(cluster, slot), [
      { op: "insert", table: "preparations", key: row.own.statement.proposalId, row },
    ]);

  /** Prepared at these peers, the first of which is then on a disk that has it, or not. */
  const wentBack = (isHeld: boolean, ...slots: ReadonlyArray<number>): Ghost => {
    const ghost = new Ghost(crypto, cluster.total);
    for (const slot of slots) prepare(ghost, slot);
    ghost.wentBack(1, () => isHeld);
    return ghost;
  };

  it("needs no decision where nobody else has it", () => {
    expect(unrestOf(wentBack(false, 1), peers)).toBeUndefined();
  });

  it.each([
    ["somebody else has it", wentBack(false, 1, 2)],
    ["the older disk has it too", wentBack(true, 1)],
  ])("is to be decided where %s", (_where, ghost) => {
    expect(unrestOf(ghost, peers)?.[0]).toBe("L1");
  });

  it("is to be decided where it is prepared there once more", () => {
    const ghost = wentBack(false, 1);
    prepare(ghost, 1);
    expect(unrestOf(ghost, peers)?.[0]).toBe("L1");
  });
});
