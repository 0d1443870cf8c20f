/** `npm run sim:module`: many seeds of worlds that run the test-only module beside the product. */
import { Either } from "effect";
import { Misuse, printLine, runScript, type Script } from "../../sim/bin/Script.ts";
import { parseSeeds } from "../../sim/hunting/Seeds.ts";
import { runSeeds, scheduleOf } from "./notes/Seeds.ts";
import { productWithNotes } from "./notes/WithNotes.ts";

const SEEDS = "1..10000";

const help = `npm run sim:module -- [--seeds A..B]

  --seeds A..B     the seeds to run; ${SEEDS} without

Runs each with a command, a message, a timer and a table that only this test has,
seven of eight in the default mix, the others with declared restores, and counts
what was reached. Ends with 0 when all hold, 1 at the first that does not, 2 on
wrong usage.
`;

const options = { seeds: { type: "string", default: SEEDS } } as const;

const main: Script<typeof options>["main"] = (values) => {
  const seeds = parseSeeds(values.seeds);
  if (Either.isLeft(seeds)) throw new Misuse(`--seeds: ${seeds.left}`);
  const { marks, failure } = runSeeds(productWithNotes(), seeds.right, (seed) => ({ schedule: scheduleOf(seed) }));
  for (const [name, count] of marks.entries()) printLine(`${String(count).padStart(9)}  ${name}`);
  if (failure === undefined) printLine(`seeds ${values.seeds} hold`);
  else printLine(`seed ${failure.seed}: ${failure.violation.message}`);
  return failure === undefined ? 0 : 1;
};

await runScript({ help, options, main });
