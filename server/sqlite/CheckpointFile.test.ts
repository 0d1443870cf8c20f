import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { checkpointFile, openCheckpoint } from "./CheckpointFile.ts";

let directory: string;
const bytes = (...values: ReadonlyArray<number>): Uint8Array => Uint8Array.of(...values);

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "custody-checkpoint-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

it("keeps what was put there and behind it, for its own user alone, and for the next process", () => {
  const file = openCheckpoint(directory);
  expect(file.read()).toBeUndefined();
  file.replace([bytes(1, 2), bytes(3)]);
  file.append([bytes(4)]);
  file.append([bytes(), bytes(5, 6)]);
  expect([...(openCheckpoint(directory).read() ?? [])]).toEqual([1, 2, 3, 4, 5, 6]);
  expect(statSync(checkpointFile(directory)).mode & 0o777).toBe(0o600);
  openCheckpoint(directory).append([bytes(7)]);
  file.replace([bytes(8)]);
  file.append([bytes(9)]);
  expect([...readFileSync(checkpointFile(directory))]).toEqual([8, 9]);
  expect(readdirSync(directory)).toEqual(["custody.checkpoint"]);
});

it("is gone where it cannot be written, and throws nothing", () => {
  const file = openCheckpoint(directory);
  file.append([bytes(1)]);
  expect(file.read()).toBeUndefined();
  file.replace([bytes(1)]);
  // The next whole one cannot take its place.
  mkdirSync(`${checkpointFile(directory)}.new`);
  file.replace([bytes(2)]);
  expect(file.read()).toBeUndefined();
});
