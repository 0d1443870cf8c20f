import { describe, expect, it } from "vitest";
import type { RunOptions } from "../run/RunOptions.ts";
import { type RunResult, runSeed } from "../run/Simulation.ts";
import { Recorder } from "./Recorder.ts";

const record = (options: RunOptions): { recorder: Recorder; result: RunResult; lines: ReadonlyArray<string> } => {
  const recorder = new Recorder();
  const lines: Array<string> = [];
  const result = runSeed(options, { observer: recorder, line: (line) => void lines.push(line) });
  return { recorder, result, lines };
};

const swarm: RunOptions = { seed: 17, schedule: "swarm", peers: 3, crypto: "fast" };

/** How many lines of the trace have this kind, which stands behind the time and the peer. */
const countOf = (lines: ReadonlyArray<string>, kind: string): number =>
  lines.filter((line) => new RegExp(`^ *\\d+ peer \\d+ ${kind}\\b`).test(line)).length;

describe("a recording", () => {
  it.each([
    { ...swarm, steps: 600 },
    { ...swarm, seed: 4, schedule: "drop-dup-reorder", steps: 600 },
    { ...swarm, crypto: "real", peers: 2, steps: 20 },
  ] as const)("changes nothing about the run: %o", (options) => {
    expect(record(options).result.hash).toBe(runSeed(options).hash);
  });

  it("holds as much as the trace", () => {
    const { recorder, lines } = record(swarm);
    const kinds = new Map<string, number>();
    for (const { kind } of recorder.moments) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    for (const kind of [
      "refuse",
      "timer",
      "flush",
      "crash",
      "start",
      "verify",
      "unseal",
      "seal",
      "pause",
      "resume",
      "request",
    ])
      expect([kind, kinds.get(kind) ?? 0]).toEqual([kind, countOf(lines, kind)]);
    expect(kinds.get("deliver")).toBe(countOf(lines, "deliver from"));
    expect(recorder.sends.filter(({ how }) => how === "sent" || how === "altered").length).toBe(
      countOf(lines, "send to"),
    );
    expect(recorder.moments.flatMap(({ replies }) => replies).length).toBe(countOf(lines, "reply"));
    expect(recorder.dropped).toBe(0);
  });

  it("lets every arrival belong to a copy of something sent before", () => {
    const { recorder } = record({ ...swarm, schedule: "drop-dup-reorder" });
    const arrived = new Set<number>();
    recorder.moments.forEach(({ kind, slot, at, copy, detail }, index) => {
      if (kind !== "deliver" && kind !== "refuse") return expect(copy).toBeUndefined();
      const { send, moment, fate, dueAt } = recorder.copies[copy ?? -1] ?? {};
      expect({ moment, fate, dueAt }).toEqual({ moment: index, fate: "arrived", dueAt: at });
      const sent = recorder.sends[send ?? -1];
      expect(sent?.to).toBe(slot);
      expect(recorder.moments[sent?.moment ?? -1]?.at).toBeLessThanOrEqual(at);
      if (kind === "deliver") expect(sent?.message._tag).toBe(detail);
      arrived.add(copy ?? -1);
    });
    expect(arrived.size).toBe(recorder.copies.filter(({ fate }) => fate === "arrived").length);
    expect(recorder.sends.some(({ copies }) => copies.length === 0)).toBe(true);
    expect(recorder.sends.some(({ copies }) => copies.length > 1)).toBe(true);
  });

  it("knows what a fault made of an older message", () => {
    const { recorder } = record({ ...swarm, schedule: "forged-merkle-proof" });
    const made = recorder.sends.filter(({ how }) => how === "forged" || how === "altered");
    expect(new Set(made.map(({ how }) => how))).toEqual(new Set(["forged", "altered"]));
    for (const { how, moment } of made) if (how === "forged") expect(recorder.moments[moment]?.kind).toBe("fault");
  });

  it("has the state of a peer after each moment that changed it, and none while it is down", () => {
    const { recorder } = record(swarm);
    const latest = new Map<number, unknown>();
    for (const { kind, slot, state } of recorder.moments) {
      if (state !== undefined) {
        expect(latest.get(state.of)).not.toBe(state.now);
        latest.set(state.of, state.now);
      }
      if (kind === "crash") expect(latest.get(slot)).toBeUndefined();
    }
    for (const { slot, state } of recorder.world.peers) expect(latest.get(slot)).toBe(state);
  });

  it("says from when to when a link was cut", () => {
    const { recorder } = record({ ...swarm, schedule: "one-way-partition" });
    const cuts = recorder.moments.flatMap(({ changes }) => changes).filter(({ kind }) => kind === "link");
    const open = new Set<string>();
    for (const { from, to, now } of cuts) {
      const link = `${from} ${to}`;
      expect(open.has(link)).toBe(now === undefined);
      if (now === undefined) open.delete(link);
      else open.add(link);
    }
    expect(cuts.some(({ now }) => now === "cut")).toBe(true);
    expect(open.size).toBe(0);
  });
});
