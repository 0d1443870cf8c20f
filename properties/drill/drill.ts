/** `npm run drill`: what becomes of an installation, with the packed package and real processes. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Misuse, printLine, runScript, type Script } from "../../sim/bin/Script.ts";
import { type Installed, packAndInstall } from "./Package.ts";
import { endAll, Failed } from "./Programs.ts";
import { rollingRestart, rollingUpgrade } from "./Rolling.ts";

type Say = (line: string) => void;

/** What is done with the installed package; it is made first in any case. */
const steps: Readonly<Record<string, (present: Installed, folder: string, say: Say) => Promise<void>>> = {
  restart: rollingRestart,
  upgrade: rollingUpgrade,
};
const names = ["package", ...Object.keys(steps)];

const help = `npm run drill -- [--only STEP]... [--keep]

Packs this checkout, installs the package into an empty folder, and lives with it:

  package   what npm pack makes holds what is promised and nothing else; installed, it runs
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

const checkout = fileURLToPath(new URL("../../", import.meta.url));

const main: Script<typeof options>["main"] = async ({ only = names, keep = false }) => {
  const unknown = only.find((name) => !names.includes(name));
  if (unknown !== undefined) throw new Misuse(`--only: ${unknown} is none of ${names.join(", ")}`);
  const folder = mkdtempSync(join(tmpdir(), "custody-drill-"));
  const step = async <A>(name: string, act: (say: Say) => Promise<A>): Promise<A> => {
    const began = performance.now();
    printLine(`${name}`);
    const made = await act((line) => printLine(`  ${line}`));
    printLine(`  ${name}: as documented, ${((performance.now() - began) / 1_000).toFixed(1)} s`);
    return made;
  };
  try {
    const present = await step("package", () => packAndInstall(checkout, join(folder, "package")));
    for (const name of Object.keys(steps).filter((each) => only.includes(each)))
      await step(name, async (say) => steps[name]?.(present, join(folder, name), say));
  } catch (fault) {
    if (!(fault instanceof Error)) throw fault;
    printLine(`drill: ${fault instanceof Failed ? fault.message : fault.stack}`);
    printLine(`databases and logs: ${folder}`);
    return 1;
  } finally {
    endAll();
  }
  if (keep) printLine(`kept: ${folder}`);
  else rmSync(folder, { recursive: true, force: true });
  return 0;
};

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => process.exit(130));
process.on("exit", endAll);
await runScript({ help, options, main });
