/** `npm run sim:score`: how many mutants of the product the seeds alone notice. */
import { availableParallelism } from "node:os";
import { Misuse, positive, printLine, runScript, type Script } from "../../sim/bin/Script.ts";
import { ASSERTED } from "./Assertions.ts";
import { refusedBy } from "./Compiler.ts";
import { bundle, ROOT, WORKER } from "./Bundle.ts";
import { judgeAll, runBaseline } from "./Judge.ts";
import { FOLDERS, LEFT_OUT, mutate, sourcesOf } from "./Mutants.ts";
import { mutantLines, pageLines, percentOf, scoreOf } from "./Page.ts";

const MUTANTS = "500";
const SEEDS = "1000";
const LEAST = "90";

const help = `npm run sim:score -- [--mutants N] [--sample N] [--seeds N] [--least PERCENT] [--jobs N] [--only PLACE]... [--mutant ID]... [--list] [--json]

  --mutants N      how many mutants to draw; ${MUTANTS} without
  --sample N       which ones: another number is another sample; 1 without
  --seeds N        seeds 1..N of the default mix that may notice; ${SEEDS} without
  --least PERCENT  the share that must be noticed; ${LEAST} without
  --jobs N         processes; one for each core without
  --only PLACE     mutants of files that begin so, or of FILE:LINE; may be given several times
  --mutant ID      this mutant, as a page before listed it; may be given several times
  --list           list the mutants that would be judged, and judge none
  --json           the page as JSON

Draws mutants of ${FOLDERS.join(", ")}, as Stryker makes them, without ${LEFT_OUT.join(", ")}
(most are words for people), without assertions (if … throw new ${ASSERTED.join(", ")}:
what never fires cannot be seen to fire less), and without those that the type checker
refuses, in whose place the next of the sample come. One is noticed when a seed breaks an invariant, throws,
ends its process, or has ten times the events it has without and 20,000 more; no unit
test is asked. A process that computes a minute for one seed is killed: that is a run
without end. A trace that differs is nothing. Code that no seed executes counts as not
noticed, and so do equivalent mutants. A mutant with which the program cannot even be
loaded is listed and not counted. Nothing is kept.
A seed that breaks something without any mutant is left out and named.

Ends with 0 when the share is reached, 1 when it is not or a seed was left out, 2 on wrong usage.
`;

const options = {
  mutants: { type: "string", default: MUTANTS },
  sample: { type: "string", default: "1" },
  seeds: { type: "string", default: SEEDS },
  least: { type: "string", default: LEAST },
  jobs: { type: "string", default: String(availableParallelism()) },
  only: { type: "string", multiple: true },
  mutant: { type: "string", multiple: true },
  list: { type: "boolean" },
  json: { type: "boolean" },
} as const;

/** Progress, where nobody reads the page by machine. */
const tell = (line: string): void => void process.stderr.write(`${line}\n`);

const percent = (text: string): number => {
  if (!/^\d{1,3}(\.\d+)?$/u.test(text) || Number(text) > 100) throw new Misuse("--least must be from 0 to 100");
  return Number(text);
};

const main: Script<typeof options>["main"] = async (values) => {
  const most = positive(values.mutants, "mutants");
  const sample = positive(values.sample, "sample");
  const seeds = positive(values.seeds, "seeds");
  const jobs = positive(values.jobs, "jobs");
  const least = percent(values.least);
  const product = sourcesOf(ROOT);
  const { mutants, refused, sources } = await mutate(product, {
    refused: refusedBy(ROOT, product),
    most,
    sample,
    only: values.only ?? [],
    ids: values.mutant ?? [],
  });
  if (mutants.length === 0) throw new Misuse("--only, --mutant: there is no such mutant; --list shows those there are");
  if (values.list === true) {
    for (const line of values.json === true ? [JSON.stringify(mutants)] : mutants.flatMap(mutantLines)) printLine(line);
    return 0;
  }
  const { program, remove } = await bundle(WORKER, sources);
  try {
    tell(`${mutants.length} mutants, and ${refused} drawn that do not compile; seeds 1..${seeds} without any`);
    const baseline = await runBaseline(program, seeds);
    if (typeof baseline === "string") {
      tell(`${baseline}: mutants cannot be judged by these seeds`);
      return 1;
    }
    const broken = baseline.broken.map(
      ({ seed, broke }) => `seed ${seed} breaks ${broke} without any mutant: left out`,
    );
    for (const line of broken) tell(line);
    const judged = await judgeAll(program, baseline, mutants, jobs, ({ mutant, reaching, parting, noticed }, done) =>
      tell(
        `${done}/${mutants.length} ${mutant.id} ${noticed === undefined ? `not noticed by ${reaching} seeds, of which ${parting} are other runs` : `${noticed.by} in seed ${noticed.seed}`}`,
      ),
    );
    const score = scoreOf(judged);
    if (values.json === true) printLine(JSON.stringify({ seeds, sample, refused, broken, score, mutants: judged }));
    else for (const line of [...pageLines(judged, seeds, refused), ...broken]) printLine(line);
    return percentOf(score) >= least && broken.length === 0 ? 0 : 1;
  } finally {
    remove();
  }
};

await runScript({ help, options, main });
