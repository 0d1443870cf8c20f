/** deploy/custody.service: what it says, and its very command run by a service manager in little. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { bundleCommand } from "../../server/bin/bundle.mjs";
import { PeerFolder } from "../cli/PeerProcess.ts";

const unitFile = fileURLToPath(new URL("../../deploy/custody.service", import.meta.url));
const manager = fileURLToPath(new URL("../unit/manager.py", import.meta.url));
const unit = readFileSync(unitFile, "utf8");

const settings = new Map(
  unit.split("\n").flatMap((line) => {
    const [, name, value] = /^([A-Za-z]+)=(.*)$/.exec(line) ?? [];
    return name === undefined || value === undefined ? [] : [[name, value] as const];
  }),
);
const setting = (name: string): string => {
  const value = settings.get(name);
  if (value === undefined) throw new Error(`the unit does not set ${name}`);
  return value;
};

const runs = (program: string, ...args: ReadonlyArray<string>): boolean => spawnSync(program, args).status === 0;
const hasManager = runs("python3", "-c", "import socket; socket.recv_fds") && runs("systemd-notify", "--version");
const hasAnalyzer = runs("systemd-analyze", "--version");

/** The unit's command with this checkout's program in its places. */
const commandOn = (config: string): ReadonlyArray<string> => {
  const [node, script, ...rest] = setting("ExecStart").split(" ");
  expect(node).toBe("/usr/bin/node");
  expect(script).toBe("/opt/custody/node_modules/custody/dist/server/bin/custody.js");
  expect(rest).toEqual(["server", "--config", "/etc/custody/peer.yaml"]);
  return [process.execPath, bundleCommand(), "server", "--config", config];
};

/** A new process namespace where this user may make one, in which nothing of the command outlives the manager. */
const namespace = runs("unshare", "--pid", "--fork", "--mount-proc", "true")
  ? ["unshare", "--pid", "--fork", "--mount-proc"]
  : [];

const underManager = (...command: ReadonlyArray<string>) => {
  const args = [manager, setting("UMask"), setting("LimitNOFILE"), setting("TimeoutStopSec"), ...command];
  const [program = "", ...all] = [...namespace, "python3", ...args];
  return spawnSync(program, all, { encoding: "utf8" });
};

describe("the unit", () => {
  it("starts again only where that can help, and waits longer than the longest answer", () => {
    expect(setting("Restart")).toBe("on-failure");
    expect(setting("RestartPreventExitStatus").split(" ")).toEqual(["2", "70"]);
    // approvers.answer-timeout is at most one minute.
    expect(Number(setting("TimeoutStopSec"))).toBeGreaterThan(60);
    expect(setting("ExecReload")).toBe("/bin/kill -HUP $MAINPID");
    expect([setting("Type"), setting("NotifyAccess")]).toEqual(["notify", "all"]);
  });

  it("keeps keys out of dumps and swap, and the process in its place", () => {
    expect([setting("LimitCORE"), setting("MemorySwapMax"), setting("UMask")]).toEqual(["0", "0", "0077"]);
    expect([setting("ProtectSystem"), setting("NoNewPrivileges"), setting("CapabilityBoundingSet")]).toEqual([
      "strict",
      "yes",
      "",
    ]);
    // V8 needs memory that it writes and runs.
    expect(settings.has("MemoryDenyWriteExecute")).toBe(false);
  });

  it.skipIf(!hasAnalyzer)("is what systemd takes, and exposes little (skipped without systemd-analyze)", () => {
    const folder = mkdtempSync(join(tmpdir(), "custody-unit-"));
    const file = join(folder, "custody.service");
    try {
      writeFileSync(file, unit.replace("/usr/bin/node", process.execPath));
      const verified = spawnSync("systemd-analyze", ["verify", "--man=no", file], { encoding: "utf8" });
      expect({ status: verified.status, said: verified.stderr }).toEqual({ status: 0, said: "" });
      // From 0 to 100; ordinary services have more than 90.
      const exposure = spawnSync("systemd-analyze", ["security", "--offline=true", "--threshold=25", file]);
      expect(exposure.status).toBe(0);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it.skipIf(!hasManager)(
    "runs a peer that tells when it listens, ends with 0 at SIGTERM and leaves nothing running (skipped without python3 or systemd-notify)",
    async () => {
      const folder = await PeerFolder.make();
      try {
        const { status, stdout, stderr } = underManager(...commandOn(folder.config));
        expect({ status, stderr }).toMatchObject({ status: 0 });
        expect(JSON.parse(stdout)).toEqual({
          started: [expect.stringMatching(/^READY=1\nSTATUS=listening/)],
          stopping: ["STOPPING=1"],
          code: 0,
          orphans: 0,
        });
        expect(stderr).toContain('"event":"stopped"');
      } finally {
        folder.remove();
      }
    },
  );
});
