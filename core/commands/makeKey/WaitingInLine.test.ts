/** Requests that wait for a session while as many are under way as may be. */
import { expect, it, vi } from "vitest";
import { type Cluster, codeOf, whole } from "../../../properties/cluster/Cluster.ts";
import { create, destroy, keeper, keyed, renew } from "../../../properties/cluster/Keyed.ts";
import { KeyedCluster } from "../../../properties/cluster/PlantedKeys.ts";
import { stateOf } from "../../../properties/cluster/Restoring.ts";
import { MOST_SESSIONS } from "./KeygenMember.ts";
import { makings } from "./MakingState.ts";

const ANSWERED_MILLIS = 11_000;

const makingAt = (cluster: Cluster): typeof makings.empty =>
  (stateOf(cluster, 1).modules[makings.name] as typeof makings.empty | undefined) ?? makings.empty;

/** A cluster of so many keys, each of which is to be rotated; the sessions begin and get no further, k1 is the last. */
const rotating = (count: number): Cluster => {
  const cluster = new KeyedCluster();
  cluster.judge = () => keeper;
  for (let at = 1; at <= count; at += 1) cluster.plantKey(`k${at}`);
  cluster.tamper = (from, to, message) => (message._tag === "Keygen.Share" ? undefined : whole(from, to, message));
  for (let at = count; at >= 1; at -= 1) renew(cluster, 1, `rotate k${at}`, "rotate", 1, `k${at}`);
  cluster.pass(200);
  expect(makingAt(cluster).sessions.size).toBe(MOST_SESSIONS);
  expect(stateOf(cluster, 1).requests.queue).toHaveLength(count);
  return cluster;
};

it("cost the writer no reads at events that are not theirs, however many they are", () => {
  const cluster = rotating(24);
  const store = cluster.stores.get(1) ?? expect.fail("the writer has no store");
  const reads = vi.spyOn(store, "get");
  cluster.deliver(1, 2, { _tag: "Forwarded", requestId: "another" });
  expect(reads.mock.calls).toEqual([]);
});

it("are answered when their key is destroyed meanwhile, without a session", () => {
  const cluster = rotating(MOST_SESSIONS + 1);
  destroy(cluster, 2, "destroy", { baseGeneration: 1, generation: 1, final: true });
  cluster.pass(500);
  expect(codeOf(cluster, "destroy")).toBe("KeyDestroyed");
  expect(codeOf(cluster, "rotate k1")).toBe("KEY_DESTROYED");
  expect(makingAt(cluster).sessions.size).toBe(MOST_SESSIONS);
});

it("are answered in time where no session ends, and have their turn where one does", () => {
  const cluster = rotating(MOST_SESSIONS + 1);
  cluster.pass(ANSWERED_MILLIS);
  const keys = Array.from({ length: MOST_SESSIONS + 1 }, (_, at) => `k${at + 1}`);
  for (const key of keys) expect(codeOf(cluster, `rotate ${key}`)).toBe("APPROVER_REPLICATION_UNAVAILABLE");
  renew(cluster, 1, "another", "rotate", 2, "k1");
  expect(makingAt(cluster).judged.size).toBe(1);
  cluster.tamper = whole;
  for (const key of keys) renew(cluster, 1, `again ${key}`, "rotate", 1, key);
  cluster.pass(3_000);
  for (const key of keys) expect(codeOf(cluster, `again ${key}`)).toBe("KeyMade");
  expect(makingAt(cluster)).toMatchObject({ sessions: new Map(), pending: new Map() });
});

it.each([1, 3])("have nothing made upon rows that change in the very step, by %i", (total) => {
  const cluster = keyed(total);
  create(cluster, 1, "made");
  cluster.pass(3_000);
  cluster.committed.length = 0;
  renew(cluster, 1, "rotate", "rotate", 1);
  renew(cluster, 1, "refresh", "refresh", 1);
  cluster.pass(3_000);
  expect([codeOf(cluster, "rotate"), codeOf(cluster, "refresh")]).toEqual(["KeyMade", "GENERATION_MOVED"]);
  const ofWriter = cluster.committed.flatMap(({ peerId, changes }) => (peerId === 1 ? changes : []));
  expect(ofWriter.flatMap(({ table, op }) => (table === "pending" ? [op] : []))).toEqual(["insert", "remove"]);
});
