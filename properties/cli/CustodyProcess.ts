/** Runs the real command line as a process of its own. */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { bundleCommand } from "../../server/bin/bundle.mjs";

/** The command line's source. */
export const custodyScript = fileURLToPath(new URL("../../server/bin/custody.ts", import.meta.url));

/** What every test starts; made once in a process. */
const program = bundleCommand();

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** All of standard input; closed at once when left out. */
  readonly input?: string;
}

const cleanEnvironment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("CUSTODY_")));

/** Runs one command to its end. */
export const runCustody = (args: ReadonlyArray<string>, { env = {}, input = "" }: RunOptions = {}): Promise<Finished> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, ...args], {
      env: { ...cleanEnvironment(), ...env },
      stdio: "pipe",
    });
    let [stdout, stderr] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      stdout += chunk;
    });
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      stderr += chunk;
    });
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, stdout, stderr }));
    child.stdin.on("error", () => undefined);
    child.stdin.end(input);
  });
