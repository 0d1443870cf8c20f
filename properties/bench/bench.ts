/** `npm run bench`: everything is measured in one run on this machine, because ratios hold where absolute figures drift. */
import { Misuse, positive, printLine, runScript, type Script } from "../../sim/bin/Script.ts";
import { isBuilt, measureBuilds } from "./Builds.ts";
import { type CeremonyFormat, ceremonyFormats, measureCeremonies } from "./Ceremonies.ts";
import { type Figures, measureCluster } from "./Cluster.ts";
import { measureGrowth } from "./Growth.ts";
import { measureKeyring } from "./Keyring.ts";
import { measureKeys } from "./Keys.ts";
import { measureOverload } from "./Overload.ts";
import { measurePromotions } from "./Promotion.ts";
import { measureSimulator } from "./Simulator.ts";
import { measureSustained } from "./Sustained.ts";
import { measureRegistry, type RegistryOrder, registrySizes } from "./registry/Registry.ts";

const parts = [
  "cluster",
  "keys",
  "overload",
  "simulator",
  "ceremonies",
  "registry",
  "growth",
  "keyring",
  "promotion",
  "sustained",
] as const;
/** Without --only: what takes minutes, and not gigabytes. */
const usual: ReadonlyArray<Part> = ["cluster", "keys", "overload", "simulator", "ceremonies"];
type Part = (typeof parts)[number];

const help = `npm run bench -- [--only PART] [--format FORMAT] [--json]

  --only PART      ${parts.join(", ")}; all but
                   the last five without; sustained takes ten minutes
  --against FOLDER only registrations, by turns with those of the build in another
                   checkout: processor time and latency, here over there
  --format FORMAT  ceremonies of one format: ${ceremonyFormats.join(", ")}
  --sizes LIST     approvers of the registries that are compared, ascending:
                   ${registrySizes.join(",")} without; the last takes 10 GB of disk,
                   4 GB of memory and a quarter of an hour. Growth registers
                   them one by one, 500 or so a second, and so does promotion,
                   100000 at most; keyring makes as many keys as that
  --keep FOLDER    leave the registries there, or measure those that are there
  --quick          a fiftieth of the calls to the registries, two minutes of
                   sustained: figures that mean little, to see that all of it
                   is answered
  --json           the figures as JSON

Builds the project and measures it beside its yardsticks in one run, some five
minutes for all of it; hold ratios against each other (docs/performance.md).
Ends with 0 when all was measured, 1 when something was not answered as it must
be, 2 on wrong usage.
`;

const options = {
  only: { type: "string" },
  against: { type: "string" },
  format: { type: "string" },
  sizes: { type: "string", default: registrySizes.join(",") },
  keep: { type: "string" },
  quick: { type: "boolean", default: false },
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

const sizesIn = (list: string): ReadonlyArray<number> => {
  const sizes = list.split(",").map((each) => positive(each, "sizes"));
  if (sizes.some((size, index) => size < 1_000 || size <= (sizes[index - 1] ?? 0)))
    throw new Misuse("--sizes takes whole numbers from 1000, ascending, with commas between them");
  return sizes;
};

const measure = async (
  only: Part | undefined,
  format: CeremonyFormat | undefined,
  registry: RegistryOrder,
): Promise<Readonly<Record<string, Figures>>> => {
  const isWanted = (part: Part): boolean => only === part || (only === undefined && usual.includes(part));
  return {
    ...(isWanted("cluster") ? await measureCluster() : {}),
    ...(isWanted("keys") ? { keys: await measureKeys() } : {}),
    ...(isWanted("overload") ? { overload: await measureOverload() } : {}),
    ...(isWanted("simulator") ? { simulator: await measureSimulator() } : {}),
    ...(isWanted("ceremonies") ? { ceremonies: await measureCeremonies(format) } : {}),
    ...(isWanted("registry") ? await measureRegistry(registry) : {}),
    ...(isWanted("growth") ? await measureGrowth(registry.sizes) : {}),
    ...(isWanted("keyring") ? await measureKeyring(registry.sizes) : {}),
    ...(isWanted("promotion") ? await measurePromotions(registry.sizes) : {}),
    ...(isWanted("sustained") ? await measureSustained(registry.isQuick) : {}),
  };
};

const main: Script<typeof options>["main"] = async ({ only, against, format, sizes, keep, quick, json }) => {
  if (against !== undefined && only !== undefined) throw new Misuse("--against measures one thing; leave out --only");
  if (against !== undefined && !isBuilt(against))
    throw new Misuse(`--against ${against}: there is no build; run npm run build there`);
  const registry = { sizes: sizesIn(sizes), keptIn: keep, isQuick: quick };
  const [part, ofFormat] = [chosen(parts, only, "only"), chosen(ceremonyFormats, format, "format")];
  const results = await (against === undefined ? measure(part, ofFormat, registry) : measureBuilds(against));
  if (json) printLine(JSON.stringify(results, undefined, 2));
  else
    for (const [name, figures] of Object.entries(results)) {
      printLine(`\n${name}`);
      for (const [figure, value] of Object.entries(figures)) printLine(`  ${figure.padEnd(44)}${value}`);
    }
  return 0;
};

await runScript({ help, options, main });
