import { describe, expect, it } from "vitest";
import type { Write } from "../../core/Tables.ts";
import type { Budget } from "./Configuration.ts";
import { type ExploreOptions, explore } from "./Explorer.ts";
import type { Tampering } from "../world/Tampering.ts";

const NOTHING: Budget = { crashes: 0, losses: 0, duplicates: 0, timers: 0, pauses: 0, lies: 0 };
const scope = (budget: Partial<Budget>, more: Partial<ExploreOptions> = {}): ExploreOptions => ({
  world: "registrations",
  peers: 3,
  requests: 2,
  mostStates: 1_000_000,
  budget: { ...NOTHING, ...budget },
  ...more,
});

type Written = NonNullable<Tampering["written"]>;

const withoutRows =
  (isDropped: (write: Write) => boolean): Written =>
  (_world, _peer, writes) =>
    writes.filter((write) => !isDropped(write));

describe("every interleaving of three members and two conflicting requests", () => {
  it.each([
    ["nothing goes wrong", {}],
    ["one message is lost", { losses: 1 }],
    ["one message arrives twice", { duplicates: 1 }],
  ] as const)("holds when %s", (_name, budget) => {
    const found = explore(scope(budget));
    expect(found.failure?.violation.message).toBeUndefined();
    expect(found.complete).toBe(true);
    expect(found.ends).toBeGreaterThan(1);
  });

  it("holds when a process ends at any moment, for one request", () => {
    const found = explore(scope({ crashes: 1 }, { requests: 1 }));
    expect(found.failure?.violation.message).toBeUndefined();
    expect(found.complete).toBe(true);
  });

  it("sees the same states in every search", () => {
    const [first, second] = [explore(scope({ losses: 1 })), explore(scope({ losses: 1 }))];
    expect(second).toEqual(first);
  });

  it("says that it is not complete when its bound ends it", () => {
    const found = explore(scope({}, { mostStates: 50 }));
    expect(found.complete).toBe(false);
    expect(found.states).toBeGreaterThanOrEqual(50);
  });

  it("ends when there is no time left", () => {
    const found = explore(scope({ crashes: 1 }, { isTimeUp: () => true }));
    expect(found.complete).toBe(false);
    expect(found.failure).toBeUndefined();
  });
});

describe("a planted bug", () => {
  it.each<readonly [string, string, Partial<Budget>, Written]>([
    [
      "a member forgets what it prepared and ends before it is decided",
      "S13",
      { crashes: 1 },
      withoutRows(({ table, op }) => table === "preparations" && op === "insert"),
    ],
    [
      "a member stores what it applied, but not the approver",
      "S14",
      {},
      withoutRows(({ table, op }) => table === "approvers" && op === "insert"),
    ],
    [
      "a member that signs a receipt stores a refusal of the same proposal",
      "S1",
      {},
      (_world, _peer, writes) => [
        ...writes,
        ...writes.flatMap((write): ReadonlyArray<Write> => {
          if (write.table !== "preparations" || write.op !== "insert") return [];
          const { proposal, writerReceipt, own } = write.row;
          return [{ op: "insert", table: "refusals", key: write.key, row: { proposal, writerReceipt, refusal: own } }];
        }),
      ],
    ],
  ])("is found: %s", (_name, id, budget, written) => {
    const { failure } = explore(scope(budget, { tampering: { written } }));
    expect(failure?.violation.id).toBe(id);
    expect(failure?.story.length).toBeGreaterThan(3);
  });
});
