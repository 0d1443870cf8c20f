import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Digest } from "../../core/base/Digest.ts";
import { CHAIN_START } from "./AuditChain.ts";
import { SinkPositions } from "./SinkPositions.ts";

let folder: string;
let reports: Array<string>;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "custody-positions-"));
  reports = [];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = () => SinkPositions.open(folder, (reason) => void reports.push(reason));
const place = { seq: 7, hash: "a".repeat(64) as Digest };
const file = (): string => join(folder, "audit-sinks.json");

it("begins with the first event, and knows after a start where each sink was", async () => {
  const first = await open();
  expect([first.at("file"), first.at("stdout")]).toEqual([CHAIN_START, CHAIN_START]);
  await Promise.all([first.keep("file", place), first.keep("stdout", { ...place, seq: 9 })]);
  const second = await open();
  expect([second.at("file"), second.at("stdout")]).toEqual([place, { ...place, seq: 9 }]);
  expect([reports, existsSync(`${file()}.new`)]).toEqual([[], false]);
});

it.each(["", "{", "{}", '{"version":2}', '{"version":1,"file":"7:x"}', '{"version":1,"file":7}', " ".repeat(5_000)])(
  "begins with the first event, and says so, where the file is %j",
  async (text) => {
    writeFileSync(file(), text);
    expect((await open()).at("file")).toEqual(CHAIN_START);
    expect(reports).toEqual([expect.stringContaining("begin with the first event")]);
  },
);

it("holds within the process where the folder cannot be written, and is written with the next place", async () => {
  const positions = await open();
  rmSync(folder, { recursive: true });
  await expect(positions.keep("file", place)).rejects.toThrow();
  expect(positions.at("file")).toEqual(place);
  const { mkdirSync } = await import("node:fs");
  mkdirSync(folder);
  await positions.keep("stdout", place);
  expect(JSON.parse(readFileSync(file(), "utf8"))).toMatchObject({ file: `7:${place.hash}` });
});
