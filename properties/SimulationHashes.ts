/** Prints the trace hash of each seed in its arguments, after the number of steps; SimulationDeterminism.test.ts starts it. */
import { runSeed } from "../sim/Simulation.ts";

const [steps, ...seeds] = process.argv.slice(2).map(Number);
for (const seed of seeds) process.stdout.write(`${runSeed({ seed, steps }).hash}\n`);
