import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { RotatedFile } from "./SinkTargets.ts";

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "custody-sink-"));
  path = join(folder, "audit.jsonl");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const opened = (maxBytes = 1024, keep = 2): RotatedFile => new RotatedFile({ path, maxBytes, keep });
const textOf = (file: string): string => readFileSync(file, "utf8");
const line = (letter: string, length = 400): string => `${letter.repeat(length - 1)}\n`;

describe("a rotated file", () => {
  it("takes lines for this user alone, and goes on behind them after a start", async () => {
    const first = opened();
    await first.write("one\n");
    await first.write("two\nthree\n");
    await first.close();
    const second = opened();
    await second.write("four\n");
    expect(textOf(path)).toBe("one\ntwo\nthree\nfour\n");
    expect(statSync(path).mode & 0o777).toBe(0o600);
    await second.close();
  });

  it("is followed by a new one past its size, of which so many are kept, and no line is split", async () => {
    const file = opened();
    for (const letter of "abcdefghij") await file.write(line(letter));
    await file.close();
    // Three lines of 400 bytes pass 1,024; the first three are gone.
    expect(textOf(`${path}.2`)).toBe(["d", "e", "f"].map((each) => line(each)).join(""));
    expect(textOf(`${path}.1`)).toBe(["g", "h", "i"].map((each) => line(each)).join(""));
    expect(textOf(path)).toBe(line("j"));
    expect(existsSync(`${path}.3`)).toBe(false);
    const again = opened();
    await again.write(line("k"));
    expect(textOf(path)).toBe(`${line("j")}${line("k")}`);
    await again.close();
  });

  it("loses the torn line that a full disk or a power loss left, and no whole one", async () => {
    for (const [before, after] of [
      ["one\ntwo\nthr", "one\ntwo\n"],
      ["torn", ""],
      ["one\n", "one\n"],
    ]) {
      writeFileSync(path, before ?? "");
      const file = opened();
      await file.write("next\n");
      expect(textOf(path)).toBe(`${after}next\n`);
      await file.close();
    }
  });

  it("rejects while it cannot be written, and takes lines again once it can", async () => {
    mkdirSync(path);
    const file = opened();
    for (const _ of [1, 2]) await expect(file.write("one\n")).rejects.toThrow();
    rmdirSync(path);
    await file.write("one\n");
    await file.write("two\n");
    expect(textOf(path)).toBe("one\ntwo\n");
    await file.close();
  });

  it("rejects what the disk has not taken, although the stream has", async () => {
    const file = opened();
    await file.write("one\ntwo\n");
    truncateSync(path);
    await expect(file.write("three\n")).rejects.toMatchObject({ code: "ENOSPC" });
    await file.write("three\n");
    expect(textOf(path)).toBe("three\nthree\n");
    await file.close();
  });
});
