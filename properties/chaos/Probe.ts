/** Which tools for faults this machine has. */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { FaultKind } from "./Plan.ts";

export interface Tools {
  /** Sets the limits of a running process (util-linux). */
  readonly prlimit: string | undefined;
  /** Moves the clock of a process that loads it. */
  readonly libfaketime: string | undefined;
}

const runs = (program: string, ...args: ReadonlyArray<string>): boolean => {
  try {
    execFileSync(program, args, { stdio: "ignore", timeout: 5_000 });
    return true;
  } catch {
    return false;
  }
};

const libraryNames = ["faketime/libfaketimeMT.so.1", "faketime/libfaketime.so.1", "libfaketime.so.1"];

/** Distributions put it below the folder of the machine's architecture. */
const findFaketime = (): string | undefined => {
  const roots = ["/usr/lib", "/usr/lib64", "/usr/local/lib"].filter(existsSync);
  const folders = roots.flatMap((root) => [root, ...readdirSync(root).map((name) => join(root, name))]);
  return folders.flatMap((folder) => libraryNames.map((name) => join(folder, name))).find(existsSync);
};

/** Looks for every tool once. */
export const probeTools = (): Tools => ({
  prlimit: process.platform === "linux" && runs("prlimit", "--version") ? "prlimit" : undefined,
  libfaketime: process.platform === "linux" ? findFaketime() : undefined,
});

/** Why a kind of fault cannot be done here; undefined when it can. All others need no tool and no privilege. */
export const obstacle = (kind: FaultKind, tools: Tools): string | undefined => {
  if (kind === "disk-full" && tools.prlimit === undefined)
    return "the disk cannot be made to seem full: there is no prlimit (util-linux)";
  if (kind === "faketime" && tools.libfaketime === undefined)
    return "libfaketime is not installed; clocks are moved from inside the process only";
  return undefined;
};
