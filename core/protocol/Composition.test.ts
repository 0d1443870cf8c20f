import { describe, expect, it } from "vitest";
import { crypto } from "../../properties/cluster/Cluster.ts";
import { approvers } from "../commands/approvers/ApproversModule.ts";
import { registerKey } from "../commands/registerKey/RegisterKey.ts";
import { record, uint } from "../codec/Codec.ts";
import type { Contents } from "./Command.ts";
import { composed } from "./Composition.ts";
import type { Module } from "./Module.ts";
import type { RowView } from "./Tables.ts";

const nothing: RowView = { get: () => undefined, scan: () => [] };

/** Contents with these keys, whatever the rows are. */
const of =
  (...keys: ReadonlyArray<string>): Contents =>
  (_crypto, _view, after, limit) =>
    keys
      .filter((key) => key > after)
      .slice(0, limit)
      .map((key) => ({ key, revision: 1, isCounted: true, isSound: true, addTo: (set) => set }));

const moduleOf = (name: string, more: Partial<Module> = {}): Module => ({
  ...approvers,
  name,
  tables: {},
  contents: undefined,
  slice: undefined,
  ...more,
});

describe("the contents of several modules", () => {
  const { contents } = composed(
    [],
    [
      moduleOf("first", { contents: of("a/1", "b") }),
      moduleOf("none"),
      moduleOf("empty", { contents: of() }),
      moduleOf("last", { contents: of("a", "c") }),
    ],
  );
  const all = ["first/a/1", "first/b", "last/a", "last/c"];

  it.each([1, 2, 3, 4, 5])("are each there once, in pages of %d", (limit) => {
    const seen: Array<string> = [];
    for (let after = ""; ; ) {
      const page = contents(crypto, nothing, after, limit).map(({ key }) => key);
      expect(page).toEqual(all.slice(seen.length, seen.length + limit));
      seen.push(...page);
      after = page.at(-1) ?? after;
      if (page.length < limit) break;
    }
    expect(seen).toEqual(all);
  });
});

describe("parts of one name", () => {
  const codec = record({ count: uint });
  it.each([
    ["tables", () => composed([], [approvers, moduleOf("other", { tables: { keys: codec } })])],
    ["tables of agreement", () => composed([], [moduleOf("other", { tables: { peer: codec } })])],
    ["commands", () => composed([registerKey, registerKey], [])],
  ])("are refused: %s", (_what, compose) => {
    expect(compose).toThrow("of the same name");
  });
});
