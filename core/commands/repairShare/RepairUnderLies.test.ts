import { utf8ToBytes } from "@noble/hashes/utils.js";
import { describe, expect, it, vi } from "vitest";
import { crypto, whole } from "../../../properties/cluster/Cluster.ts";
import { KeyedCluster } from "../../../properties/cluster/PlantedKeys.ts";
import type { Message } from "../../Message.ts";
import type { Event } from "../../protocol/Event.ts";
import type { PeerId } from "../../protocol/Topology.ts";
import { Secret } from "../../threshold/Secret.ts";
import { nobleKeyCrypto } from "../../../runtime/threshold/NobleKeyCrypto.ts";
import { keyPath } from "../keys/KeyId.ts";
import type { Digest } from "../../base/Digest.ts";
import type { BoxKey } from "../../threshold/Suite.ts";
import { generationKey, KEYS_SINCE } from "../keys/Tables.ts";
import { repairMessages } from "./RepairMessages.ts";
import { sealedFor } from "./Secrets.ts";

const TARGET = 5;

/** Three of five sign. */
class ThreeOfFive extends KeyedCluster {
  constructor() {
    super(5);
  }

  override dispatch(peerId: PeerId, event: Event): void {
    super.dispatch(peerId, event._tag === "Initialize" ? { ...event, threshold: 3 } : event);
  }
}

describe("a target that names other helpers to each helper", () => {
  it("is told no sum: that of sets which differ is an equation that its own share is not", () => {
    const cluster = new ThreeOfFive();
    const { generation } = cluster.plantKey("payments");
    const root = cluster.peers.get(1)?.state.registry.set;
    if (root === undefined) throw new Error("the cluster is not founded");
    const told: Array<string> = [];
    cluster.tamper = (from, to, message) => {
      if (to === TARGET) told.push(message._tag === "Repair.Refused" ? message.code : message._tag);
      return whole(from, to, message);
    };
    const circle = [1, 2, 3, 4];
    for (const [at, helper] of circle.entries()) {
      const helpers = [circle.at(at - 1), helper, circle[(at + 1) % circle.length]];
      cluster.deliver(helper, TARGET, {
        _tag: "Repair.Open",
        sessionId: crypto.sha256(utf8ToBytes("session")),
        evidence: {
          path: keyPath("payments", "repair"),
          rawBody: utf8ToBytes(JSON.stringify({ helpers })),
          token: "token",
        },
        generations: [{ generation: 1, transcript: generation.transcript }],
        boxKey: nobleKeyCrypto.boxes.keyOf(new Secret(new Uint8Array(32).fill(77))),
        registryRoot: crypto.setDigest(root),
      });
    }
    cluster.settle();
    expect(new Set(told)).toEqual(new Set(["PART_UNREADABLE"]));
  });
});

describe("a member whose key of the session is no key", () => {
  it.each(["zz".repeat(32), "00".repeat(32), "01".padEnd(64, "0"), ""])("stops no helper (%s)", (boxKey) => {
    const cluster = new KeyedCluster();
    cluster.plantKey("payments");
    cluster.write(1, [{ op: "remove", table: "shares", key: generationKey("payments", 1) }]);
    cluster.tamper = (from, to, message) =>
      from === 3 && message._tag === "Repair.Key" ? { ...message, boxKey } : whole(from, to, message);
    cluster.repair(1, "one", "payments", [2, 3]);
    cluster.pass(11_000);
    expect(cluster.answers.get("one")).toMatchObject({ _tag: "Rejected" });
  });

  it.each(["zz".repeat(32), "00".repeat(32)])("stops no helper as a target (%s)", (boxKey) => {
    const cluster = new KeyedCluster();
    cluster.plantKey("payments");
    cluster.write(1, [{ op: "remove", table: "shares", key: generationKey("payments", 1) }]);
    cluster.tamper = (from, to, message) =>
      message._tag === "Repair.Open" ? { ...message, boxKey } : whole(from, to, message);
    cluster.repair(1, "one", "payments", [2, 3]);
    cluster.pass(11_000);
    expect(cluster.answers.get("one")).toMatchObject({ _tag: "Rejected" });
  });
});

describe("a target that asks for one generation again and again", () => {
  it("is told nothing by its helpers, which would seal as many boxes for each other", () => {
    const cluster = new KeyedCluster();
    cluster.plantKey("payments");
    cluster.write(1, [{ op: "remove", table: "shares", key: generationKey("payments", 1) }]);
    const said = new Set<string>();
    cluster.tamper = (from, to, message) => {
      if (from !== 1 && message._tag.startsWith("Repair."))
        said.add(message._tag === "Repair.Refused" ? message.code : message._tag);
      return message._tag === "Repair.Open"
        ? { ...message, generations: message.generations.flatMap((each) => [each, each]) }
        : whole(from, to, message);
    };
    cluster.repair(1, "one", "payments", [2, 3]);
    cluster.pass(11_000);
    expect(said).toEqual(new Set(["WRONG_REQUEST"]));
    cluster.tamper = whole;
    cluster.repair(1, "two", "payments", [2, 3]);
    cluster.settle();
    expect(cluster.answers.get("two")).toEqual({ _tag: "Repaired", generations: [1] });
  });
});

describe("a target that asks without end", () => {
  it("is told all once in a while, and nothing is sealed again", () => {
    const cluster = new KeyedCluster();
    cluster.plantKey("payments");
    cluster.write(1, [{ op: "remove", table: "shares", key: generationKey("payments", 1) }]);
    const opens: Array<Message> = [];
    const said: Array<Message> = [];
    cluster.tamper = (from, to, message) => {
      if (message._tag === "Repair.Open" && to === 2) opens.push(message);
      if (from === 2 && message._tag.startsWith("Repair.")) said.push(message);
      return message._tag === "Repair.Sum" ? undefined : message;
    };
    cluster.repair(1, "one", "payments", [2, 3]);
    cluster.settle();
    const first = said.splice(0);
    expect(first.map(({ _tag }) => _tag)).toEqual(["Repair.Key", "Repair.Part", "Repair.Sum"]);
    const [open] = opens;
    if (open === undefined) throw new Error("nobody was asked");
    const seal = vi.spyOn(nobleKeyCrypto.boxes, "seal");
    for (let time = 0; time < 50; time += 1) cluster.deliver(2, 1, open);
    cluster.settle();
    expect(said).toEqual([]);
    cluster.pass(200);
    for (let time = 0; time < 50; time += 1) cluster.deliver(2, 1, open);
    cluster.settle();
    expect(said).toEqual(first.slice(1));
    expect(seal).not.toHaveBeenCalled();
    seal.mockRestore();
  });
});

describe("a helper whose boxes do not open", () => {
  it("makes another one try the first of them, once, and say so once to a target that does not ask", () => {
    const cluster = new KeyedCluster();
    const generations = [1, 2, 3];
    for (const no of generations) cluster.plantKey("payments", no, no);
    cluster.write(
      1,
      generations.map((no) => ({ op: "remove", table: "shares", key: generationKey("payments", no) })),
    );
    const told: Array<string> = [];
    let part: Message | undefined;
    cluster.tamper = (from, to, message) => {
      if (from === 2 && message._tag === "Repair.Refused") told.push(message.code);
      if (from !== 3 || to !== 2 || message._tag !== "Repair.Part") return whole(from, to, message);
      part = { ...message, boxes: message.boxes.map((box) => box.map((byte, at) => (at === 0 ? byte ^ 1 : byte))) };
      return undefined;
    };
    cluster.repair(1, "one", "payments", [2, 3]);
    cluster.settle();
    if (part === undefined) throw new Error("helper 3 has told nothing");
    const open = vi.spyOn(nobleKeyCrypto.boxes, "open");
    for (let time = 0; time < 20; time += 1) cluster.deliver(2, 3, part);
    expect(open).toHaveBeenCalledTimes(1);
    expect(told).toEqual(["PART_UNREADABLE"]);
    open.mockRestore();
  });
});

describe("a helper whose box opens and holds no scalar", () => {
  it("stops no other helper, and nothing is stored", () => {
    const cluster = new KeyedCluster();
    const { generation } = cluster.plantKey("payments");
    cluster.write(1, [{ op: "remove", table: "shares", key: generationKey("payments", 1) }]);
    const { boxes } = nobleKeyCrypto;
    const own = new Secret(new Uint8Array(32).fill(7));
    const boxKey = boxes.keyOf(own);
    const told: Array<string> = [];
    let asked: Digest | undefined;
    let theirs: string | undefined;
    cluster.tamper = (from, to, message) => {
      if (to === 1 && message._tag === "Repair.Refused") told.push(`${from} ${message.code}`);
      if (message._tag === "Repair.Open")
        asked = crypto.digest("CUSTODY_REPAIR_OPEN_V1", repairMessages["Repair.Open"].at(KEYS_SINCE), message);
      if (message._tag === "Repair.Key" && from === 2) theirs = message.boxKey;
      if (from !== 3) return whole(from, to, message);
      if (message._tag === "Repair.Key") return { ...message, boxKey };
      if (message._tag !== "Repair.Part" || asked === undefined || theirs === undefined) return message;
      const wanted = { generation: 1, transcript: generation.transcript };
      const route = { what: "part", target: 1, asked, generations: [wanted], from: 3, to: 2 } as const;
      const sealed = sealedFor(boxes, own, theirs as BoxKey, route, [new Secret(new Uint8Array(32).fill(0xff))]);
      return { ...message, boxKey, boxes: sealed ?? [] };
    };
    cluster.repair(1, "one", "payments", [2, 3]);
    cluster.pass(11_000);
    expect(told).toContain("2 PART_UNREADABLE");
    expect(cluster.answers.get("one")).toMatchObject({ _tag: "Rejected", rejection: { code: "REPAIR_FAILED" } });
    cluster.tamper = whole;
    cluster.repair(1, "two", "payments", [2, 3]);
    cluster.settle();
    expect(cluster.answers.get("two")).toEqual({ _tag: "Repaired", generations: [1] });
  });
});
