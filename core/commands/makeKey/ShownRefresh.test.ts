/** A refresh that a restored peer shows to readers, of a member that has applied it: nothing has been decided by that. */
import { expect, it } from "vitest";
import { Cluster, codeOf, whole } from "../../../properties/cluster/Cluster.ts";
import { create, each, held, keeper, renew } from "../../../properties/cluster/Keyed.ts";
import { comeBackOn, copyOf, expectWhole, stateOf } from "../../../properties/cluster/Restoring.ts";
import type { Event } from "../../protocol/Event.ts";
import type { PeerId } from "../../protocol/Topology.ts";
import { generationKey } from "../keys/Tables.ts";

/** Nobody can repair a lost share. */
class AllSign extends Cluster {
  override dispatch(peerId: PeerId, event: Event): void {
    super.dispatch(peerId, event._tag === "Initialize" ? { ...event, threshold: 3 } : event);
  }
}

const DECIDING: ReadonlySet<string> = new Set(["Votes", "SettleAnswer", "Commit", "CommitAcks"]);

it("leaves the share before it to a restored peer, as it may be aborted later", () => {
  const cluster = new AllSign(3);
  cluster.judge = () => keeper;
  cluster.pass(2_000);
  create(cluster, 1, "made");
  cluster.pass(2_000);
  expect(codeOf(cluster, "made")).toBe("KeyMade");
  const [two, three] = [copyOf(cluster.tables.get(2)), copyOf(cluster.tables.get(3))];
  cluster.tamper = (from, to, message) =>
    to === 1 && DECIDING.has(message._tag) ? undefined : whole(from, to, message);
  renew(cluster, 1, "refresh", "refresh", 1);
  cluster.pass(2_000);
  expect(held(cluster)).toEqual({ keys: [1, 1, 1], shares: [1, 2, 2], pending: [1, 0, 0] });
  cluster.peers.get(1)?.stop();
  cluster.peers.delete(1);
  cluster.tamper = whole;
  comeBackOn(cluster, 3, three);
  cluster.pass(6_000);
  expect(stateOf(cluster, 3).rejoining.recovery?.isReadable).toBe(true);
  expect(cluster.row(3, "generations", generationKey("k1", 1))?.state).toBe("SUPERSEDED");
  comeBackOn(cluster, 2, two);
  cluster.start(1);
  cluster.pass(20_000);
  expectWhole(cluster, 0);
  expect(cluster.row(3, "custodyKeys", "k1")?.generation).toBe(1);
  expect(held(cluster)).toEqual(each(1, 1));
});
