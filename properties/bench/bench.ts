/** `npm run bench`: everything is measured in one run on this machine, because ratios hold where absolute figures drift. */
import { Misuse, printLine, runScript, type Script } from "../../sim/bin/Script.ts";
import { type CeremonyFormat, ceremonyFormats, measureCeremonies } from "./Ceremonies.ts";
import { type Figures, measureCluster } from "./Cluster.ts";
import { measureOverload } from "./Overload.ts";
import { measureSimulator } from "./Simulator.ts";

const parts = ["cluster", "overload", "simulator", "ceremonies"] as const;
type Part = (typeof parts)[number];

const help = `npm run bench -- [--only PART] [--format FORMAT] [--json]

  --only PART      ${parts.join(", ")}; all of them without
  --format FORMAT  ceremonies of one format: ${ceremonyFormats.join(", ")}
  --json           the figures as JSON

Builds the project and measures it beside its yardsticks in one run, some five
minutes for all of it; hold ratios against each other (docs/performance.md).
Ends with 0 when all was measured, 1 when something was not answered as it must
be, 2 on wrong usage.
`;

const options = {
  only: { type: "string" },
  format: { type: "string" },
  json: { type: "boolean", default: false },
} as const;

/** The choice by its name; throws for any other name. */
const chosen = <C extends string>(
  choices: ReadonlyArray<C>,
  name: string | undefined,
  option: string,
): C | undefined => {
  const choice = choices.find((each) => each === name);
  if (choice === undefined && name !== undefined)
    throw new Misuse(`--${option} ${name}: there is only ${choices.join(", ")}`);
  return choice;
};

const measure = async (
  only: Part | undefined,
  format: CeremonyFormat | undefined,
): Promise<Readonly<Record<string, Figures>>> => {
  const isWanted = (part: Part): boolean => only === undefined || only === part;
  return {
    ...(isWanted("cluster") ? await measureCluster() : {}),
    ...(isWanted("overload") ? { overload: await measureOverload() } : {}),
    ...(isWanted("simulator") ? { simulator: await measureSimulator() } : {}),
    ...(isWanted("ceremonies") ? { ceremonies: await measureCeremonies(format) } : {}),
  };
};

const main: Script<typeof options>["main"] = async ({ only, format, json }) => {
  const results = await measure(chosen(parts, only, "only"), chosen(ceremonyFormats, format, "format"));
  if (json) printLine(JSON.stringify(results, undefined, 2));
  else
    for (const [name, figures] of Object.entries(results)) {
      printLine(`\n${name}`);
      for (const [figure, value] of Object.entries(figures)) printLine(`  ${figure.padEnd(32)}${value}`);
    }
  return 0;
};

await runScript({ help, options, main });
