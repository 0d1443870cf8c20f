/** A destruction that some have applied, and so erased, and whose appliers declare restores before the writer has heard. */
import { expect, it } from "vitest";
import { codeOf, whole } from "../../../properties/cluster/Cluster.ts";
import { create, destroy, held, keyed } from "../../../properties/cluster/Keyed.ts";
import { declare, expectWhole } from "../../../properties/cluster/Restoring.ts";

const toldOfReceipts: ReadonlySet<string> = new Set(["Votes", "SettleAnswer", "Commit", "CommitAcks"]);

it.each([2, 3])("is done at all of %i: a key that nobody could use is not left active", (total) => {
  const cluster = keyed(total);
  create(cluster, 1, "made");
  cluster.pass(3_000);
  expect(codeOf(cluster, "made")).toBe("KeyMade");
  cluster.tamper = (from, to, message) =>
    to === 1 && toldOfReceipts.has(message._tag) ? undefined : whole(from, to, message);
  destroy(cluster, 1, "destroy", { baseGeneration: 1, generation: 1, final: true });
  cluster.pass(3_000);
  const appliers = [2, 3].slice(0, total - 1);
  expect(held(cluster).shares).toEqual([1, ...appliers.map(() => 0)]);
  for (const peerId of appliers) declare(cluster, peerId);
  cluster.tamper = whole;
  cluster.pass(15_000);
  expect(codeOf(cluster, "destroy")).toBe("KeyDestroyed");
  for (const peerId of [1, ...appliers]) expect(cluster.row(peerId, "custodyKeys", "k1")?.status).toBe("DESTROYED");
  expect(held(cluster).shares).toEqual([0, ...appliers.map(() => 0)]);
  expectWhole(cluster, 0);
});
