/** `npm run drill`: what becomes of an installation, with the packed package and real processes. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Misuse, printLine, runScript, type Script } from "../../sim/bin/Script.ts";
import { type Installed, packAndInstall } from "./Package.ts";
import { runPages } from "./Pages.ts";
import { endAll, Failed } from "./Programs.ts";
import { rollingRestart, rollingUpgrade } from "./Rolling.ts";

type Say = (line: string) => void;

const checkout = fileURLToPath(new URL("../..", import.meta.url));

/** What is done with the installed package; it is made first in any case. */
const steps: Readonly<Record<string, (present: Installed, folder: string, say: Say) => Promise<void>>> = {
  commands: (present, folder, say) => runPages(present, checkout, folder, say),
  restart: rollingRestart,
  upgrade: rollingUpgrade,
};
const names = ["package", ...Object.keys(steps)];
/** Steps one after the other; these rows go side by side, since the second one mostly waits. */
const rows = [["commands"], ["restart", "upgrade"]];

const help = `npm run drill -- [--only STEP]... [--keep]

Packs this checkout, installs the package into an empty folder, and lives with it:

  package   what npm pack makes holds what is promised and nothing else; installed, it runs
  commands  every command of README.md and docs/, in its page's order: as it stands there,
            or shorter, or not, and why; one that nothing runs is a failure
  restart   three peers with TLS are restarted in turn while callers go on; nothing
            that was acknowledged is lost, refusals are of kinds that may be repeated
  upgrade   the same from this version to a planted next one, side by side on the way;
            older and newer programs say what they do not understand

  --only STEP   one of these; may be given several times. The package is made in any case
  --keep        keep the folder, with databases and logs; after a failure it is kept anyway

Exit codes: 0 all of it went as documented, 1 something did not (the last lines say
what, and where the databases are), 2 wrong usage.
`;

const options = {
  only: { type: "string", multiple: true },
  keep: { type: "boolean" },
} as const;

const main: Script<typeof options>["main"] = async ({ only = names, keep = false }) => {
  const unknown = only.find((name) => !names.includes(name));
  if (unknown !== undefined) throw new Misuse(`--only: ${unknown} is none of ${names.join(", ")}`);
  const folder = mkdtempSync(join(tmpdir(), "custody-drill-"));
  const began = performance.now();
  const say = (line: string): void =>
    printLine(`${((performance.now() - began) / 1_000).toFixed(1).padStart(6)} s  ${line}`);
  const step = async <A>(name: string, act: (say: Say) => Promise<A>): Promise<A> => {
    const from = performance.now();
    const made = await act((line) => say(`${name}: ${line}`));
    say(`${name}: all as documented, in ${((performance.now() - from) / 1_000).toFixed(1)} s`);
    return made;
  };
  const faults: Array<unknown> = [];
  try {
    const present = await step("package", () => packAndInstall(checkout, join(folder, "package")));
    const wanted = rows.map((row) => row.filter((name) => only.includes(name)));
    const goThrough = async (row: ReadonlyArray<string>): Promise<void> => {
      for (const name of row) await step(name, async (tell) => steps[name]?.(present, join(folder, name), tell));
    };
    await Promise.all(wanted.map((row) => goThrough(row).catch((fault: unknown) => void faults.push(fault))));
  } catch (fault) {
    faults.push(fault);
  } finally {
    endAll();
  }
  for (const fault of faults) {
    if (!(fault instanceof Error)) throw fault;
    printLine(`drill: ${fault instanceof Failed ? fault.message : fault.stack}`);
  }
  if (faults.length > 0) {
    printLine(`databases and logs: ${folder}`);
    return 1;
  }
  say(`${only.length === names.length ? "all steps" : only.join(", ")}: as documented`);
  if (keep) printLine(`kept: ${folder}`);
  else rmSync(folder, { recursive: true, force: true });
  return 0;
};

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => process.exit(130));
process.on("exit", endAll);
await runScript({ help, options, main });
