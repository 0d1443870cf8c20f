import { describe, expect, it } from "vitest";
import { approvers } from "../commands/approvers/ApproversModule.ts";
import { commands } from "../commands/Commands.ts";
import { composed } from "./Composition.ts";
import type { Module } from "./Module.ts";
import { authoritiesOf, featuresOf, type Supplies } from "./Supplies.ts";

const supplying = (name: string, supplies: Supplies | undefined): Module => ({
  ...approvers,
  name,
  tables: {},
  contents: undefined,
  slice: undefined,
  supplies,
});

const loaded = (...supplies: ReadonlyArray<Supplies | undefined>) =>
  composed(
    [],
    supplies.map((each, index) => supplying(`module-${index}`, each)),
  ).modules;

const on = { arbitrary: true };
const off = { arbitrary: false };

describe("what modules supply", () => {
  it("is core alone where they add nothing", () => {
    expect(featuresOf(commands.modules)).toEqual(["core", "keys"]);
    for (const modules of [[], loaded(undefined)]) expect(featuresOf(modules)).toEqual(["core"]);
    for (const modules of [[], loaded(undefined), commands.modules]) {
      expect(authoritiesOf(modules, on)).toEqual(["arbitrary", "custom"]);
      expect(authoritiesOf(modules, off)).toEqual(["custom"]);
    }
  });

  it("is sorted, each once, with the path of what is nested", () => {
    const modules = loaded(
      { feature: "x:y", authorities: ["evm.transaction", "custom"] },
      { feature: "core", authorities: [] },
      { feature: "a-b", authorities: ["btc", "evm.transaction"] },
      { feature: "x:y", authorities: [] },
    );
    expect(featuresOf(modules)).toEqual(["a-b", "core", "x:y"]);
    expect(authoritiesOf(modules, off)).toEqual(["btc", "custom", "evm.transaction"]);
    expect(authoritiesOf(modules, on)).toEqual(["arbitrary", "btc", "custom", "evm.transaction"]);
  });

  it.each(["", "X", "x:", ":y", "x::y", "x y", "x/y"])("has no feature %j", (feature) => {
    expect(() => loaded({ feature, authorities: [] })).toThrow(TypeError);
  });

  it.each(["", "Evm", "evm.", "evm:tx", "arbitrary"])("has no authority type %j", (type) => {
    expect(() => loaded({ feature: "x", authorities: ["custom", type] })).toThrow(TypeError);
  });
});
