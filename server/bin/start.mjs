/** `npm start`: makes one file of everything, and runs `custody dev` from it with the arguments given here. */
import { pathToFileURL } from "node:url";

// As NoDebugger.ts, which is not loaded yet.
process.on("SIGUSR1", () => undefined);

const { bundleCommand } = await import("./bundle.mjs");
const program = bundleCommand();
process.argv = [process.execPath, program, "dev", ...process.argv.slice(2)];
await import(pathToFileURL(program).href);
