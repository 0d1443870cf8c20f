/** `npm run sim:determinism`: whether a seed is one run, in every process and on every Node. */
import { Either } from "effect";
import { Misuse, positive, printLine, runScript, type Script } from "../../sim/bin/Script.ts";
import { parseSeeds } from "../../sim/hunting/Seeds.ts";
import { comparisonLines, compareProcesses, SECOND_NODE } from "./Processes.ts";

const SEEDS = "1..1000";
const STEPS = "40";

const help = `npm run sim:determinism -- [--seeds A..B] [--steps N]

  --seeds A..B     the seeds to run; ${SEEDS} without
  --steps N        steps of each before it is healed; ${STEPS} without

Runs every seed in two processes of this Node, and in one of the Node that the
environment variable ${SECOND_NODE} names, and compares them moment by moment.
Ends with 0 when all are the same, 1 when they differ, 2 on wrong usage.
`;

const options = {
  seeds: { type: "string", default: SEEDS },
  steps: { type: "string", default: STEPS },
} as const;

const main: Script<typeof options>["main"] = async (values) => {
  const seeds = parseSeeds(values.seeds);
  if (Either.isLeft(seeds)) throw new Misuse(`--seeds: ${seeds.left}`);
  const steps = positive(values.steps, "steps");
  const second = process.env[SECOND_NODE];
  const comparison = await compareProcesses(seeds.right, steps, second === undefined ? [] : [second]);
  for (const line of comparisonLines(seeds.right, comparison)) printLine(line);
  printLine(
    second === undefined
      ? `no second Node: ${SECOND_NODE} is not set, so only this one was asked`
      : `second Node: ${second}`,
  );
  return "lines" in comparison.outcome ? 0 : 1;
};

await runScript({ help, options, main });
