/** A refresh that is under way while its key is destroyed: what it makes are shares of the destroyed key. */
import { expect, it } from "vitest";
import { type Cluster, codeOf, whole } from "../../../properties/cluster/Cluster.ts";
import { create, destroy, each, held, keyed, renew } from "../../../properties/cluster/Keyed.ts";
import { stateOf } from "../../../properties/cluster/Restoring.ts";
import { makings } from "./MakingState.ts";

/** Some messages are lost, and the end of every session. */
const refreshed = (tamper: Cluster["tamper"]): Cluster => {
  const cluster = keyed();
  create(cluster, 2, "made");
  cluster.pass(3_000);
  expect(codeOf(cluster, "made")).toBe("KeyMade");
  cluster.tamper = (from, to, message) => (message._tag === "Keygen.Ended" ? undefined : tamper(from, to, message));
  renew(cluster, 2, "refresh", "refresh", 1);
  cluster.pass(100);
  return cluster;
};

const destroyAll = (cluster: Cluster): void => {
  destroy(cluster, 1, "destroy", { baseGeneration: 1, generation: 1, final: true });
  cluster.pass(300);
  expect(codeOf(cluster, "destroy")).toBe("KeyDestroyed");
};

const sessionsAt = (cluster: Cluster, peerId: number) => [
  ...((stateOf(cluster, peerId).modules[makings.name] as typeof makings.empty | undefined)?.sessions.values() ?? []),
];

it("leaves nothing of the key on a disk, once its caller is told that it is destroyed", () => {
  const cluster = refreshed((from, to, message) =>
    from === 3 && message._tag === "Keygen.Stored" ? undefined : whole(from, to, message),
  );
  expect(held(cluster)).toEqual({ ...each(1, 1), pending: [0, 1, 1] });
  destroyAll(cluster);
  expect(held(cluster)).toEqual(each(1, 0));
  expect(codeOf(cluster, "refresh")).toBe("KEY_DESTROYED");
});

it("stores nothing more of it, and wipes what it was made of", () => {
  const late: Array<() => void> = [];
  const cluster = refreshed((from, to, message) => {
    if (message._tag !== "Keygen.Share" || from !== 1) return whole(from, to, message);
    late.push(() => cluster.deliver(to, from, message));
    return undefined;
  });
  const olds = [1, 2, 3].flatMap((peerId) => sessionsAt(cluster, peerId).map(({ old }) => old));
  expect(olds.map((old) => old?._tag)).toEqual(["Held", "Held", "Held"]);
  destroyAll(cluster);
  for (const old of olds)
    if (old?._tag === "Held") expect(old.held.share.secret.expose().every((byte) => byte === 0)).toBe(true);
  for (const again of late) again();
  cluster.settle();
  expect(late.length).toBeGreaterThan(0);
  expect([1, 2, 3].flatMap((peerId) => sessionsAt(cluster, peerId))).toEqual([]);
  expect(held(cluster)).toEqual(each(1, 0));
});
