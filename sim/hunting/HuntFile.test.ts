import { readFileSync } from "node:fs";
import { Either } from "effect";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { type HuntFile, mergeHunts, optionsOf, parseHuntFile } from "./HuntFile.ts";
import { HuntReport, type RunReport } from "./Report.ts";
import { tierOf } from "../base/Tier.ts";

const NO_OPTIONS = optionsOf({
  schedule: undefined,
  peers: undefined,
  mode: undefined,
  steps: undefined,
  crypto: undefined,
  bug: undefined,
});

const runOf = (seed: number): RunReport => ({
  seed,
  schedule: "swarm",
  peers: 3,
  mode: "within",
  crypto: tierOf(seed),
  hash: seed.toString(16).padStart(16, "0"),
  events: 10 * seed,
  faults: [["crash", 1]],
  marks: [["answered 201", seed]],
  violation: seed === 7 ? { id: "S4", facts: ["one fact", "another fact"] } : undefined,
  replay: `npm run sim -- --seed ${seed}`,
});

const huntOf = (first: number, last: number, ran = last): { readonly report: HuntReport; readonly hunt: HuntFile } => {
  const report = new HuntReport();
  for (let seed = first; seed <= ran; seed++) report.add(runOf(seed));
  const { seeds, codecSeeds, realSeeds, events, hash, hashSums, failures } = report;
  const hunt: HuntFile = {
    version: 3,
    commit: "abc",
    options: NO_OPTIONS,
    first,
    last,
    seeds,
    codecSeeds,
    realSeeds,
    events,
    millis: 5,
    hash,
    hashSums,
    faults: Object.fromEntries(report.faults.entries()),
    marks: Object.fromEntries(report.marks.entries()),
    tallies: report.tallies.entries(),
    sometimes: { points: 0, missing: [], seldom: [], isRed: false },
    failures,
    tapes: failures.map(({ seed }) => ({ seed, file: "S4.json", deviations: 2, runs: 9, isMinimal: true })),
  };
  return { report, hunt };
};

const named = (...hunts: ReadonlyArray<HuntFile>) => hunts.map((hunt, index) => ({ name: `file ${index}`, hunt }));

describe("shards of one hunt", () => {
  it("come to what the whole hunt comes to, in whatever order", () => {
    const { report } = huntOf(1, 40);
    const merged = Either.getOrThrow(mergeHunts(named(huntOf(21, 40).hunt, huntOf(1, 9).hunt, huntOf(10, 20).hunt)));
    expect(merged.report.hash).toBe(report.hash);
    expect(merged.report.seeds).toBe(40);
    expect([merged.report.codecSeeds, merged.report.realSeeds]).toEqual([2, 1]);
    expect(merged.report.events).toBe(report.events);
    expect(merged.report.marks.entries()).toEqual(report.marks.entries());
    expect(merged.report.tallies.entries()).toEqual([{ schedule: "swarm", runs: 40, met: {} }]);
    expect(merged.report.failures).toEqual(report.failures);
    expect(merged.tapes.map(({ seed }) => seed)).toEqual([7]);
    expect([merged.gaps, merged.cutShort]).toEqual([[], 0]);
  });

  it("say which seeds nobody ran", () => {
    const merged = Either.getOrThrow(mergeHunts(named(huntOf(1, 9).hunt, huntOf(12, 20, 15).hunt)));
    expect(merged.gaps).toEqual([{ first: 10, last: 11 }]);
    expect(merged.cutShort).toBe(1);
  });

  it.each<readonly [string, HuntFile, string]>([
    ["seeds that another has", huntOf(9, 12).hunt, "its seeds from 9 on are in file 0 too"],
    ["another commit", { ...huntOf(10, 12).hunt, commit: "def" }, "commit def"],
    ["other options", { ...huntOf(10, 12).hunt, options: { ...NO_OPTIONS, peers: 5 } }, "option peers is 5"],
  ])("are refused with %s", (_what, other, why) => {
    expect(mergeHunts(named(huntOf(1, 9).hunt, other))).toMatchObject({
      _tag: "Left",
      left: expect.stringContaining(why),
    });
  });
});

describe("a hunt's file", () => {
  it("is read as it was written", () => {
    const { hunt } = huntOf(1, 9);
    expect(parseHuntFile(JSON.stringify(hunt))).toEqual(Either.right(JSON.parse(JSON.stringify(hunt))));
  });

  it.each<readonly [string, object, string]>([
    ["version", { version: 2 }, "version"],
    ["a field nobody knows", { more: 1 }, "more"],
    ["a negative count", { seeds: -1 }, "seeds"],
    ["a sum of more than 32 bits", { hashSums: [2 ** 31, 0] }, "hashSums.0"],
    ["a schedule nobody knows", { options: { ...NO_OPTIONS, schedule: "storm" } }, "options.schedule"],
  ])("is refused by name: %s", (_what, change, field) => {
    const found = parseHuntFile(JSON.stringify({ ...huntOf(1, 3).hunt, ...change }));
    expect(found).toMatchObject({ _tag: "Left", left: expect.stringContaining(`"${field}"`) });
  });

  it("is refused where it is no JSON", () => {
    expect(Either.isLeft(parseHuntFile("{"))).toBe(true);
  });
});

it("runs as an indexed job with a shard for each index", () => {
  const { spec } = parse(readFileSync(new URL("../../deploy/hunt-job.yaml", import.meta.url), "utf8"));
  const [hunt] = spec.template.spec.containers;
  const shards = hunt.env.find(({ name }: { readonly name: string }) => name === "SHARDS");
  expect(spec.completionMode).toBe("Indexed");
  expect(shards.value).toBe(String(spec.completions));
  expect(hunt.command[2]).toContain('--shard "$shard/$SHARDS"');
});
