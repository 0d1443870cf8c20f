import { describe, expect, it } from "vitest";
import { plantedBugNamed } from "../bugs/PlantedBugs.ts";
import type { Budget, Scope } from "./Configuration.ts";
import { type ExploreOptions, explore } from "./Explorer.ts";
import { fingerprint, joined } from "./Fingerprint.ts";
import { startOf } from "./Founding.ts";
import { VisitedSet } from "./VisitedSet.ts";

const NOTHING: Budget = { crashes: 0, losses: 0, duplicates: 0, timers: 0, pauses: 0, lies: 0 };
const scope = (budget: Partial<Budget>, more: Partial<ExploreOptions> = {}): ExploreOptions => ({
  world: "signing",
  peers: 3,
  requests: 2,
  mostStates: 1_000_000,
  budget: { ...NOTHING, ...budget },
  ...more,
});

describe("every interleaving of two signatures of two of three members", () => {
  it.each([
    ["nothing goes wrong", {}],
    ["one message is lost", { losses: 1 }],
    ["two messages arrive twice", { duplicates: 2 }],
    ["a process ends at any moment", { crashes: 1 }],
    ["a coordinator lies once", { lies: 1 }],
  ] as const)("holds when %s", (_name, budget) => {
    const found = explore(scope(budget));
    expect(found.failure?.violation.message).toBeUndefined();
    expect(found.complete).toBe(true);
    expect(found.ends).toBeGreaterThan(1);
  });

  it("holds when a process ends and a coordinator lies, for one request", () => {
    const found = explore(scope({ crashes: 1, lies: 1 }, { requests: 1 }));
    expect(found.failure?.violation.message).toBeUndefined();
    expect(found.complete).toBe(true);
  });
});

/** Everything that callers see and members consent to, in any configuration. */
const visibleIn = (options: Scope): { readonly states: number; readonly visible: ReadonlySet<string> } => {
  const { first, moves } = startOf(options, {});
  const seen = new VisitedSet();
  const visible = new Set<string>();
  const stack = [first];
  seen.add(first.print);
  for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
    const consents = at.members.map(({ rows }) => [...rows.entries("consents")]);
    const { left, right } = joined(at.spoken.print, fingerprint([at.calls, consents]));
    visible.add(`${left} ${right}`);
    for (const after of moves.of(at).map((move) => move.make())) if (seen.add(after.print)) stack.push(after);
  }
  return { states: seen.size, visible };
};

describe("messages that are not about signatures", () => {
  it("make no difference to them, whenever they come", () => {
    const options = scope({ crashes: 1 }, { requests: 1 });
    const [full, first] = [visibleIn({ ...options, isFull: true }), visibleIn(options)];
    expect(first.states).toBeLessThan(full.states);
    expect([...first.visible].toSorted()).toEqual([...full.visible].toSorted());
  });
});

describe("a planted bug", () => {
  it.each([
    ["nonce-used-again", "K1"],
    ["share-before-consent", "K2"],
    ["consent-any-message", "K2"],
    ["signature-of-one", "K4"],
    ["signature-unverified", "K14"],
  ])("is found: %s", (name, id) => {
    const { failure } = explore(scope({}, { tampering: plantedBugNamed(name)?.tampering() }));
    expect(failure?.violation.id).toBe(id);
    expect(failure?.story.length).toBeGreaterThan(2);
  });
});
