import { describe, expect, it } from "vitest";
import { Cluster } from "../properties/cluster/Cluster.ts";
import { turnOf } from "../properties/cluster/TurnOf.ts";
import type { Digest } from "./Digest.ts";
import type { Write } from "./Tables.ts";

const cluster = new Cluster(2);
cluster.pass(2_000);

const idle = (): void => undefined;

const insert: Write = { op: "insert", table: "keys", key: "k", row: { id: "a" } };
const replace: Write = { op: "replace", table: "keys", key: "k", row: { id: "b" } };
const remove: Write = { op: "remove", table: "keys", key: "k" };

describe("a turn's writes", () => {
  const cases: ReadonlyArray<readonly [string, ReadonlyArray<Write>, ReadonlyArray<Write>]> = [
    ["one change", [insert], [insert]],
    ["insert, replace", [insert, replace], [{ ...replace, op: "insert" }]],
    ["insert, remove", [insert, remove], []],
    ["replace, remove", [replace, remove], [remove]],
    ["remove, insert", [remove, insert], [{ ...insert, op: "replace" }]],
  ];
  for (const [name, given, kept] of cases)
    it(`become one change of each row: ${name}`, () => {
      const turn = turnOf(cluster, 1);
      for (const write of given) turn.write(write);
      const { writes } = turn.finish(idle);
      expect(writes.filter((each) => each.table === "keys")).toEqual(kept);
      // The counters advance with every transaction, and there is none without a write.
      expect(writes.some((each) => each.table === "counters")).toBe(kept.length > 0);
    });
});

describe("a turn's statements", () => {
  const draft = { kind: "REFUSAL" as const, seq: 1, detail: "X" };
  const [first, second] = ["01".repeat(32) as Digest, "02".repeat(32) as Digest];

  it("share one batch whoever asked for them, and reach who asked in order", () => {
    const turn = turnOf(cluster, 1);
    const seen: Array<string> = [];
    turn.sign([{ ...draft, proposalId: first }], (signed) =>
      seen.push(...signed.map((each) => each.statement.proposalId)),
    );
    turn.sign([{ ...draft, proposalId: second }], (signed) =>
      seen.push(...signed.map((each) => each.statement.proposalId)),
    );
    turn.whenSigned(() => seen.push("end"));
    const { writes, state } = turn.finish(idle);
    expect(seen).toEqual([first, second, "end"]);
    expect(writes.filter((each) => each.table === "batches")).toHaveLength(1);
    expect(state.chain.batchNo).toBe((cluster.peers.get(1)?.state.chain.batchNo ?? 0) + 1);
  });

  it("are never signed by a peer whose records do not hold", () => {
    const turn = turnOf(cluster, 1);
    turn.state.integrityFault = "keys/k";
    turn.sign([{ ...draft, proposalId: first }], idle);
    expect(() => turn.finish(idle)).toThrow("S28");
  });

  it("leave the state they started from untouched", () => {
    const before = cluster.peers.get(1)?.state;
    const copy = JSON.stringify([...(before?.locks ?? [])]);
    const turn = turnOf(cluster, 1);
    turn.edit("locks").set("x", first);
    turn.finish(idle);
    expect(JSON.stringify([...(before?.locks ?? [])])).toBe(copy);
  });
});
