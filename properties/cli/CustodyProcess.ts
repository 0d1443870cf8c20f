/** Runs the real command line as a process of its own. */
import { fileURLToPath } from "node:url";
import { bundleCommand } from "../../server/bin/bundle.mjs";
import { Running, type RunOptions } from "./Running.ts";

/** The command line's source. */
export const custodyScript = fileURLToPath(new URL("../../server/bin/custody.ts", import.meta.url));

/** The program that every test starts; made once in a process. */
export const program = bundleCommand();

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs one command to its end. */
export const runCustody = async (args: ReadonlyArray<string>, options: RunOptions = {}): Promise<Finished> => {
  const running = new Running([program, ...args], options);
  await running.ended();
  const { child, stdout, stderr } = running;
  return { code: child.exitCode, stdout, stderr };
};
