/** Questions of a repair that come late, or again: no honest helper is blamed for them. */
import { expect, it } from "vitest";
import { whole } from "../../../properties/cluster/Cluster.ts";
import { KeyedCluster } from "../../../properties/cluster/PlantedKeys.ts";
import { generationKey } from "../keys/Tables.ts";
import type { RepairMessageOf } from "./RepairMessages.ts";

type Open = RepairMessageOf<"Repair.Open">;

/**
 * Peer 3 has lost two shares, and asks for one of them in a second session, as in the first one a helper lacked its own
 * share; all that peer 2 tells is lost at first.
 *
 * @param hears what helper 1 hears of the first session
 */
const inSecondSession = (hears: "all" | "nothing") => {
  const cluster = new KeyedCluster();
  const generations = [1, 2];
  for (const no of generations) cluster.plantKey("payments", no, no);
  cluster.write(
    3,
    generations.map((no) => ({ op: "remove", table: "shares", key: generationKey("payments", no) })),
  );
  const opens: Array<Open> = [];
  const refused: Array<string> = [];
  cluster.tamper = (from, to, message) => {
    if (message._tag === "Repair.Refused") refused.push(message.code);
    if (from === 2 && (message._tag === "Repair.Part" || message._tag === "Repair.Sum")) return undefined;
    if (message._tag !== "Repair.Open" || to !== 1) return message;
    opens.push(message);
    return hears === "nothing" && opens.length === 1 ? undefined : message;
  };
  cluster.repair(3, "one", "payments", [1, 2]);
  cluster.settle();
  const [first] = opens;
  if (first === undefined) throw new Error("nobody was asked");
  cluster.deliver(3, 2, { _tag: "Repair.Refused", sessionId: first.sessionId, code: "SHARE_MISSING" });
  cluster.pass(10);
  expect(opens.map((open) => open.generations.length)).toEqual([2, 1]);
  const goOn = (): void => {
    cluster.tamper = (from, to, message) => {
      if (message._tag === "Repair.Refused") refused.push(message.code);
      return whole(from, to, message);
    };
    cluster.pass(3_000);
  };
  return { cluster, first, refused, goOn };
};

it("begins no earlier session again for a copy of its question", () => {
  const { cluster, first, refused, goOn } = inSecondSession("all");
  cluster.deliver(1, 3, first);
  goOn();
  expect(refused).toEqual(["SESSION_ENDED"]);
  expect(cluster.answers.get("one")).toEqual({ _tag: "Repaired", generations: [1, 2] });
});

it("begins anew where an earlier question comes after a later one", () => {
  const { cluster, first, refused, goOn } = inSecondSession("nothing");
  cluster.deliver(1, 3, first);
  goOn();
  expect(refused).toEqual(["SESSION_ENDED"]);
  expect(cluster.answers.get("one")).toEqual({ _tag: "Repaired", generations: [1, 2] });
});

it("goes on for longer than a helper keeps a session, which each of them does from when it heard of it", () => {
  const cluster = new KeyedCluster(3, () => ({ answerMillis: 60_000 }));
  cluster.plantKey("payments");
  cluster.write(3, [{ op: "remove", table: "shares", key: generationKey("payments", 1) }]);
  const refused: Array<string> = [];
  const [hears, tells] = [cluster.now + 4_000, cluster.now + 25_000];
  cluster.tamper = (from, to, message) => {
    if (message._tag === "Repair.Refused") refused.push(message.code);
    const isLost =
      (message._tag === "Repair.Open" && to === 2 && cluster.now < hears) ||
      (message._tag === "Repair.Sum" && from === 2 && cluster.now < tells);
    return isLost ? undefined : whole(from, to, message);
  };
  cluster.repair(3, "one", "payments", [1, 2]);
  cluster.pass(30_000);
  expect(refused).toEqual([]);
  expect(cluster.answers.get("one")).toEqual({ _tag: "Repaired", generations: [1] });
});
