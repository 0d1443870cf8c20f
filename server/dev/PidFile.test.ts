import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { removePidFile, runningPid, writePidFile } from "./PidFile.ts";
import { processStart } from "./ProcessStart.ts";

let path: string;
beforeAll(() => {
  path = join(mkdtempSync(join(tmpdir(), "custody-pid-")), "peer.pid");
});
afterAll(() => {
  rmSync(join(path, ".."), { recursive: true, force: true });
});

it("names the process that wrote it, and is removed by no other", () => {
  writePidFile(path);
  expect(runningPid(path)).toBe(process.pid);
  const written = readFileSync(path, "utf8");
  writeFileSync(path, JSON.stringify({ pid: process.ppid, start: processStart(process.ppid) }));
  removePidFile(path);
  expect(existsSync(path)).toBe(true);
  writeFileSync(path, written);
  removePidFile(path);
  expect(existsSync(path)).toBe(false);
});

it("does not take a later process with the same number for it", () => {
  writeFileSync(path, JSON.stringify({ pid: process.pid, start: "another start" }));
  expect(runningPid(path)).toBeUndefined();
});

it("knows when the process has ended", async () => {
  const child = spawn(process.execPath, ["-e", "process.stdin.resume()"], { stdio: ["pipe", "ignore", "ignore"] });
  await once(child, "spawn");
  const pid = child.pid ?? 0;
  writeFileSync(path, JSON.stringify({ pid, start: processStart(pid) }));
  expect(runningPid(path)).toBe(pid);
  child.kill("SIGKILL");
  await once(child, "exit");
  expect(runningPid(path)).toBeUndefined();
});

it.each(["", "{}", '{"pid":-1,"start":"x"}', '{"pid":1.5,"start":"x"}', "not json"])(
  "ignores the damaged file %j",
  (text) => {
    writeFileSync(path, text);
    expect(runningPid(path)).toBeUndefined();
  },
);
