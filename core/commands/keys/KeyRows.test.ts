import { describe, expect, it } from "vitest";
import { type Cluster, founded, NOW } from "../../../properties/cluster/Cluster.ts";
import { create, destroy, keyed, renew } from "../../../properties/cluster/Keyed.ts";
import { openStep } from "../../../properties/cluster/OpenStep.ts";
import type { Digest } from "../../base/Digest.ts";
import { commandOf } from "../../protocol/Command.ts";
import type { Proposal } from "../../protocol/Proposal.ts";
import { slotKey } from "../../protocol/Tables.ts";
import { commands } from "../Commands.ts";
import { generationKey } from "./Tables.ts";

const ID = "ab".repeat(32) as Digest;

/** The life of a key, to its end if it is destroyed; each change is answered before the next. */
const lived = (isFinal: boolean): Cluster => {
  const cluster = keyed(1);
  const then = (ask: () => void): void => {
    ask();
    cluster.pass(100);
  };
  then(() => create(cluster, 1, "create"));
  then(() => renew(cluster, 1, "rotate", "rotate", 1));
  then(() => renew(cluster, 1, "refresh", "refresh", 2));
  then(() => destroy(cluster, 1, "destroy", { baseGeneration: 3, generation: 1 }));
  then(() => renew(cluster, 1, "rotate again", "rotate", 3));
  if (isFinal) then(() => destroy(cluster, 1, "end", { baseGeneration: 4, generation: 4, final: true }));
  return cluster;
};

const changesOf = (cluster: Cluster): ReadonlyArray<Proposal> =>
  Array.from({ length: cluster.tables.get(1)?.get("slots")?.size ?? 0 }, (_, at) => {
    const slot = cluster.row(1, "slots", slotKey(1, at + 1));
    const certificate = slot && cluster.row(1, "certificates", slot.proposalId);
    if (certificate === undefined) throw new Error(`slot ${at + 1} has no certificate`);
    return certificate.proposal;
  });

const orders = <A>(of: ReadonlyArray<A>): ReadonlyArray<ReadonlyArray<A>> =>
  of.length < 2
    ? [of]
    : of.flatMap((first, at) => orders(of.filter((_, other) => other !== at)).map((rest) => [first, ...rest]));

const other = founded(1);

describe.each([false, true])("the changes of a key (destroyed in the end: %s)", (isFinal) => {
  const cluster = lived(isFinal);
  const changes = changesOf(cluster);
  const rowsHere = (numbers: ReadonlyArray<number>) => [
    cluster.row(1, "custodyKeys", "k1"),
    ...numbers.map((number) => cluster.row(1, "generations", generationKey("k1", number))),
  ];

  it("come to the same rows in whatever order they are taken over", () => {
    for (const order of orders(changes)) {
      const step = openStep(other, 1, NOW);
      for (const proposal of order) commandOf(commands, proposal).install(step, ID, proposal.effects);
      const { writes } = step.finish(() => undefined);
      const written = (table: string) =>
        writes
          .flatMap((write) => (write.table === table && write.op !== "remove" ? [write] : []))
          .toSorted((one, two) => (one.key < two.key ? -1 : 1));
      const rows = [...written("custodyKeys"), ...written("generations")].map(({ row }) => row);
      expect(rows).toEqual(rowsHere([1, 2, 3, 4]));
      expect(written("keys")).toHaveLength(3);
    }
  });

  it("come to them again where some had been taken away", () => {
    for (const undone of changes) {
      const step = openStep(cluster, 1, NOW);
      commandOf(commands, undone).undo(step, ID, undone.effects);
      for (const proposal of changes) commandOf(commands, proposal).install(step, ID, proposal.effects);
      const left = step.finish(() => undefined).writes;
      for (const write of left)
        if (write.table === "generations" || write.table === "custodyKeys")
          expect(write.op === "remove" ? undefined : write.row).toEqual(cluster.row(1, write.table, write.key));
    }
  });
});
