/** Every page of the documentation that shows commands, and what becomes of each of them. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "./Documented.ts";
import { commandsOf } from "./PageCommands.ts";
import type { Installed } from "./Package.ts";
import { cli } from "./pages/Cli.ts";
import { endOperations, operations, operatorsWorld } from "./pages/Operations.ts";
import { architecture, checkoutWorld, readme } from "./pages/Readme.ts";
import {
  api,
  chaos,
  dependencies,
  deskWorld,
  performance_,
  simulator,
  strength,
  vectors,
  webauthn,
} from "./pages/Simulator.ts";
import { runPage } from "./Sandbox.ts";

const deskPages = [simulator, strength, chaos, performance_, api, webauthn, dependencies, vectors];

export const pages: ReadonlyArray<Page<never>> = [readme, architecture, operations, cli, ...deskPages];

/** The text of every page that shows commands, by its path. */
export const pageTexts = (checkout: string): ReadonlyMap<string, string> => {
  const docs = readdirSync(join(checkout, "docs"), { recursive: true, encoding: "utf8" });
  const files = ["README.md", ...docs.filter((name) => name.endsWith(".md")).map((name) => join("docs", name))];
  return new Map(
    files
      .map((file) => [file, readFileSync(join(checkout, file), "utf8")] as const)
      .filter(([, text]) => commandsOf(text).length > 0),
  );
};

/** Runs the commands of all pages: operators', those of a checkout, and the simulator's, side by side. */
export const runPages = async (
  installed: Installed,
  checkout: string,
  folder: string,
  say: (line: string) => void,
): Promise<void> => {
  const operators = async (): Promise<void> => {
    const world = await operatorsWorld(installed, checkout, join(folder, "operators"));
    try {
      await runPage(operations, world, say);
      await runPage(cli, world, say);
      await endOperations(world, say);
    } finally {
      await world.sandbox.close();
    }
  };
  const others = async (): Promise<void> => {
    const world = await checkoutWorld(checkout, join(folder, "checkout"));
    try {
      await runPage(readme, world, say);
      await runPage(architecture, world, say);
    } finally {
      await world.sandbox.close();
    }
    const desk = deskWorld(installed, checkout, join(folder, "desk"));
    for (const page of deskPages) await runPage(page, desk, say);
  };
  const [first, second] = await Promise.allSettled([operators(), others()]);
  for (const result of [first, second]) if (result.status === "rejected") throw result.reason;
};
