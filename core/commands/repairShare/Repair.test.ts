import { utf8ToBytes } from "@noble/hashes/utils.js";
import { describe, expect, it } from "vitest";
import { codeOf } from "../../../properties/cluster/Cluster.ts";
import { KeyedCluster, keyActor } from "../../../properties/cluster/PlantedKeys.ts";
import { stateOf } from "../../../properties/cluster/Restoring.ts";
import type { Message } from "../../Message.ts";
import { generationKey } from "../keys/Tables.ts";
import { repairs } from "./RepairState.ts";

const data = utf8ToBytes("pay 5");

/** A cluster in which a peer has lost its shares of a key. */
const lost = (peerId: number, total = 3) => {
  const cluster = new KeyedCluster(total);
  cluster.plantKey("payments");
  cluster.write(peerId, [{ op: "remove", table: "shares", key: generationKey("payments", 1) }]);
  return cluster;
};

const sharesOf = (cluster: KeyedCluster, peerId: number): number =>
  cluster.tables.get(peerId)?.get("shares")?.size ?? 0;

/** The members that an answer names, with why. */
const membersOf = (cluster: KeyedCluster, requestId: string) => {
  const answer = cluster.answers.get(requestId);
  return answer?._tag === "Rejected" ? answer.rejection.members : [];
};

const unprivileged =
  keyActor._tag === "Verified" ? { ...keyActor, claims: { ...keyActor.claims, permissions: [] } } : keyActor;

const flipped = (boxes: ReadonlyArray<Uint8Array>): ReadonlyArray<Uint8Array> =>
  boxes.map((box) => box.map((byte, at) => (at === 0 ? byte ^ 1 : byte)));

/** What a peer remembers of repairs. */
const rememberedBy = (cluster: KeyedCluster, peerId: number) =>
  (stateOf(cluster, peerId).modules[repairs.name] as typeof repairs.empty | undefined) ?? repairs.empty;

describe("a lost share", () => {
  it.each([1, 2, 3])("is made again by two others at peer %i, which signs again as one of two", (target) => {
    const cluster = lost(target);
    const helpers = [1, 2, 3].filter((each) => each !== target);
    cluster.repair(target, "one", "payments", helpers);
    cluster.settle();
    expect(cluster.answers.get("one")).toEqual({ _tag: "Repaired", generations: [1] });
    cluster.peers.delete(helpers[0] ?? 0);
    cluster.sign(target, "two", "payments", data);
    cluster.pass(1_000);
    expect(cluster.answers.get("two")).toMatchObject({ _tag: "Signed", imposters: [] });
  });

  it("is made again of every generation that members keep", () => {
    const cluster = lost(3);
    cluster.plantKey("payments", 2, 2);
    cluster.plantKey("payments", 3, 3);
    cluster.write(3, [{ op: "remove", table: "shares", key: generationKey("payments", 3) }]);
    const superseded = cluster.row(1, "generations", generationKey("payments", 2));
    if (superseded === undefined) throw new Error("there is no generation 2");
    for (const peerId of [1, 2, 3]) {
      const [first, second] = [generationKey("payments", 1), generationKey("payments", 2)];
      const historical = cluster.row(peerId, "generations", first);
      if (historical === undefined) throw new Error("there is no generation 1");
      cluster.write(peerId, [
        { op: "replace", table: "generations", key: first, row: { ...historical, state: "HISTORICAL" } },
        { op: "replace", table: "generations", key: second, row: { ...superseded, state: "SUPERSEDED" } },
        { op: "remove", table: "shares", key: second },
      ]);
    }
    cluster.repair(3, "one", "payments", [1, 2]);
    cluster.settle();
    expect(cluster.answers.get("one")).toEqual({ _tag: "Repaired", generations: [1, 3] });
    expect(sharesOf(cluster, 3)).toBe(2);
  });

  it("is in the audit, with the bearer and the helpers", () => {
    const cluster = lost(3);
    cluster.repair(3, "one", "payments", [1, 2]);
    cluster.settle();
    const last = [...(cluster.tables.get(3)?.get("audit")?.keys() ?? [])].toSorted().at(-1) ?? "";
    expect(cluster.row(3, "audit", last)).toMatchObject({
      event: "SHARE_REPAIRED",
      keyId: "payments",
      generation: 1,
      actor: { sub: "operator" },
      detail: "helped by peers 1, 2",
    });
  });

  it("is there for a repeated request already: nobody is asked", () => {
    const cluster = lost(3);
    cluster.repair(3, "one", "payments", [1, 2]);
    cluster.settle();
    const { length } = cluster.committed;
    cluster.tamper = () => undefined;
    cluster.repair(3, "two", "payments", [1, 2]);
    expect(cluster.answers.get("two")).toEqual({ _tag: "Repaired", generations: [1] });
    expect(cluster.committed.length).toBe(length);
  });

  it("is made again whatever messages are lost, doubled or late", () => {
    const cluster = lost(3);
    let count = 0;
    const late: Array<readonly [number, number, Message]> = [];
    cluster.tamper = (from, to, message) => {
      if (!message._tag.startsWith("Repair.")) return message;
      late.push([from, to, message]);
      count += 1;
      return count % 3 === 1 ? undefined : message;
    };
    cluster.repair(3, "one", "payments", [1, 2]);
    for (let turn = 0; turn < 8; turn += 1) {
      cluster.pass(300);
      for (const [from, to, message] of late.splice(0).toReversed()) cluster.deliver(to, from, message);
    }
    expect(cluster.answers.get("one")).toEqual({ _tag: "Repaired", generations: [1] });
  });
});

it("is made again though what a helper told the other one is lost, and the target has its sum", () => {
  const cluster = lost(3);
  let count = 0;
  cluster.tamper = (from, _to, message) => {
    if (from !== 1 || message._tag !== "Repair.Part") return message;
    count += 1;
    return count === 1 ? undefined : message;
  };
  cluster.repair(3, "one", "payments", [1, 2]);
  cluster.pass(9_000);
  expect(cluster.answers.get("one")).toEqual({ _tag: "Repaired", generations: [1] });
});

describe("a repair", () => {
  it.each<readonly [string, string, ReadonlyArray<number>]>([
    ["fewer helpers than sign", "INVALID_REQUEST_BODY", [1]],
    ["more", "INVALID_REQUEST_BODY", [1, 2, 4]],
    ["one helper twice", "INVALID_REQUEST_BODY", [1, 1]],
    ["itself as a helper", "INVALID_REQUEST_BODY", [1, 3]],
    ["no member as a helper", "INVALID_REQUEST_BODY", [1, 9]],
    ["nobody", "INVALID_REQUEST_BODY", []],
  ])("with %s is refused", (_, code, helpers) => {
    const cluster = lost(3);
    cluster.repair(3, "one", "payments", helpers);
    expect(codeOf(cluster, "one")).toBe(code);
  });

  it("asks again after its own time, whatever the one before it would still have asked", () => {
    const cluster = lost(3);
    const asked: Array<Message> = [];
    cluster.tamper = (_from, to, message) => {
      if (to === 1 && message._tag === "Repair.Open") asked.push(message);
      return undefined;
    };
    cluster.repair(3, "one", "payments", [1, 2]);
    const [first] = asked.splice(0);
    if (first?._tag !== "Repair.Open") throw new Error("nobody was asked");
    cluster.deliver(3, 1, { _tag: "Repair.Refused", sessionId: first.sessionId, code: "NOT_ACTIVE" });
    cluster.pass(200);
    cluster.repair(3, "two", "payments", [1, 2]);
    cluster.pass(240);
    expect(codeOf(cluster, "one")).toBe("REPAIR_FAILED");
    expect(asked).toHaveLength(1);
    cluster.pass(20);
    expect(asked).toHaveLength(2);
  });

  it("of an unknown key, or without the permission, is refused", () => {
    const cluster = lost(3);
    cluster.repair(3, "unknown", "nothing", [1, 2]);
    expect(codeOf(cluster, "unknown")).toBe("KEY_NOT_FOUND");
    cluster.judge = () => unprivileged;
    cluster.repair(3, "one", "payments", [1, 2]);
    expect(codeOf(cluster, "one")).toBe("ACCESS_DENIED");
  });

  it("where all members sign is refused by name", () => {
    const cluster = new KeyedCluster(2);
    cluster.plantKey("payments");
    cluster.write(2, [{ op: "remove", table: "shares", key: generationKey("payments", 1) }]);
    cluster.repair(2, "one", "payments", [1]);
    expect(cluster.answers.get("one")).toMatchObject({
      rejection: { code: "REPAIR_IMPOSSIBLE", detail: expect.stringContaining("As many members sign as there are") },
    });
  });

  it("at a peer that is joining waits for the members", () => {
    const cluster = lost(3);
    cluster.peers.delete(1);
    cluster.start(3);
    cluster.pass(1_000);
    cluster.repair(3, "one", "payments", [1, 2]);
    expect(codeOf(cluster, "one")).toBe("REPAIR_FAILED");
  });

  it("is judged by each helper for itself, which is named", () => {
    const cluster = lost(3);
    cluster.judge = (peerId) => (peerId === 2 ? unprivileged : keyActor);
    cluster.repair(3, "one", "payments", [1, 2]);
    cluster.settle();
    expect(codeOf(cluster, "one")).toBe("REPAIR_FAILED");
    expect(membersOf(cluster, "one")).toEqual([
      { peerId: 2, reason: "by its own judgement the token lacks the permission" },
    ]);
    expect(sharesOf(cluster, 3)).toBe(0);
  });

  it("needs helpers with the same record and a share of their own", () => {
    const cluster = lost(3);
    cluster.write(2, [{ op: "remove", table: "shares", key: generationKey("payments", 1) }]);
    cluster.repair(3, "one", "payments", [1, 2]);
    cluster.settle();
    expect(membersOf(cluster, "one")).toEqual([{ peerId: 2, reason: "its own share is missing" }]);
  });

  it("whose helper is away ends in time, and another one helps", () => {
    const cluster = lost(3, 4);
    cluster.peers.delete(2);
    cluster.repair(3, "one", "payments", [1, 2]);
    cluster.pass(10_000);
    expect(codeOf(cluster, "one")).toBe("REPAIR_FAILED");
    expect(membersOf(cluster, "one").map(({ peerId }) => peerId)).toContain(2);
    cluster.start(2);
    cluster.pass(3_000);
    cluster.repair(3, "two", "payments", [1, 4]);
    cluster.settle();
    expect(cluster.answers.get("two")).toEqual({ _tag: "Repaired", generations: [1] });
  });

  it.each<readonly [string, number, (message: Message) => Message]>([
    [
      "its sum",
      1,
      (message) => (message._tag === "Repair.Sum" ? { ...message, boxes: flipped(message.boxes) } : message),
    ],
    [
      "its part",
      // It says nothing of who was wrong, and may have come of messages that were late.
      4,
      (message) => (message._tag === "Repair.Part" ? { ...message, boxes: flipped(message.boxes) } : message),
    ],
    ["no sums", 1, (message) => (message._tag === "Repair.Sum" ? { ...message, boxes: [] } : message)],
  ])("whose helper says something else than %s stores nothing, and can be repeated", (_, begun, lie) => {
    const cluster = lost(3);
    const sessions = new Set<string>();
    cluster.tamper = (from, _to, message) => {
      if (message._tag === "Repair.Open") sessions.add(message.sessionId);
      return from === 2 ? lie(message) : message;
    };
    cluster.repair(3, "one", "payments", [1, 2]);
    cluster.pass(2_000);
    expect(sessions.size).toBe(begun);
    expect(codeOf(cluster, "one")).toBe("REPAIR_FAILED");
    expect(sharesOf(cluster, 3)).toBe(0);
    cluster.tamper = (_from, _to, message) => message;
    cluster.repair(3, "two", "payments", [1, 2]);
    cluster.settle();
    expect(cluster.answers.get("two")).toEqual({ _tag: "Repaired", generations: [1] });
  });

  it("splits anew each time: no box of one session is in another", () => {
    const cluster = lost(3);
    const seen = new Array<string>();
    cluster.tamper = (_from, _to, message) => {
      if (message._tag === "Repair.Sum") return undefined;
      if (message._tag === "Repair.Part") seen.push(...message.boxes.map((box) => box.join()));
      return message;
    };
    for (const requestId of ["one", "two"]) {
      cluster.repair(3, requestId, "payments", [1, 2]);
      cluster.settle();
      cluster.pass(11_000);
    }
    expect(new Set(seen.slice(0, 2)).size).toBe(2);
    const [first, second] = [seen.slice(0, 2), seen.slice(-2)];
    expect(first.some((box) => second.includes(box))).toBe(false);
  });

  it("whose target calls other things by the same name gets nothing more", () => {
    const cluster = lost(3, 4);
    const opens: Array<Extract<Message, { readonly _tag: "Repair.Open" }>> = [];
    const refused: Array<string> = [];
    cluster.tamper = (_from, to, message) => {
      if (message._tag === "Repair.Open" && to === 1) opens.push(message);
      if (message._tag === "Repair.Refused") refused.push(message.code);
      return message._tag === "Repair.Sum" ? undefined : message;
    };
    cluster.repair(3, "one", "payments", [1, 2]);
    cluster.settle();
    const [open] = opens;
    if (open === undefined) throw new Error("nothing was asked");
    const rawBody = utf8ToBytes(JSON.stringify({ helpers: [1, 4] }));
    cluster.deliver(1, 3, { ...open, evidence: { ...open.evidence, rawBody } });
    cluster.deliver(1, 3, { ...open, boxKey: "00".repeat(32) });
    expect(refused).toEqual(["SESSION_TAKEN", "SESSION_TAKEN"]);
  });

  it("is the only one at a peer, and helpers forget it in time", () => {
    const cluster = lost(3);
    cluster.tamper = (_from, _to, message) => (message._tag === "Repair.Sum" ? undefined : message);
    cluster.repair(3, "one", "payments", [1, 2]);
    cluster.settle();
    cluster.repair(3, "two", "payments", [1, 2]);
    expect(codeOf(cluster, "two")).toBe("REQUEST_CAPACITY");
    expect(rememberedBy(cluster, 1).helping.size).toBe(1);
    cluster.pass(25_000);
    expect(rememberedBy(cluster, 1).helping.size).toBe(0);
    expect(rememberedBy(cluster, 3).repairs.size).toBe(0);
  });

  it("ends with the keys of its peers", () => {
    const cluster = lost(3);
    cluster.tamper = (_from, _to, message) => (message._tag === "Repair.Sum" ? undefined : message);
    cluster.repair(3, "one", "payments", [1, 2]);
    cluster.settle();
    cluster.dispatch(3, { _tag: "Sealed" });
    cluster.dispatch(1, { _tag: "Sealed" });
    expect(codeOf(cluster, "one")).toBe("REPAIR_FAILED");
    expect(rememberedBy(cluster, 1).helping.size).toBe(0);
  });

  it("shows no secret outside its boxes", () => {
    const cluster = lost(3);
    const said: Array<string> = [];
    cluster.tamper = (_from, _to, message) => {
      if (message._tag.startsWith("Repair.")) said.push(JSON.stringify(message));
      return message;
    };
    cluster.repair(3, "one", "payments", [1, 2]);
    cluster.settle();
    expect(said.length).toBeGreaterThan(0);
    for (const each of said) expect(each).not.toContain("<secret>");
    expect(JSON.stringify([...rememberedBy(cluster, 1).helping.values()].map(({ boxSeed }) => boxSeed))).toBe(
      '["<secret>"]',
    );
  });
});
