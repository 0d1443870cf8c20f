/** Runs the command line inside the test's process, which is many times faster than a process for each command. */
import { Effect } from "effect";
import { vi } from "vitest";
import type * as NodeContext from "@effect/platform-node/NodeContext";
import { custodyProgram, type CustodySettings, exitCodeOf } from "../../server/cli/Custody.ts";
import { custodyScript, type Finished } from "./CustodyProcess.ts";

const noSim = () => Promise.reject(new Error("no test here needs the simulator"));

/** Keeps what is written to a stream instead of writing it. */
const capture = (stream: NodeJS.WriteStream) => {
  let text = "";
  const spy = vi.spyOn(stream, "write").mockImplementation((chunk, encodingOrDone, done) => {
    text += String(chunk);
    const callback = typeof encodingOrDone === "function" ? encodingOrDone : done;
    callback?.();
    return true;
  });
  return () => {
    spy.mockRestore();
    return text;
  };
};

/** Runs one command to its end, with `env` in place of the `CUSTODY_` variables around it. */
export const runInProcess = async <E, A>(
  args: ReadonlyArray<string>,
  env: Readonly<Record<string, string>>,
  loadSim: CustodySettings<NodeContext.NodeContext, E, A>["loadSim"] = noSim,
): Promise<Finished> => {
  for (const name of Object.keys(process.env)) if (name.startsWith("CUSTODY_")) vi.stubEnv(name, undefined);
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  const [stdout, stderr] = [capture(process.stdout), capture(process.stderr)];
  try {
    const exit = await Effect.runPromiseExit(custodyProgram({ entry: custodyScript, loadSim }, args));
    return { code: exitCodeOf(exit, args), stdout: stdout(), stderr: stderr() };
  } finally {
    stdout();
    stderr();
    vi.unstubAllEnvs();
  }
};
