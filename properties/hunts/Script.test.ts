import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { Misuse, positive } from "../../sim/bin/Script.ts";

/** One of them, which would take minutes if it ignored a wrong argument. */
const strength = fileURLToPath(new URL("../../sim/bin/strength.ts", import.meta.url));
const run = (...args: ReadonlyArray<string>) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ["--import", "tsx", strength, ...args], {
    encoding: "utf8",
  });
  return { status, stdout, stderr };
};

describe("a command of the repository", () => {
  it.each([["--nope"], ["--bug", "nobody's"]])("does nothing and ends with 2 when it is told %s %s", (...args) => {
    const { status, stdout, stderr } = run(...args);
    expect(status).toBe(2);
    expect(stdout).toBe("");
    expect(stderr).toContain(args[0]);
    expect(stderr).toContain("--shrink EVENTS");
  });

  it("shows its help and ends with 0", () => {
    const { status, stdout, stderr } = run("--help");
    expect([status, stderr]).toEqual([0, ""]);
    expect(stdout).toContain("--shrink EVENTS");
  });
});

it.each(["", "0", "-1", "1.5", "1e3", " 1", "0x10", "10000000"])("takes %j for no number from 1", (text) => {
  expect(() => positive(text, "seeds")).toThrow(new Misuse("--seeds must be a whole number from 1"));
});
