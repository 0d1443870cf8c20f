/** The oracle's opinion on receipts knows what a restored member has taken from others. */
import { describe, expect, it } from "vitest";
import { crypto, founded } from "../../properties/cluster/Cluster.ts";
import { openStep } from "../../properties/cluster/OpenStep.ts";
import { register } from "../../properties/cluster/Restoring.ts";
import { tokenOf } from "../../properties/chaos/Recorded.ts";
import { slotKey } from "../../core/protocol/Tables.ts";
import type { RowView, Write } from "../../core/Tables.ts";
import type { NaiveRegistry } from "../models/NaiveRegistry.ts";
import type { Product } from "../models/Product.ts";
import { Oracle } from "./Oracle.ts";

const cluster = founded();
register(cluster, "alice", 7);
const step = openStep(cluster, 2);
const [found] = step.context.view.scan("certificates", "", 1);

/** Finds nothing wrong with any change. */
const registry: Pick<NaiveRegistry, "contentFault" | "memberFault" | "excludes" | "restored" | "noted"> = {
  contentFault: () => undefined,
  memberFault: () => undefined,
  excludes: () => () => false,
  restored: () => undefined,
  noted: () => undefined,
};
const make = (): NaiveRegistry => registry as NaiveRegistry;
const product = { registries: [make], changing: () => ({ registry: make }) } as unknown as Product;
const said = { keyOf: (each: string) => each, byBody: () => undefined, replacementOf: () => undefined, tokenOf };

describe("the oracle", () => {
  it("counts the window of a restored member from what is decided on its disk then", () => {
    if (found === undefined) return expect.fail("alice was registered");
    const { proposal, receipts } = found.row;
    const own = receipts.find(({ statement }) => statement.kind === "RECEIPT") ?? expect.fail("it has receipts");
    const judged = (oracle: Oracle, seq: number): string | undefined =>
      oracle.judge(2, step.membership, [
        { op: "insert", table: "preparations", key: found.key, row: { proposal: { ...proposal, seq }, own } } as Write,
      ]);
    const diskWith = (outcome: "APPLIED" | "ABORTED" | "PREPARED", count: number): RowView => {
      const row = { proposalId: found.key, outcome, ack: undefined, writerReceipt: undefined };
      const rows = Array.from({ length: count }, (_, at) => ({ key: slotKey(1, at + 1), row }));
      return {
        get: () => undefined,
        scan: (_table, after, limit) => rows.filter(({ key }) => key > after).slice(0, limit) as never,
      };
    };
    const restored = (outcome: "APPLIED" | "ABORTED" | "PREPARED"): Oracle => {
      const oracle = new Oracle(crypto, said, 3, 0, product);
      oracle.restored(2, 1, diskWith(outcome, 299));
      return oracle;
    };
    expect(judged(new Oracle(crypto, said, 3, 0, product), 300)).toBe("its slot 300 is out of the window");
    expect(judged(restored("APPLIED"), 300)).toBeUndefined();
    expect(judged(restored("ABORTED"), 299 + 256)).toBeUndefined();
    expect(judged(restored("APPLIED"), 299 + 257)).toBe("its slot 556 is out of the window");
    expect(judged(restored("PREPARED"), 300)).toBe("its slot 300 is out of the window");
  });
});
