/** S33: one seed is one run, in every process and on every Node, moment by moment. `npm run sim:determinism` asks a thousand. */
import { expect, it } from "vitest";
import { sameHashes } from "../../sim/checkers/S33.ts";
import { runSeed } from "../../sim/run/Simulation.ts";
import type { Tampering } from "../../sim/world/Tampering.ts";
import { firstDifference } from "../determinism/Difference.ts";
import { tellSeed } from "../determinism/Moment.ts";
import { comparisonLines, compareProcesses, SECOND_NODE } from "../determinism/Processes.ts";

/** All three tiers are among them. */
const SEEDS = { first: 7, last: 16 };
const STEPS = 20;

it(`repeats every seed in two processes, and in a third of the Node that ${SECOND_NODE} names`, async ({
  annotate,
}) => {
  const second = process.env[SECOND_NODE];
  await annotate(
    second === undefined ? `skipped the second Node: ${SECOND_NODE} is not set` : `second Node: ${second}`,
  );
  const comparison = await compareProcesses(SEEDS, STEPS, second === undefined ? [] : [second]);
  expect(comparisonLines(SEEDS, comparison).join("\n")).toMatch(
    /^seeds 7\.\.16: \d{4,} moments, the same in [23] processes$/,
  );
}, 180_000);

/** A token is judged otherwise by turns that no seed decides. */
const forgetful = (): Tampering => {
  let count = 0;
  return { judged: (_world, _peer, check) => (++count % 9 === 0 ? { _tag: "Unavailable" } : check) };
};
const planted = { seed: 1, schedule: "calm", peers: 3, steps: 200, crypto: "fast" } as const;

/** A run as a process would tell it, in pieces of some bytes that end anywhere. */
async function* told(lines: ReadonlyArray<string>, piece: number): AsyncGenerator<Uint8Array> {
  const text = Buffer.from(lines.map((line) => `${line}\n`).join(""));
  for (let at = 0; at < text.length; at += piece) yield await Promise.resolve(text.subarray(at, at + piece));
}

const linesOf = (tampering?: Tampering): ReadonlyArray<string> => {
  const lines: Array<string> = [];
  tellSeed(planted, (line) => lines.push(line), tampering);
  return lines;
};

it("finds the first moment that a run of other luck differs in, and prints it", async () => {
  const bug = forgetful();
  const [one, another] = [linesOf(bug), linesOf(bug)];
  const at = one.findIndex((line, index) => line !== another[index]);
  expect(at).toBeGreaterThan(0);
  for (const [left, right] of [
    [97, 1_000_000],
    [1_000_000, 1],
    [4_096, 4_095],
  ] as const) {
    const outcome = await firstDifference([told(one, left), told(one, right), told(another, right)]);
    expect(outcome).toEqual({ which: 2, before: one[at - 1], expected: one[at], found: another[at] });
    if ("lines" in outcome) return;
    const text = comparisonLines({ first: 1, last: 1 }, { nodes: ["node A", "node B", "node C"], outcome });
    expect(text.slice(-3)).toEqual([
      `  before:  ${one[at - 1]}`,
      `  in one:  ${one[at]}   (node A)`,
      `  another: ${another[at]}   (node C)`,
    ]);
  }
});

it("counts what texts have in common, and notices one that ends early", async () => {
  const lines = ["one", "two", "three"];
  const compared = (...texts: ReadonlyArray<ReadonlyArray<string>>) =>
    firstDifference(texts.map((text, index) => told(text, 2 + index)));
  expect(await compared(lines, lines, lines)).toEqual({ lines: 3 });
  expect(await compared(lines, lines.slice(0, 2))).toEqual({
    which: 1,
    before: "two",
    expected: "three",
    found: undefined,
  });
  expect(await compared([], ["one"])).toEqual({ which: 1, before: undefined, expected: undefined, found: "one" });
});

it("has other moments from a message or a row on that has other content", () => {
  const honest = linesOf();
  const renamed = linesOf({
    written: (_world, _peer, writes) =>
      writes.map((each) =>
        each.op !== "remove" && each.table === "audit"
          ? { ...each, row: { ...each.row, timestamp: each.row.timestamp + 1 } }
          : each,
      ),
  });
  const at = honest.findIndex((line, index) => line !== renamed[index]);
  expect(honest[at]).toMatch(/writes \d+ rows, content/);
});

it("has the same hash whether lines are kept or not", () => {
  const lines: Array<string> = [];
  const traced = runSeed({ seed: 3 }, { line: (line) => lines.push(line) });
  expect(traced.hash).toBe(runSeed({ seed: 3 }).hash);
  expect(lines.length).toBeGreaterThan(traced.events);
});

it("notices a run that depends on anything else than its seed", () => {
  const tampering = forgetful();
  const run = () => runSeed(planted, { tampering }).hash;
  expect(sameHashes([1], [run()], [run()])?.id).toBe("S33");
});
