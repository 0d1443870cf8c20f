/** Pages about the simulator, chaos, measurements and vectors: nothing of it needs a cluster. */
import { copyFileSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "../Documented.ts";
import type { Installed } from "../Package.ts";
import { must } from "../Programs.ts";
import { Sandbox, type World } from "../Sandbox.ts";

export interface DeskWorld extends World {
  readonly folder: string;
  readonly checkout: string;
}

/** Commands run in a folder of their own, with the installed package; those of npm in the checkout. */
export const deskWorld = (installed: Installed, checkout: string, folder: string): DeskWorld => {
  copyFileSync(join(checkout, "docs/strength.md"), `${folder}.strength.md`);
  const sandbox = new Sandbox(
    {
      folder,
      path: join(installed.folder, "node_modules/.bin"),
      instead: [
        ["npm run", `npm --prefix ${checkout} run`],
        ["docs/strength.md", `${folder}.strength.md`],
      ],
    },
    `${folder}.session`,
  );
  return { sandbox, folder, checkout };
};

const shorter = (from: string, to: string) => ({
  run: (command: string) => command.replace(from, to),
  because: `${from} is ${to}`,
});
const withMore = (more: string, because: string) => ({ run: (command: string) => `${command} ${more}`, because });
/** The installed command in place of the checkout's, so that what it writes is not written there. */
const installedOne = (more = "") => ({
  run: (command: string) => `${command.replace("npm run -s custody --", "custody")}${more}`,
  because: `by the installed command${more === "" ? "" : ` with${more}`}`,
});

/** A command of the checkout that builds first: without that, since the package was built a moment ago. */
const unbuilt = (more: string) => ({
  run: (command: string, { checkout }: DeskWorld) => {
    const { scripts } = JSON.parse(readFileSync(join(checkout, "package.json"), "utf8"));
    const [, name = "", rest = ""] = /^npm run (\w+)(?: --)?(.*)$/.exec(command) ?? [];
    const script = String(scripts[name]).replace("npm run -s build && exec ", "");
    return `cd ${checkout} && ${script}${rest} ${more}`;
  },
  because: `with ${more}, and without building again`,
});

export const simulator: Page<DeskWorld> = {
  file: "docs/simulator.md",
  entries: [
    { of: "npm run sim -- --seed 42", prints: /\b[0-9a-f]{16}/ },
    { of: "npm run sim -- --seeds 1..10000", as: shorter("10000", "20"), prints: /20/ },
    { of: "npm run -s custody -- sim run", as: installedOne(" --no-shrink"), code: 1, prints: /S14/ },
    { of: "npm run -s custody -- sim replay", as: installedOne(), prints: /./ },
    { of: "npm run sim:determinism", not: "ci" },
    { of: "npm run sim:marks", not: "ci" },
    { of: "custody sim run --seeds 1..1000000", as: shorter("1000000", "48") },
    { of: "custody sim merge shard-*.json" },
    { of: "custody sim explore", as: withMore("--states 300", "ended after 300 states") },
    {
      of: "custody sim explore --world signing",
      as: withMore("--states 300", "ended after 300 states"),
    },
    { of: "custody sim explore --world promotion", as: withMore("--states 300", "ended after 300 states") },
    {
      of: "npm run -s custody -- sim show",
      as: installedOne(),
      // The bug was found.
      code: 1,
      after: ({ folder }) => must(statSync(join(folder, "bug.html")).size > 10_000, "the page is empty"),
    },
    { of: "npm run sim:module", as: withMore("-- --seeds 1..8", "8 seeds"), prints: /seeds 1\.\.8 hold/ },
    {
      of: "npm run sim:strength -- --bug NAME",
      as: { run: (command) => `${command.replace("NAME", "double-vote")} --shrink 1`, because: "NAME is double-vote" },
    },
  ],
};

export const strength: Page<DeskWorld> = {
  file: "docs/strength.md",
  entries: [
    {
      of: "npm run sim:strength -- --table",
      as: withMore("--bug answer-early --shrink 1", "one bug, shrunk for a second"),
      prints: /answer-early/,
    },
    {
      of: "npm run sim:score",
      as: withMore("-- --list --mutants 2", "two mutants, judged by no seed"),
      prints: /--mutant [0-9a-f]{8}/,
    },
  ],
};

export const chaos: Page<DeskWorld> = {
  file: "docs/chaos.md",
  entries: [
    { of: "npm run chaos -- --peers 1-3", as: unbuilt("--plan"), prints: /one peer, promoted to 3/ },
    { of: "npm run chaos -- --seed 7", as: unbuilt("--plan"), prints: /seed 7, 2 minutes/ },
  ],
};

export const performance_: Page<DeskWorld> = {
  file: "docs/performance.md",
  entries: [{ of: "npm run bench", as: unbuilt("--help"), prints: /--only PART/ }],
};

export const api: Page<DeskWorld> = {
  file: "docs/api.md",
  entries: [{ of: "custody openapi", prints: /^\{\s*"openapi": ?"3\.1/ }],
};

export const webauthn: Page<DeskWorld> = {
  file: "docs/webauthn.md",
  entries: [
    { of: "npx vitest run core/webauthn", not: "ci" },
    { of: "npm run fuzz:ceremony", as: withMore("-- --count 500", "500 mutations"), prints: /500 mutations/ },
  ],
};

export const dependencies: Page<DeskWorld> = {
  file: "docs/dependencies.md",
  entries: [
    { of: "npm run lock:complete", not: "sources" },
    { of: "npm run check:unused", not: "ci" },
    { of: "npm run mutate", not: "long" },
    { of: "npm run sim:score", not: "long" },
  ],
};

export const vectors: Page<DeskWorld> = {
  file: "docs/vectors/README.md",
  entries: [
    ...(["jq -r '.accepted", "jq -cjS '.record.credential + ", "jq -cjS '.record.credential | "] as const).map(
      (of, index) => ({
        of,
        as: {
          run: (command: string, { checkout }: DeskWorld) => `cd ${checkout}/docs/vectors && ${command}`,
          because: "in its folder",
        },
        prints: index === 0 ? /^$/ : /^\{.*\}$/,
      }),
    ),
    { of: "npx vitest run core/credential", not: "ci" },
  ],
};
