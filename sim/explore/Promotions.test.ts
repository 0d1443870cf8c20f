import { describe, expect, it } from "vitest";
import type { Write } from "../../core/Tables.ts";
import { plantedBugNamed } from "../bugs/PlantedBugs.ts";
import type { Tampering } from "../world/Tampering.ts";
import type { Budget } from "./Configuration.ts";
import { type ExploreOptions, explore } from "./Explorer.ts";

const NOTHING: Budget = { crashes: 0, losses: 0, duplicates: 0, timers: 0, pauses: 0, lies: 0 };
const scope = (budget: Partial<Budget>, more: Partial<ExploreOptions> = {}): ExploreOptions => ({
  world: "promotion",
  peers: 2,
  requests: 1,
  mostStates: 1_000_000,
  budget: { ...NOTHING, ...budget },
  ...more,
});

describe("every interleaving of a promotion", () => {
  it.each([
    ["a caller registers meanwhile", {}, {}],
    ["a process ends at any moment", { crashes: 1 }, {}],
    ["two processes end, without a caller", { crashes: 2 }, { requests: 0 }],
    [
      "messages are lost, come twice and are said again early",
      { losses: 1, duplicates: 1, timers: 1 },
      { requests: 0 },
    ],
    ["there are two targets", { losses: 1 }, { peers: 3, requests: 0 }],
  ] as const)("holds when %s", (_name, budget, more) => {
    const found = explore(scope(budget, more));
    expect(found.failure?.violation.message).toBeUndefined();
    expect(found.complete).toBe(true);
    expect(found.ends).toBeGreaterThan(1);
  });
});

type Written = NonNullable<Tampering["written"]>;

const withoutRows =
  (slot: number, isDropped: (write: Write) => boolean): Written =>
  (_world, peer, writes) =>
    peer.slot === slot ? writes.filter((write) => !isDropped(write)) : writes;

const [TARGET, SOURCE] = [1, 2];

describe("a planted bug", () => {
  it.each([
    ["changes-while-pinned", "L6"],
    ["takes-part-when-decided", "L6"],
    ["pins-in-memory", "S27"],
    ["pins-another-draft", "S27"],
    ["accepts-in-memory", "S27"],
    ["forgets-the-old-epoch", "L6"],
  ])("is found: %s", (name, id) => {
    const { failure } = explore(scope({}, { tampering: plantedBugNamed(name)?.tampering() }));
    expect(failure?.violation.id).toBe(id);
    expect(failure?.story.length).toBeGreaterThan(5);
  });

  it.each<readonly [string, string, Written]>([
    [
      "a source applies something in the old epoch as it pins",
      "S20",
      (_world, { store }, writes) => {
        const isPinning = writes.some(({ table, op }) => table === "promotion" && op === "insert");
        const applied = isPinning ? store.scan("certificates", "", 1) : [];
        return [
          ...writes,
          ...applied.map(({ row }): Write => ({ op: "insert", table: "certificates", key: "again", row })),
        ];
      },
    ],
    [
      "a target believes at once that it has the registry",
      "S26",
      (_world, { slot }, writes) =>
        writes.map((write) =>
          slot === TARGET && write.table === "restore" && write.op !== "remove"
            ? { ...write, row: { ...write.row, recovering: false } }
            : write,
        ),
    ],
    [
      "a source forgets an approver that it has told its caller of",
      "S14",
      withoutRows(SOURCE, ({ table }) => table === "approvers"),
    ],
  ])("is found: %s", (_name, id, written) => {
    expect(explore(scope({}, { tampering: { written } })).failure?.violation.id).toBe(id);
  });

  it.each<readonly [string, Written]>([
    ["a target does not store what it has signed", withoutRows(TARGET, ({ table }) => table === "genesis")],
    ["a source does not store the new epoch", withoutRows(SOURCE, ({ table }) => table === "topology")],
    [
      "a source does not store that targets have to prove its memory",
      withoutRows(SOURCE, ({ table }) => table === "seen"),
    ],
  ])("is found only where a process ends: %s", (_name, written) => {
    expect(explore(scope({}, { tampering: { written } })).failure).toBeUndefined();
    expect(explore(scope({ crashes: 1 }, { tampering: { written } })).failure?.violation.id).toBe("L6");
  });
});
