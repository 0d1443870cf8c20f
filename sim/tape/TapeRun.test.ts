import { Either } from "effect";
import { describe, expect, it } from "vitest";
import type { RunOptions } from "../run/RunOptions.ts";
import { runSeed } from "../run/Simulation.ts";
import { type Tape, type TapeDraw, tapeOptions } from "./Tape.ts";
import { formatTape, parseTape } from "./TapeFormat.ts";
import { TapeMismatch } from "./TapePlayer.ts";
import { play, record, replayExactly, tapeOf } from "./TapeRun.ts";

const STEPS = 250;
const full = { commit: "test", sparse: false };

const written = (tape: Tape): Tape => Either.getOrThrow(parseTape(formatTape(tape)));

const refusal = (run: () => unknown): string => {
  try {
    run();
  } catch (fault) {
    if (fault instanceof TapeMismatch) return fault.message;
    throw fault;
  }
  return "it fits";
};

describe("a run on a tape", () => {
  const runs: ReadonlyArray<RunOptions> = [
    { seed: 3, schedule: "swarm", steps: STEPS },
    { seed: 5, schedule: "crash-at-every-sync", steps: STEPS },
    { seed: 2, schedule: "row-tamper-delete", steps: STEPS },
    { seed: 9, schedule: "rollback-silent", steps: STEPS },
    { seed: 4, schedule: "forged-merkle-proof", peers: 5, steps: STEPS },
    { seed: 16, schedule: "swarm", peers: 2, crypto: "real", steps: 10 },
  ];
  it.each(runs)("is the run of the seed, and is the same again, full and sparse: %o", (options) => {
    const recording = record(tapeOptions(options));
    const { hash } = runSeed(options);
    expect(recording.result.hash).toBe(hash);
    for (const sparse of [false, true]) {
      const tape = written(tapeOf(recording, { commit: "test", sparse }));
      const again = replayExactly(tape);
      expect(again.result.hash).toBe(hash);
      expect(again.deviations).toEqual(recording.deviations);
    }
  });

  it("needs nothing of the seed but its entropy: without units it is the quiet run", () => {
    const { options, plan } = tapeOf(record(tapeOptions({ seed: 5, schedule: "calm", steps: STEPS })), full);
    const quiet = play({
      sparse: true,
      commit: "",
      options,
      plan,
      units: [],
      end: { hash: "", events: 0, violation: undefined },
    });
    expect(quiet.deviations).toEqual([]);
    expect(quiet.result.violation).toBeUndefined();
    expect(quiet.result.faults).toEqual([]);
    expect(quiet.result.marks.find(([name]) => name === "answered 201")?.[1]).toBeGreaterThan(0);
  });
});

describe("a tape that does not fit the code", () => {
  const tape = tapeOf(record(tapeOptions({ seed: 3, schedule: "calm", peers: 3, steps: 120 })), full);
  const at = tape.units.findIndex(({ stream, draws }) => stream.startsWith("link") && draws.length > 1);
  const unit = tape.units[at];
  if (unit === undefined) throw new RangeError("no message was sent");
  const name = `${unit.stream} #${unit.ordinal}`;
  const withDraw = (turn: number, change: Partial<TapeDraw>): Tape => ({
    ...tape,
    units: tape.units.with(at, {
      ...unit,
      draws: unit.draws.map((draw, index) => (index === turn ? { ...draw, ...change } : draw)),
    }),
  });

  it("fails at the first draw that differs: another label, other bounds, no such value, no more draws", () => {
    expect(refusal(() => play(withDraw(0, { label: "gone" })))).toBe(
      `unit "${name}", draw 1: the tape has "gone", the code draws "lost"`,
    );
    expect(refusal(() => play(withDraw(1, { bounds: [0, 99] })))).toBe(
      `unit "${name}", draw 2: the tape has "takes" from 0 to 99, the code draws "takes" from 0 to 3000000`,
    );
    expect(refusal(() => play(withDraw(0, { value: "perhaps" })))).toBe(
      `unit "${name}", draw 1: the code has no value perhaps for "lost"`,
    );
    const short = { ...tape, units: tape.units.with(at, { ...unit, draws: unit.draws.slice(0, 1) }) };
    expect(refusal(() => play(short))).toContain(
      `unit "${name}", draw 2: the tape has no more draws, the code draws "takes"`,
    );
  });

  it("fails where a unit is missing, and where the run never comes to one", () => {
    const without = { ...tape, units: tape.units.toSpliced(at, 1) };
    expect(refusal(() => play(without))).toBe(`unit "${name}" is not on the tape; the code draws "lost"`);
    const more = { ...unit, ordinal: 1_000_000 };
    const extra: Tape = { ...tape, sparse: true, units: [...tape.units, more] };
    expect(refusal(() => play(extra))).toBe(
      `unit "${unit.stream} #1000000", draw 1: the tape has "lost", the run never came to it`,
    );
  });

  it("fails by the field of the plan, before anything runs", () => {
    const other = { ...tape, plan: { ...tape.plan, redelivery: 61 } };
    expect(refusal(() => play(other))).toBe('plan field "redelivery": the tape has 61, the code has 60');
  });

  it("fails in the end where every draw fits but the run is another", () => {
    const other = { ...tape, end: { ...tape.end, hash: "0".repeat(16) } };
    expect(refusal(() => replayExactly(other))).toContain("its trace hash is");
    expect(play(other).result.hash).toBe(tape.end.hash);
  });
});
