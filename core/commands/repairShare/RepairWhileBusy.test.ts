/** Repairs while changes of other things go on: what is undecided somewhere holds them up, and does not end them. */
import { expect, it } from "vitest";
import { codeOf, whole } from "../../../properties/cluster/Cluster.ts";
import { create, keeper, renew } from "../../../properties/cluster/Keyed.ts";
import { KeyedCluster } from "../../../properties/cluster/PlantedKeys.ts";
import type { Message } from "../../Message.ts";
import type { PeerId } from "../../protocol/Topology.ts";
import { generationKey } from "../keys/Tables.ts";

const TARGET = 3;

/** By these a member hears that a change is decided. */
const deciding: ReadonlySet<Message["_tag"]> = new Set(["Commit", "SettleAnswer"]);

/** A cluster whose last peer has lost a share. */
const lost = (): KeyedCluster => {
  const cluster = new KeyedCluster();
  cluster.judge = () => keeper;
  cluster.plantKey("payments");
  cluster.write(TARGET, [{ op: "remove", table: "shares", key: generationKey("payments", 1) }]);
  return cluster;
};

/** One member does not hear that an approver is registered, though the others do. */
const undecidedAt = (peerId: PeerId) => {
  const cluster = lost();
  const asked = new Set<PeerId>();
  cluster.tamper = (_from, to, message) => {
    if (message._tag === "Repair.Open") asked.add(to);
    return to === peerId && deciding.has(message._tag) ? undefined : message;
  };
  cluster.register(1, "registered", "approver", 9);
  cluster.settle();
  return { cluster, asked };
};

it.each([
  ["a helper", 2],
  ["the target", TARGET],
])("waits while a change is undecided at %s", (_who, peerId) => {
  const { cluster } = undecidedAt(peerId);
  cluster.repair(TARGET, "one", "payments", [1, 2]);
  cluster.pass(3_000);
  expect(codeOf(cluster, "one")).toBeUndefined();
  cluster.tamper = whole;
  cluster.pass(6_000);
  expect(cluster.answers.get("one")).toEqual({ _tag: "Repaired", generations: [1] });
});

it("is refused at once by a helper that will not, though another one is to be waited for", () => {
  const { cluster } = undecidedAt(2);
  cluster.judge = (peerId) => (peerId === 1 ? { _tag: "Unavailable" } : keeper);
  cluster.repair(TARGET, "one", "payments", [2, 1]);
  cluster.settle();
  expect(cluster.answers.get("one")).toMatchObject({ rejection: { members: [{ peerId: 1 }] } });
});

it("asks nobody while a change is undecided at the target", () => {
  const { cluster, asked } = undecidedAt(TARGET);
  cluster.repair(TARGET, "one", "payments", [1, 2]);
  cluster.pass(3_000);
  expect(asked).toEqual(new Set());
});

it("begins anew with the registry that the target has by then", () => {
  const cluster = lost();
  const [sessions, refused] = [new Set<string>(), new Set<string>()];
  let isReached = false;
  cluster.tamper = (_from, to, message) => {
    if (message._tag === "Repair.Open") sessions.add(message.sessionId);
    if (message._tag === "Repair.Refused") refused.add(message.code);
    return message._tag === "Repair.Open" && to === 2 && !isReached ? undefined : message;
  };
  cluster.repair(TARGET, "one", "payments", [1, 2]);
  cluster.settle();
  cluster.register(1, "registered", "approver", 9);
  cluster.settle();
  isReached = true;
  cluster.pass(1_000);
  expect(refused).toEqual(new Set(["REGISTRY_DIFFERS"]));
  expect(sessions.size).toBe(2);
  expect(cluster.answers.get("one")).toEqual({ _tag: "Repaired", generations: [1] });
});

it.each([
  [2, "Not every helper has done its part in time.", [{ peerId: 2, reason: "a change is undecided there" }]],
  [TARGET, "A change is undecided at this peer.", []],
])("says what held it up when its time is over (at peer %i)", (peerId, detail, members) => {
  const { cluster } = undecidedAt(peerId);
  cluster.repair(TARGET, "one", "payments", [1, 2]);
  cluster.pass(11_000);
  const answer = cluster.answers.get("one");
  if (answer?._tag !== "Rejected") throw new Error("it was not refused");
  expect(answer.rejection).toMatchObject({ code: "REPAIR_FAILED", detail });
  for (const each of members) expect(answer.rejection.members).toContainEqual(each);
});

it("blames no helper that it had no time to ask", () => {
  const { cluster } = undecidedAt(TARGET);
  const decided: Array<Message> = [];
  cluster.tamper = (from, to, message) => {
    if (to !== TARGET || !deciding.has(message._tag)) return message;
    if (message._tag === "Commit" && from === 1) decided.push(message);
    return undefined;
  };
  cluster.repair(TARGET, "one", "payments", [1, 2]);
  cluster.pass(9_499);
  const last = decided.at(-1);
  if (last === undefined) throw new Error("nothing was decided");
  cluster.deliver(TARGET, 1, last);
  cluster.pass(1_500);
  expect(cluster.answers.get("one")).toMatchObject({ rejection: { detail: "No time was left.", members: [] } });
});

it("asks for each lost generation once, and tells the audit of each once", () => {
  const cluster = new KeyedCluster();
  cluster.judge = () => keeper;
  create(cluster, 2, "made");
  cluster.pass(2_000);
  for (const base of [1, 2]) {
    renew(cluster, 2, `rotate ${base}`, "rotate", base);
    cluster.pass(2_000);
  }
  cluster.write(2, [{ op: "remove", table: "shares", key: generationKey("k1", 1) }]);
  for (const no of [1, 2, 3]) cluster.write(TARGET, [{ op: "remove", table: "shares", key: generationKey("k1", no) }]);
  const asked: Array<ReadonlyArray<number>> = [];
  cluster.tamper = (_from, to, message) => {
    if (message._tag === "Repair.Open" && to === 1) asked.push(message.generations.map(({ generation }) => generation));
    return message;
  };
  cluster.repair(TARGET, "one", "k1", [1, 2]);
  cluster.pass(2_000);
  expect(asked).toEqual([[1, 2, 3], [3], [2], [1]]);
  const audits = [...(cluster.tables.get(TARGET)?.get("audit")?.keys() ?? [])].map((key) =>
    cluster.row(TARGET, "audit", key),
  );
  const repaired = audits.filter((row) => row?.event === "SHARE_REPAIRED").map((row) => row?.generation);
  expect(repaired).toEqual([3, 2]);
});
