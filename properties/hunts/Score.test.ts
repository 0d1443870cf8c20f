import { spawn } from "node:child_process";
import { once } from "node:events";
import { beforeAll, describe, expect, it } from "vitest";
import { bundle, ROOT, WORKER } from "../score/Bundle.ts";
import { refusedBy } from "../score/Compiler.ts";
import { comparing } from "../score/Differences.ts";
import { secondsOf, watch } from "../score/Guard.ts";
import { type Judged, judgeAll, runBaseline } from "../score/Judge.ts";
import { mutate, type Mutant, sourcesOf } from "../score/Mutants.ts";
import { pageLines, percentOf, scoreOf } from "../score/Page.ts";

/** Stands for the whole simulator: three lines of a product, a checker and a count of events. */
const PLANTED = "sim/run/Simulation.ts";
const toy = `
const TABLE = [1, 2];
if (TABLE.length !== 2) throw new Error("the table is not whole");
export const runSeed = ({ seed }, { observer }) => {
  const world = { events: 0 };
  observer.began(world);
  for (;;) {
    world.events += 3;
    observer.ticked();
    if (world.events >= 40) break;
  }
  const next = seed + 1;
  const isLate = seed > 900;
  const words = seed % 2 === 0 ? [] : ["a"];
  const inVain = seed + 2;
  const violation = next <= seed || isLate || seed === 4 ? { id: "S1" } : undefined;
  return { events: 40, hash: words.join(), violation, inVain };
};
export const unused = (left, right) => left - right;
`;
const sources = new Map([[PLANTED, toy]]);
const wanted = { most: 1000, sample: 1, only: [], ids: [], refused: () => new Set<string>() };

describe("a score of planted mutants", () => {
  let judged: ReadonlyArray<Judged> = [];
  beforeAll(async () => {
    const { mutants } = await mutate(sources, wanted);
    const picked = [
      ["[1, 2]", "[]"],
      ["seed + 1", "seed - 1"],
      ["seed > 900", "true"],
      ["seed > 900", "seed >= 900"],
      ["world.events >= 40", "false"],
      ["seed % 2 === 0", "true"],
      ["seed + 2", "seed - 2"],
      ["left - right", "left + right"],
    ].map(([original, replacement]) => {
      const found = mutants.find((each) => each.original === original && each.replacement === replacement);
      expect(found, `${original} → ${replacement}`).toBeDefined();
      return found?.id ?? "";
    });
    const sample = await mutate(sources, { ...wanted, ids: picked });
    const { program, remove } = await bundle(WORKER, sample.sources);
    try {
      const baseline = await runBaseline(program, 5);
      if (typeof baseline === "string") throw new Error(baseline);
      expect(baseline.broken.map(({ seed }) => seed)).toEqual([4]);
      expect(baseline.runs.map(({ seed }) => seed)).toEqual([1, 2, 3, 5]);
      judged = await judgeAll(program, baseline, sample.mutants, 2, () => undefined);
    } finally {
      remove();
    }
  }, 60_000);

  const of = (original: string, replacement: string): Judged | undefined =>
    judged.find(({ mutant }) => mutant.original === original && mutant.replacement === replacement);

  it("notices what breaks an invariant, in the first seed that shows it", () => {
    expect(of("seed + 1", "seed - 1")?.noticed).toEqual({ seed: 1, by: "S1" });
    expect(of("seed > 900", "true")?.noticed).toEqual({ seed: 1, by: "S1" });
  });

  it("notices a run that has too many events", () => {
    expect(of("world.events >= 40", "false")?.noticed).toEqual({ seed: 1, by: "endless" });
  });

  it("does not notice what never makes a difference, and runs no seed for it", () => {
    expect(of("seed > 900", "seed >= 900")).toMatchObject({ noticed: undefined, reaching: 0, isLoaded: true });
  });

  it("does not notice what makes a difference that breaks nothing", () => {
    expect(of("seed % 2 === 0", "true")).toMatchObject({ noticed: undefined, reaching: 3, parting: 3 });
  });

  it("tells another value that changes no run from one that does", () => {
    expect(of("seed + 2", "seed - 2")).toMatchObject({ noticed: undefined, reaching: 4, parting: 0 });
  });

  it("does not notice what no seed executes", () => {
    expect(of("left - right", "left + right")).toMatchObject({ noticed: undefined, reaching: 0 });
  });

  it("counts a mutant that cannot be loaded neither way", () => {
    expect(of("[1, 2]", "[]")).toMatchObject({ noticed: undefined, isLoaded: false });
    expect(scoreOf(judged)).toEqual({ counted: 7, noticed: 3, median: 1, ninetieth: 1 });
    expect(Math.round(percentOf(scoreOf(judged)))).toBe(43);
  });

  it("lists what was not noticed with its place, its code and its id", () => {
    const page = pageLines(judged, 5, 7).join("\n");
    expect(page).toContain(
      `${PLANTED}:19  ArithmeticOperator  --mutant ${of("left - right", "left + right")?.mutant.id}`,
    );
    expect(page).toContain("left - right  →  left + right\n    makes a difference in 0 of 5 seeds");
    expect(page).toContain(
      "not noticed: 2 make no difference in any seed, 1 compute something else and change no run,",
    );
    expect(page).not.toContain("seed + 1  →");
  });
});

describe("a sample", () => {
  const place = (mutant: Mutant): string => `${mutant.file}:${mutant.line}:${mutant.replacement}`;

  it("is the same for the same number, and another for another", async () => {
    const first = await mutate(sources, { ...wanted, most: 5 });
    const again = await mutate(sources, { ...wanted, most: 5 });
    const other = await mutate(sources, { ...wanted, most: 5, sample: 2 });
    expect(again.mutants).toEqual(first.mutants);
    expect(other.mutants.map(place)).not.toEqual(first.mutants.map(place));
  });

  it("stays where code is added elsewhere in the file", async () => {
    const before = await mutate(sources, wanted);
    const after = await mutate(new Map([[PLANTED, `// One line more.\n${toy}`]]), wanted);
    expect(after.mutants.map(({ id }) => id)).toEqual(before.mutants.map(({ id }) => id));
    expect(after.mutants[0]?.line).toBe((before.mutants[0]?.line ?? 0) + 1);
  });

  it("is of the folders that the score is about, without tests", () => {
    const paths = [...sourcesOf(ROOT).keys()];
    expect(paths).toContain("core/protocol/Abort.ts");
    expect(paths).toContain("core/commands/enrollPasskey/Finish.ts");
    expect(paths).toContain("runtime/PeerDriver.ts");
    expect(paths.filter((path) => path.includes(".test.") || path.startsWith("core/webauthn"))).toEqual([]);
  });

  it("has others in the place of those that are refused", async () => {
    const first = await mutate(sources, { ...wanted, most: 5 });
    const gone = first.mutants[1]?.id ?? "";
    const again = await mutate(sources, { ...wanted, most: 5, refused: () => new Set([gone]) });
    expect(again).toMatchObject({ refused: 1 });
    expect(again.mutants).toHaveLength(5);
    expect(again.mutants.map(({ id }) => id)).not.toContain(gone);
  });

  it("takes nothing of an assertion", async () => {
    const { mutants } = await mutate(
      new Map([
        [
          PLANTED,
          `
if (one < 1) throw new InvariantViolation("S1", "never");
if (two < 2) { throw new RangeError(\`never \${1 + 1}\`); }
if (three < 3) throw new CodecFault("input");
if (four < 4) { count += 1; throw new TypeError("counted"); }
`,
        ],
      ]),
      wanted,
    );
    expect(new Set(mutants.map(({ line }) => line))).toEqual(new Set([4, 5]));
  });

  it("takes no string", async () => {
    const { mutants } = await mutate(sources, wanted);
    expect(mutants.filter(({ mutator }) => mutator === "StringLiteral")).toEqual([]);
  });
});

describe("the type checker", () => {
  const file = "core/protocol/Patience.ts";
  const other = "core/protocol/Slots.ts";
  const good = "export const sum = (left: number, right: number): number => left - right;\n";
  const bad = "export const sum = (left: number): string => left;\n";

  it("refuses what has wrong types, each in its own file", () => {
    const product = sourcesOf(ROOT);
    const refused = refusedBy(
      ROOT,
      product,
    )([
      { id: "good", file, text: (product.get(file) ?? "") + good },
      { id: "bad", file, text: (product.get(file) ?? "") + bad },
      { id: "unparsed", file: other, text: `${product.get(other) ?? ""}}` },
      { id: "same", file: other, text: product.get(other) ?? "" },
    ]);
    expect([...refused].toSorted()).toEqual(["bad", "unparsed"]);
  }, 120_000);

  it("refuses none for another's types", () => {
    const product = sourcesOf(ROOT);
    // With the other alone its importers do not compile, which is no fault of theirs.
    const refused = refusedBy(
      ROOT,
      product,
    )([
      { id: "emptied", file: "core/protocol/Topology.ts", text: "export {};\n" },
      { id: "same", file: "core/protocol/Slots.ts", text: product.get("core/protocol/Slots.ts") ?? "" },
      { id: "importer", file: "core/protocol/Votes.ts", text: product.get("core/protocol/Votes.ts") ?? "" },
    ]);
    expect([...refused]).toEqual([]);
  }, 120_000);
});

describe("a place that compares", () => {
  const names = { isActive: "is", reach: "reach", isRecording: "rec", compare: "compare" };

  it("compares what only computes, also where a mutant left out stands before it", () => {
    expect(comparing("f(false ? x : is(5) ? true : (reach(5), g(x)));", names)).toBe(
      "f(false ? x : is(5) ? true : (0, compare(g(x), rec && [[5, () => true]])));",
    );
    expect(comparing("is(1) ? a < b : is(2) ? f(a) : (reach(1, 2), a <= b);", names)).toBe(
      "is(1) ? a < b : is(2) ? f(a) : (reach(2), compare(a <= b, rec && [[1, () => a < b]]));",
    );
  });

  it("leaves what may do more", () => {
    for (const source of [
      "is(5) ? f(a) : (reach(5), a);",
      "is(5) ? a || b : (reach(5), f(a) && b);",
      "is(5) ? {} : (reach(5), a);",
    ])
      expect(comparing(source, names)).toBe(source);
  });

  it("rewrites one inside another", () => {
    expect(comparing("is(1) ? true : (reach(1), x && (is(2) ? false : (reach(2), y)));", names)).toBe(
      "is(1) ? true : (0, compare(x && (is(2) ? false : (0, compare(y, rec && [[2, () => false]]))), rec && [[1, () => true]]));",
    );
  });
});

describe("the guard", () => {
  const ended = async (program: string): Promise<boolean> => {
    const child = spawn(process.execPath, ["-e", program], { stdio: "ignore" });
    const guard = watch(child, 1);
    await once(child, "exit");
    return guard.end();
  };

  it("kills what works without a word, and lets alone what waits", async () => {
    const [working, waiting] = await Promise.all([ended("for (;;);"), ended("setTimeout(() => undefined, 1_500)")]);
    expect([working, waiting]).toEqual([true, false]);
  }, 30_000);

  it("reads the time of a process", () => {
    expect(["00:00:07", "1-02:03:04", "3:04.05", "", "x"].map(secondsOf)).toEqual([
      7,
      93_784,
      184,
      undefined,
      undefined,
    ]);
  });
});
