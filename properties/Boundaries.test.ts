import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { cruise, type ICruiseOptions, type ICruiseResult } from "dependency-cruiser";
import { expect, it } from "vitest";

const { forbidden }: NonNullable<ICruiseOptions["ruleSet"]> = createRequire(import.meta.url)(
  "../.dependency-cruiser.cjs",
);

/** The rules about judges that each of these files breaks, which lie beside a core that has what they import. */
const broken = async (files: {
  readonly [path: string]: string;
}): Promise<ReadonlyArray<readonly [string, string]>> => {
  const baseDir = mkdtempSync(join(tmpdir(), "boundaries-"));
  const write = (name: string, text: string): void => {
    mkdirSync(dirname(join(baseDir, name)), { recursive: true });
    writeFileSync(join(baseDir, name), text);
  };
  try {
    for (const each of ["Command", "Tables", "Topology"]) write(`core/protocol/${each}.ts`, "export const it = 1;\n");
    for (const [path, text] of Object.entries(files)) write(path, `${text}\n`);
    const ruleSet = { forbidden: forbidden ?? [] };
    const { output } = await cruise(["sim"], { baseDir, ruleSet, validate: true, tsPreCompilationDeps: true });
    const { violations } = (output as ICruiseResult).summary;
    const found = violations.map(({ from, rule }): readonly [string, string] => [from, rule.name]);
    return found.filter(([, rule]) => rule.includes("judges")).toSorted();
  } finally {
    rmSync(baseDir, { recursive: true });
  }
};

it("keeps what judges a run from asking the core", async () => {
  const judges = [
    "checkers/S9",
    "models/Planted",
    "models/approvers/Planted",
    "oracle/Planted",
    "requests/Planted",
    "run/L7",
    "world/Crowd",
  ];
  const up = (name: string): string => "../".repeat(name.split("/").length);
  const all = (text: (up: string) => string) =>
    Object.fromEntries(judges.map((name) => [`sim/${name}.ts`, text(up(name))]));
  const each = judges.map((name) => [`sim/${name}.ts`, "judges-ask-the-core-nothing"]);
  expect(await broken(all((to) => `import { type It, it } from "${to}core/protocol/Command.ts"; it;`))).toEqual(each);
  expect(await broken(all((to) => `import type { It } from "${to}core/protocol/Command.ts";`))).toEqual([]);
  expect(await broken(all((to) => `import { it } from "${to}core/protocol/Tables.ts"; it;`))).toEqual([]);
});

it("keeps who works with capacities from the numbers of the service", async () => {
  const line = (what: string): string =>
    `import { ${what} } from "../base/Capacities.ts"; export const one: Capacities = 1;`;
  const rules = (output: ICruiseResult) => output.summary.violations.map(({ from, rule }) => [from, rule.name]);
  const baseDir = mkdtempSync(join(tmpdir(), "boundaries-"));
  try {
    for (const folder of ["core/base", "core/protocol"]) mkdirSync(join(baseDir, folder), { recursive: true });
    writeFileSync(
      join(baseDir, "core/base/Capacities.ts"),
      "export type Capacities = 1; export const CAPACITIES = 1;\n",
    );
    writeFileSync(join(baseDir, "core/protocol/Entry.ts"), line("type Capacities, CAPACITIES"));
    writeFileSync(join(baseDir, "core/protocol/Message.ts"), line("type Capacities, CAPACITIES"));
    writeFileSync(join(baseDir, "core/protocol/Step.ts"), line("type Capacities"));
    const ruleSet = { forbidden: (forbidden ?? []).filter(({ name }) => name === "capacities-come-with-settings") };
    const { output } = await cruise(["core"], { baseDir, ruleSet, validate: true, tsPreCompilationDeps: true });
    expect(rules(output as ICruiseResult)).toEqual([["core/protocol/Entry.ts", "capacities-come-with-settings"]]);
  } finally {
    rmSync(baseDir, { recursive: true });
  }
});

it("lets each borrow only what is listed for it", async () => {
  const line = `import { it } from "../../core/protocol/Topology.ts"; it;`;
  const files = ["checkers/S19", "checkers/S9", "checkers/S19.test", "faults/Planted"];
  expect(await broken(Object.fromEntries(files.map((name) => [`sim/${name}.ts`, line])))).toEqual([
    ["sim/checkers/S9.ts", "only-some-judges-use-protocol/Topology"],
  ]);
});
