/**
 * What one more command costs, and that all rules apply to it: a command, a message, a timer and a table of this test
 * alone run beside those of the product, with faults, restarts and declared restores, while every checker of the
 * simulator looks on. `npm run sim:module` runs ten thousand seeds of it.
 */
import { describe, expect, it } from "vitest";
import type { Command } from "../../core/protocol/Command.ts";
import { Choices } from "../../sim/base/Choices.ts";
import type { Product } from "../../sim/models/Product.ts";
import { planOf } from "../../sim/run/Planning.ts";
import type { ScheduleName } from "../../sim/schedules/Schedules.ts";
import { Trace } from "../../sim/world/Trace.ts";
import { Workload } from "../../sim/callers/Workload.ts";
import { World } from "../../sim/world/World.ts";
import { leaveNote } from "../modules/notes/LeaveNote.ts";
import { noteSlice } from "../modules/notes/NoteContents.ts";
import { type Note, noteOf, notes, noteTables, refOf } from "../modules/notes/Note.ts";
import { runSeeds } from "../modules/notes/Seeds.ts";
import { productWithNotes } from "../modules/notes/WithNotes.ts";

/** Shorter than in a hunt, so that there are a hundred in a few seconds. */
const STEPS = 250;
const SECOND = 1_000_000;

/** The command, told of every method of it that is called. */
const counting = (called: Set<string>): Partial<Command> =>
  Object.fromEntries(
    Object.entries(leaveNote).flatMap(([name, method]: readonly [string, unknown]) =>
      typeof method === "function"
        ? [
            [
              name,
              (...given: ReadonlyArray<unknown>): unknown => (
                called.add(name), Reflect.apply(method, leaveNote, given)
              ),
            ],
          ]
        : [],
    ),
  );

describe("a command that only a test has", () => {
  const called = new Set<string>();
  const product = productWithNotes({ command: counting(called) });

  it.each<readonly [ScheduleName, number]>([
    ["swarm", 50],
    ["restores-everywhere", 25],
    ["double-declared-restore", 30],
    ["restores-beside-an-end", 20],
    ["silent-preparer", 20],
  ])("holds in %s, in the first %d seeds", (schedule, last) => {
    const { failure, marks } = runSeeds(product, { first: 1, last }, () => ({ schedule, steps: STEPS }));
    expect(failure?.violation.message, `seed ${failure?.seed}`).toBeUndefined();
    expect(marks.entries().find(([name]) => name === "answered Noted")?.[1]).toBeGreaterThan(0);
  });

  it("was asked for everything that a command can be asked for", () => {
    const methods = Object.entries(leaveNote).flatMap(([name, value]) => (typeof value === "function" ? name : []));
    expect(methods.filter((name) => !called.has(name))).toEqual([]);
  });
});

it("every member hears from every other how many notes that one has", () => {
  const choices = new Choices(1);
  const { plan } = planOf({ seed: 1, schedule: "calm", peers: 3, crypto: "codec" }, choices);
  const world = new World(plan, choices, new Trace(), { product: productWithNotes() });
  const workload = new Workload(world);
  for (const peer of world.peers) world.processes.start(peer);
  workload.start();
  world.run(8 * SECOND);
  workload.stop();
  world.run(world.now + 6 * SECOND);
  const slices = world.peers.map(({ state }) => state?.modules[noteSlice.name] as typeof noteSlice.empty);
  const count = slices[0]?.refs.size ?? 0;
  expect(count).toBeGreaterThan(0);
  expect(slices.map(({ heard }) => [...heard].toSorted())).toEqual([
    [
      [2, count],
      [3, count],
    ],
    [
      [1, count],
      [3, count],
    ],
    [
      [1, count],
      [2, count],
    ],
  ]);
});

interface Bug {
  readonly what: string;
  readonly finds: string;
  readonly schedule: ScheduleName;
  readonly product: () => Product;
}

type Leave = typeof leaveNote;
const wrong = (command: Partial<Leave>) => () => productWithNotes({ command: command as Partial<Command> });

const noteIn = (effects: Uint8Array): Note => notes.certified(effects);

const bugs: ReadonlyArray<Bug> = [
  {
    what: "a second note is taken under a name",
    finds: "S30",
    schedule: "calm",
    product: wrong({
      check: (_evaluation, { name, text }) => ({
        _tag: "Possible",
        effectsAt: ({ version, proposedAt }) => notes.encode(noteOf(version, { name, text, leftAt: proposedAt })),
      }),
    }),
  },
  {
    what: "another note is left than the caller's",
    finds: "S30",
    schedule: "calm",
    product: wrong({ check: (evaluation, asked) => leaveNote.check(evaluation, { ...asked, text: `${asked.text}!` }) }),
  },
  {
    what: "nothing is locked",
    finds: "S9",
    schedule: "retry-storm-identical",
    product: wrong({ locksOf: () => [] }),
  },
  {
    what: "whoever comes second is told that its note stands",
    finds: "H1",
    schedule: "calm",
    product: wrong({
      check: (evaluation, asked) => {
        const standing = leaveNote.check(evaluation, asked);
        return standing._tag === "Impossible" ? { _tag: "Done", name: asked.ref } : standing;
      },
    }),
  },
  {
    what: "the registry root is over approvers alone",
    // Its status tells of fewer rows than there are, before all rows are looked at.
    finds: "L4",
    schedule: "calm",
    product: wrong({
      apply: (step, id, effects) => {
        const { registry } = step.state;
        leaveNote.apply(step, id, effects);
        step.state.registry = registry;
      },
    }),
  },
  {
    what: "what is taken over after a restore is not in memory",
    finds: "S13",
    schedule: "rollback-declared",
    product: wrong({
      install: (step, _id, effects) => {
        step.rows(noteTables).put("notes", refOf(noteIn(effects).name), noteIn(effects));
        return true;
      },
    }),
  },
  {
    what: "what was given up stays after a restore",
    finds: "L5",
    schedule: "restores-beside-an-end",
    product: wrong({ undo: () => undefined }),
  },
];

const SEEDS = 20;

describe("the checkers, which know nothing of notes, find it when", () => {
  it.each(bugs)("$what ($finds)", ({ finds, schedule, product }) => {
    const { failure } = runSeeds(product(), { first: 1, last: SEEDS }, () => ({
      schedule,
      peers: 3,
      steps: 1_000,
      crypto: "fast",
    }));
    expect(failure?.violation.id, failure?.violation.message).toBe(finds);
  });
});
