/** A repair of several generations of which one stays lost: the others are repaired. */
import { expect, it } from "vitest";
import { create, keeper, renew } from "../../../properties/cluster/Keyed.ts";
import { KeyedCluster } from "../../../properties/cluster/PlantedKeys.ts";
import { generationKey } from "../keys/Tables.ts";

it("repairs the active generation though too few have an older one, and names that", () => {
  const cluster = new KeyedCluster();
  cluster.judge = () => keeper;
  create(cluster, 2, "made");
  cluster.pass(2_000);
  cluster.write(2, [{ op: "remove", table: "shares", key: generationKey("k1", 1) }]);
  renew(cluster, 2, "rotate", "rotate", 1);
  cluster.pass(2_000);
  for (const no of [1, 2]) cluster.write(3, [{ op: "remove", table: "shares", key: generationKey("k1", no) }]);
  cluster.repair(3, "repair", "k1", [1, 2]);
  cluster.pass(11_000);
  expect([...(cluster.tables.get(3)?.get("shares")?.keys() ?? [])]).toEqual([generationKey("k1", 2)]);
  expect(cluster.answers.get("repair")).toMatchObject({
    rejection: {
      code: "REPAIR_FAILED",
      detail: "Still lost, by generation: 1; all others are repaired.",
      members: [{ peerId: 2, reason: "its own share is missing" }],
      // The share of the other one is stored.
      outcomeUnknown: true,
    },
  });
});

it.each([
  ["a helper fell silent", () => undefined, "Not every helper has done its part in time."],
  [
    "the peer was sealed",
    (cluster: KeyedCluster) => cluster.dispatch(3, { _tag: "Sealed" }),
    "This peer takes part in nothing any more.",
  ],
] as const)("says what was repaired before %s, and that this stays", (_what, happens, why) => {
  const cluster = new KeyedCluster();
  cluster.judge = () => keeper;
  create(cluster, 2, "made");
  cluster.pass(2_000);
  for (const base of [1, 2]) {
    renew(cluster, 2, `rotate ${base}`, "rotate", base);
    cluster.pass(2_000);
  }
  cluster.write(2, [{ op: "remove", table: "shares", key: generationKey("k1", 1) }]);
  for (const no of [1, 2, 3]) cluster.write(3, [{ op: "remove", table: "shares", key: generationKey("k1", no) }]);
  let sums = 0;
  cluster.tamper = (from, _to, message) => {
    if (from !== 2 || message._tag !== "Repair.Sum") return message;
    sums += 1;
    return sums > 1 ? undefined : message;
  };
  cluster.repair(3, "repair", "k1", [1, 2]);
  cluster.pass(1_000);
  happens(cluster);
  cluster.pass(10_000);
  expect([...(cluster.tables.get(3)?.get("shares")?.keys() ?? [])]).toEqual([generationKey("k1", 3)]);
  expect(cluster.answers.get("repair")).toMatchObject({
    rejection: {
      code: "REPAIR_FAILED",
      detail: `${why} Repaired before that, by generation: 3.`,
      outcomeUnknown: true,
    },
  });
});
