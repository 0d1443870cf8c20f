import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { diskFindings, fileSystemFinding, flushFinding, spaceFinding } from "./Disk.ts";

const folder = mkdtempSync(join(tmpdir(), "custody-disk-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const mebibyte = 1024 ** 2;

describe("a disk", () => {
  it("is looked at without leaving anything", () => {
    const checks = diskFindings(folder).map(({ check }) => check);
    expect(checks).toEqual(["file system", "space", "flush"]);
    expect(readdirSync(folder)).toEqual([]);
    // Before the first start the parent folder stands for it.
    expect(diskFindings(join(folder, "data")).map(({ check }) => check)).toEqual(checks);
  });

  it("that cannot be written is named with what to do", () => {
    expect(diskFindings("/proc/1/nowhere/data")).toEqual([
      {
        check: "disk",
        level: "fail",
        message: expect.stringMatching(/cannot be written \(\w+\); run this as the user/),
      },
    ]);
  });

  it.each([
    { type: 0xef53, level: "ok", says: "ext4" },
    { type: 0x7, level: "ok", says: "type 0x7" },
    { type: 0x01021994, level: "fail", says: "loses every record with the power" },
    { type: 0x6969, level: "fail", says: "use a local disk" },
    // As statfs gives it on machines whose numbers have a sign.
    { type: 0xff534d42 | 0, level: "fail", says: "cifs" },
  ])("is judged by its file system: $says", ({ type, level, says }) => {
    expect(fileSystemFinding(type)).toEqual({ check: "file system", level, message: expect.stringContaining(says) });
  });

  it.each([
    { free: 99 * mebibyte, level: "fail" },
    { free: 100 * mebibyte, level: "warn" },
    { free: 1024 * mebibyte, level: "ok" },
  ])("is judged by its space: $free bytes are $level", ({ free, level }) => {
    expect(spaceFinding(free)).toMatchObject({ check: "space", level });
  });

  it.each([
    { millis: [0.001, 0.001, 9], level: "warn", says: "too fast for a disk" },
    { millis: [0.2, 1, 400], level: "ok", says: "median 1.000 ms, slowest 400.000 ms of 3" },
    { millis: [30, 20, 0.1], level: "warn", says: "prefer an SSD" },
    { millis: [250, 250, 1], level: "fail", says: "look at the disk" },
  ])("is judged by its flushes: $millis are $level", ({ millis, level, says }) => {
    expect(flushFinding(millis)).toEqual({ check: "flush", level, message: expect.stringContaining(says) });
  });
});
