import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { backupWays } from "./BackupWays.ts";
import { drawPlan, endsProcess, faultKinds, planLine, sparedPeer } from "./Plan.ts";

describe("a plan of faults", () => {
  it("is the same for the same seed, and another for another", () => {
    expect(drawPlan(7, 3, 60_000)).toEqual(drawPlan(7, 3, 60_000));
    expect(drawPlan(8, 3, 60_000)).not.toEqual(drawPlan(7, 3, 60_000));
    expect(drawPlan(7, 5, 60_000)).not.toEqual(drawPlan(7, 3, 60_000));
  });

  it("begins with what needs no tool, and has every kind within two minutes", () => {
    fc.assert(
      fc.property(fc.nat(2 ** 31), fc.integer({ min: 2, max: 9 }), (seed, peers) => {
        const kinds = drawPlan(seed, peers, 120_000).map(({ kind }) => kind);
        expect(kinds.slice(0, 4).toSorted()).toEqual(["cut", "flush-lost", "kill", "pause"]);
        expect(new Set(kinds)).toEqual(new Set(faultKinds));
      }),
      { seed: 1, numRuns: 100 },
    );
  });

  it("names peers that there are, two different ones, in the time that there is", () => {
    fc.assert(
      fc.property(fc.nat(2 ** 31), fc.integer({ min: 2, max: 9 }), (seed, peers) => {
        for (const fault of drawPlan(seed, peers, 20_000)) {
          const { at, slot, other } = fault;
          expect(at).toBeLessThan(18_000);
          for (const each of [slot, other]) expect(each >= 1 && each <= peers).toBe(true);
          expect(other).not.toBe(slot);
          expect(planLine(fault)).toMatch(/ s {2}[a-z-]+ +(peer|peers|all peers)/);
        }
      }),
      { seed: 1, numRuns: 100 },
    );
  });

  it("spares one peer's process once every kind has come: its memory is watched", () => {
    fc.assert(
      fc.property(fc.nat(2 ** 31), fc.integer({ min: 2, max: 9 }), (seed, peers) => {
        const later = drawPlan(seed, peers, 300_000).slice(faultKinds.length);
        const ends = later.filter(
          ({ kind, amount }) => endsProcess.has(kind) || (kind === "backup" && backupWays[amount] === "peer killed"),
        );
        expect(ends.map(({ slot }) => slot)).not.toContain(sparedPeer(seed, peers));
        expect(ends.length).toBeGreaterThan(10);
        expect(later.map(({ kind }) => kind)).not.toContain("kill-all");
      }),
      { seed: 1, numRuns: 100 },
    );
  });
});
