import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Effect, Either } from "effect";
import { afterAll, beforeAll, expect, it } from "vitest";
import { readBoundedFile, readBoundedText } from "./BoundedFile.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "custody-file-"));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const outcome = (path: string, maxBytes: number, secret = false) =>
  Effect.runPromise(Effect.either(readBoundedFile(path, { maxBytes, secret })));
const refusal = async (path: string, maxBytes: number, secret = false): Promise<string> =>
  Either.getOrThrow(Either.flip(await outcome(path, maxBytes, secret))).message;

it("reads up to the limit and refuses one byte more", async () => {
  const path = join(folder, "eight");
  writeFileSync(path, "12345678");
  expect(Either.getOrThrow(await outcome(path, 8))).toEqual(new TextEncoder().encode("12345678"));
  expect(await refusal(path, 7)).toBe(`${path} is larger than 7 bytes; shorten it or name another file`);
});

it("refuses what is not a regular file, a named pipe without waiting for it", async () => {
  const pipe = join(folder, "pipe");
  execFileSync("sh", ["-c", 'mkfifo "$0"', pipe]);
  expect(await refusal(pipe, 8)).toMatch(/not a regular file/);
  expect(await refusal(folder, 8)).toMatch(/not a regular file/);
  expect(await refusal("/dev/zero", 8)).toMatch(/not a regular file/);
});

it("refuses a missing file and follows links", async () => {
  expect(await refusal(join(folder, "absent"), 8)).toMatch(/does not exist/);
  const target = join(folder, "target");
  writeFileSync(target, "x");
  symlinkSync(target, join(folder, "link"));
  expect(Either.isRight(await outcome(join(folder, "link"), 8))).toBe(true);
});

it.each([
  [0o600, true],
  [0o640, true],
  [0o644, false],
  [0o602, false],
])("a secret with mode %o is accepted: %s", async (mode, accepted) => {
  const path = join(folder, `secret-${mode}`);
  writeFileSync(path, "x");
  chmodSync(path, mode);
  expect(Either.isRight(await outcome(path, 8, true))).toBe(accepted);
  expect(Either.isRight(await outcome(path, 8, false))).toBe(true);
});

it("refuses ill-formed UTF-8", async () => {
  const path = join(folder, "latin1");
  writeFileSync(path, Uint8Array.of(0x61, 0xe9));
  const result = await Effect.runPromise(Effect.either(readBoundedText(path, { maxBytes: 8, secret: false })));
  expect(Either.getOrThrow(Either.flip(result)).message).toMatch(/UTF-8/);
});
