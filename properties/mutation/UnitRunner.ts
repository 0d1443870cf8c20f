/** Holds mutants of `core` against its unit tests and those of `runtime`, as a test runner of StrykerJS. */
import { readdirSync } from "node:fs";
import { resolve } from "node:path";
import { declareFactoryPlugin, PluginKind } from "@stryker-mutator/api/plugin";
import { LoadedRunner, type LoadedTests } from "./LoadedRunner.ts";
import { becomeVitestWorker } from "./VitestWorker.ts";

/** Where they are: those of what browsers send play a browser, with the cryptography of `server`, and so they are no part of `core`. */
const ROOMS = ["core", "runtime", "properties/webauthn"];

const testFilesIn = (room: string): ReadonlyArray<string> =>
  readdirSync(room, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".test.ts"))
    .toSorted()
    .map((path) => resolve(room, path));

/** Loads the test files of the sandbox. */
const loadUnits = async (): Promise<LoadedTests> => {
  const config = becomeVitestWorker();
  const { UnitTests } = await import("./UnitTests.ts");
  const units = new UnitTests(config);
  const tests = await units.load(ROOMS.flatMap(testFilesIn));
  return {
    names: [...tests.keys()],
    chosen: (names) => names,
    failureOf: (name) => {
      const test = tests.get(name);
      if (test === undefined) throw new TypeError(`no test is called ${name}`);
      return units.failureOf(test);
    },
  };
};

export const strykerPlugins = [declareFactoryPlugin(PluginKind.TestRunner, "units", () => new LoadedRunner(loadUnits))];
