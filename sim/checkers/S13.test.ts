import { expect, it } from "vitest";
import { crypto, founded } from "../../properties/cluster/Cluster.ts";
import { openStep } from "../../properties/cluster/OpenStep.ts";
import { watched } from "../../properties/cluster/Watching.ts";
import { SELF } from "../../core/protocol/Tables.ts";
import type { RowView } from "../../core/Tables.ts";
import { Violation } from "../base/Violation.ts";
import { Ghost } from "./Ghost.ts";
import { S13 } from "./S13.ts";

const cluster = founded();
for (const [at, id] of ["alice", "bob"].entries()) {
  cluster.register(1, `r${at}`, id, at + 1);
  cluster.settle();
}
const { view } = openStep(cluster, 1);
const refs = view.scan("approvers", "", 9).map(({ key }) => key);

/** A disk with this much of its index: how far it says that it is, and of which refs there are rows. */
const sweeping = (mark: { readonly upTo: string | undefined } | undefined, there: ReadonlyArray<string>) => () => {
  const store = {
    get: (table: string, key: string) =>
      table === "indexed" && key === SELF ? mark : view.get(table as "approvers", key),
    scan: (table: string, after: string, limit: number) => {
      const rows = view.scan(table as "approvers", after, limit);
      return table === "terms" ? rows.filter(({ key }) => there.some((ref) => key.endsWith(ref))) : rows;
    },
  } as RowView;
  S13(new Ghost(crypto, cluster.total)).swept?.([watched(cluster, 1, { store })]);
};

it("holds an index to what it says of itself", () => {
  const [alice = "", bob = ""] = refs;
  const whole = { upTo: undefined };
  expect(refs).toHaveLength(2);
  expect(sweeping(whole, refs)).not.toThrow();
  for (const there of [[alice], [bob], []]) expect(sweeping(whole, there)).toThrow(Violation);
});

it("lets the index of an older disk lack what is still to come, and nothing else", () => {
  const [alice = "", bob = ""] = refs;
  for (const there of [[], [bob], refs]) expect(sweeping(undefined, there)).not.toThrow();
  expect(sweeping({ upTo: alice }, [alice])).not.toThrow();
  expect(sweeping({ upTo: alice }, refs)).not.toThrow();
  expect(sweeping({ upTo: alice }, [bob])).toThrow(Violation);
  expect(sweeping({ upTo: bob }, [alice])).toThrow(Violation);
});
