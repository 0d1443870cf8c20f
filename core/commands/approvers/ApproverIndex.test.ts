import { expect, it } from "vitest";
import { crypto, founded } from "../../../properties/cluster/Cluster.ts";
import { fires, openStep } from "../../../properties/cluster/OpenStep.ts";
import { changed } from "../../../properties/cluster/Changed.ts";
import type { RowView, Write } from "../../Tables.ts";
import { INDEX_TIMER, indexing, isIndexed } from "./ApproverIndex.ts";
import { termKeysOf } from "./Terms.ts";

const COUNT = 70;
const cluster = founded(3);
for (let at = 0; at < COUNT; at++) {
  cluster.register(1, `r${at}`, `id-${at}`, at + 1);
  cluster.settle();
}
const { view } = openStep(cluster, 1);
const wanted = view.scan("approvers", "", 9_999).flatMap(({ row }) => [...termKeysOf(row, crypto)]);

/** The same disk from before there was an index: without its rows, besides those given. */
const older = (there: ReadonlyMap<string, object> = new Map()) => {
  const step = openStep(cluster, 1);
  const rows = new Map(there);
  const get = (table: string, key: string) =>
    table === "terms" || table === "indexed" ? rows.get(`${table} ${key}`) : view.get(table as "keys", key);
  const behind: RowView = { get: get as never, scan: (table, after, limit) => view.scan(table, after, limit) };
  const state = changed(step.state, { modules: { ...step.state.modules, [indexing.name]: indexing.boot(behind) } });
  return { rows, state, step: Object.assign(step, { state, context: { ...step.context, view: behind } }) };
};

it("is whole with every registration, in the transaction of the registration", () => {
  expect(wanted.length).toBeGreaterThanOrEqual(COUNT);
  expect(view.scan("terms", "", 9_999).map(({ key }) => key)).toEqual(wanted.toSorted());
  expect(view.get("indexed", "self")).toEqual({ upTo: undefined });
  expect(isIndexed(openStep(cluster, 1).state)).toBe(true);
});

it("is made of an older disk in bounded transactions, once each, whatever is there already", () => {
  const [known = ""] = wanted;
  const { rows, state, step } = older(new Map([[`terms ${known}`, {}]]));
  expect(isIndexed(state)).toBe(false);
  let now = step;
  const sizes: Array<number> = [];
  const isIndex = ({ table }: Write): boolean => table === "terms";
  for (let count = 0; count < 3 && !isIndexed(now.state); count++) {
    const { writes, state: next, thenSend } = fires(now, INDEX_TIMER);
    sizes.push(writes.filter(isIndex).length);
    for (const write of writes) {
      if (write.op === "remove" || (write.table !== "terms" && write.table !== "indexed")) continue;
      expect(rows.has(`${write.table} ${write.key}`)).toBe(write.op === "replace");
      rows.set(`${write.table} ${write.key}`, write.row);
    }
    expect(thenSend.some((each) => each._tag === "SetTimer" && each.timer === INDEX_TIMER)).toBe(!isIndexed(next));
    now = Object.assign(now, { state: next });
  }
  expect(sizes).toHaveLength(2);
  expect([...rows.keys()].filter((key) => key.startsWith("terms ")).toSorted()).toEqual(
    wanted.map((key) => `terms ${key}`).toSorted(),
  );
  expect(rows.get("indexed self")).toEqual({ upTo: undefined });
});
