/** Tapes of planted bugs, played for ever: each must break its invariant, and none without the bug. */
import { readdirSync, readFileSync } from "node:fs";
import { Either } from "effect";
import { expect, it } from "vitest";
import { parseTape } from "../sim/tape/TapeFormat.ts";
import { play } from "../sim/tape/TapeRun.ts";

const folder = new URL("./tapes/", import.meta.url);
const MOST_DEVIATIONS = 8;

it.each(readdirSync(folder))("%s breaks its invariant with the planted bug only", (name) => {
  const tape = Either.getOrThrow(parseTape(readFileSync(new URL(name, folder))));
  expect(tape.sparse).toBe(true);
  const { result, deviations } = play(tape);
  expect(result.violation?.id).toBe(tape.end.violation?.id);
  expect(result.violation).toBeDefined();
  expect(deviations.length).toBeLessThanOrEqual(MOST_DEVIATIONS);
  const without = play({ ...tape, units: [], options: { ...tape.options, bug: undefined } });
  expect(without.result.violation).toBeUndefined();
});
