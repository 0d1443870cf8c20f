/**
 * `npm start` and `npm run sim`: makes one file of everything, and runs `custody` from it with the words given here.
 * It is as old as the sources, and a hunt from it takes as long as one of the built program.
 */
import { pathToFileURL } from "node:url";

// As NoDebugger.ts, which is not loaded yet.
process.on("SIGUSR1", () => undefined);

const { bundleCommand } = await import("./bundle.mjs");
const program = bundleCommand();
process.argv = [process.execPath, program, ...process.argv.slice(2)];
await import(pathToFileURL(program).href);
