/**
 * Clusters whose peers go on to the next version at one restart or another, with faults, declared restores and every
 * checker looking on. Only tests speak that version: notes, keys and a message have one more field in it.
 */
import { describe, expect, it } from "vitest";
import { nativeBackend } from "../../sim/bin/NativeBackend.ts";
import { runSeed } from "../../sim/run/Simulation.ts";
import type { ScheduleName } from "../../sim/schedules/Schedules.ts";
import { silent } from "../../sim/world/Silent.ts";
import { NEXT_VERSION } from "../modules/notes/Note.ts";
import { compositionWithNotes, productWithNotes } from "../modules/notes/WithNotes.ts";

const PRESENT = NEXT_VERSION - 1;
const both = { lowest: PRESENT, highest: NEXT_VERSION };
const product = productWithNotes({}, both);
const present = compositionWithNotes({ lowest: PRESENT, highest: PRESENT });
const STEPS = 600;

/** In which versions proposals were made, and whether the run went wrong. */
const run = (seed: number, schedule: ScheduleName) => {
  const made = new Set<number>();
  const { violation, marks } = runSeed(
    { seed, schedule, steps: STEPS, crypto: "codec" },
    {
      product,
      backend: nativeBackend,
      // The peers of a cluster begin with it in their first, second or third process.
      runs: ({ slot, process }) => (process >= (slot + seed) % 3 ? product.composition : present),
      observer: {
        ...silent,
        sent: ({ message }) => {
          if (message._tag === "Prepare") for (const { proposal } of message.items) made.add(proposal.version);
        },
      },
    },
  );
  return { violation, made, notes: marks.find(([name]) => name === "answered Noted")?.[1] ?? 0 };
};

describe("clusters on their way to the next version", () => {
  it.each<readonly [ScheduleName, number]>([
    ["swarm", 20],
    ["crash-at-every-sync", 8],
    ["double-declared-restore", 8],
    ["recover-under-load", 8],
  ])("hold in %s, in the first %d seeds", (schedule, last) => {
    let [mixed, notes] = [0, 0];
    for (let seed = 1; seed <= last; seed++) {
      const found = run(seed, schedule);
      expect(found.violation?.message, `seed ${seed}`).toBeUndefined();
      if (found.made.size > 1) mixed += 1;
      notes += found.notes;
    }
    expect(mixed).toBeGreaterThan(0);
    expect(notes).toBeGreaterThan(0);
  });
});
