/** Keys that an instance had while it was alone, in the cluster that it was promoted to (decision 0047). */
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { describe, expect, it } from "vitest";
import { type Cluster, codeOf, crypto, rowsOf } from "../../../properties/cluster/Cluster.ts";
import { posted } from "../../../properties/cluster/Enrolling.ts";
import { create, keeper, renew } from "../../../properties/cluster/Keyed.ts";
import { eddsa, keyActor } from "../../../properties/cluster/PlantedKeys.ts";
import { beforePromotion, promote } from "../../../properties/cluster/Promoting.ts";
import { comeBackOn, copyOf, declare, stateOf } from "../../../properties/cluster/Restoring.ts";
import { signingBody } from "../../../properties/cluster/SigningByHand.ts";
import type { MemoryTables } from "../../../runtime/MemoryByteStore.ts";
import type { Message } from "../../Message.ts";
import { modeOf } from "../../protocol/Mode.ts";
import { keyPath } from "../keys/KeyId.ts";
import type { Secret } from "../../threshold/Secret.ts";
import { generationKey } from "../keys/Tables.ts";
import { makings } from "./MakingState.ts";

const SOURCE = 2;
const data = utf8ToBytes("pay 5");

const sign = (cluster: Cluster, through: number, requestId: string): void =>
  cluster.ask(through, requestId, {
    method: "POST",
    path: keyPath("k1", "sign"),
    ifMatch: undefined,
    rawBody: signingBody(data),
  });

interface Promoted {
  readonly cluster: Cluster;
  readonly publicKey: string;
  /** The disk of the instance before it had the key, and with it. */
  readonly empty: MemoryTables;
  readonly alone: MemoryTables;
}

/** An instance with a key, promoted to three peers. */
const promoted = (): Promoted => {
  const cluster = beforePromotion(SOURCE);
  cluster.judge = () => keeper;
  const empty = copyOf(cluster.tables.get(SOURCE));
  create(cluster, SOURCE, "made");
  cluster.pass(1_000);
  const made = cluster.answers.get("made");
  const alone = copyOf(cluster.tables.get(SOURCE));
  promote(cluster);
  cluster.pass(15_000);
  expect([1, 2, 3].map((peerId) => modeOf(stateOf(cluster, peerId)))).toEqual(["active", "active", "active"]);
  return {
    cluster,
    empty,
    alone,
    publicKey: made?._tag === "KeyMade" ? made.generation.publicKey : expect.fail("no key was made"),
  };
};

const refreshed = (cluster: Cluster, requestId = "refreshed", through = 1): string | undefined => {
  renew(cluster, through, requestId, "refresh", 1);
  cluster.pass(3_000);
  return codeOf(cluster, requestId);
};

const expectSigned = (cluster: Cluster, through: number, publicKey: string): void => {
  sign(cluster, through, `by ${through}`);
  cluster.pass(2_000);
  const answer = cluster.answers.get(`by ${through}`);
  if (answer?._tag !== "Signed")
    return expect.fail(`peer ${through} did not sign: ${codeOf(cluster, `by ${through}`)}`);
  expect(eddsa.verify(publicKey, data, answer.signature)).toBe(true);
};

describe("a key from before a promotion", () => {
  it("signs nothing until it is refreshed, and is not repaired", () => {
    const { cluster } = promoted();
    expect(rowsOf(cluster, "custodyKeys")).toEqual([1, 1, 1]);
    for (const peerId of [1, SOURCE, 3]) {
      sign(cluster, peerId, `unshared at ${peerId}`);
      cluster.pass(500);
      expect(codeOf(cluster, `unshared at ${peerId}`)).toBe("KEY_UNSHARED");
    }
    expect(rowsOf(cluster, "shares")).toEqual([0, 1, 0]);
  });

  it("is no share to help with: a member that asks for a repair of it is refused, and halts nobody", () => {
    const { cluster } = promoted();
    const generation = cluster.row(SOURCE, "generations", generationKey("k1", 1));
    const told: Array<string> = [];
    cluster.judge = () => keyActor;
    cluster.tamper = (_from, to, message: Message) => {
      if (to === 1 && message._tag === "Repair.Refused") told.push(message.code);
      return message;
    };
    cluster.deliver(SOURCE, 1, {
      _tag: "Repair.Open",
      sessionId: crypto.sha256(utf8ToBytes("session")),
      evidence: {
        path: keyPath("k1", "repair"),
        rawBody: utf8ToBytes(JSON.stringify({ helpers: [SOURCE, 3] })),
        token: "token",
      },
      generations: [{ generation: 1, transcript: generation?.transcript ?? expect.fail("there is no key") }],
      boxKey: "01".repeat(32),
      registryRoot: crypto.setDigest(stateOf(cluster, SOURCE).registry.set),
    });
    cluster.settle();
    expect(told).toEqual(["KEY_UNSHARED"]);
  });

  it("is shared by a refresh: the same public key, every peer signs, and nobody has it whole", () => {
    const { cluster, publicKey } = promoted();
    expect(refreshed(cluster)).toBe("KeyMade");
    cluster.pass(5_000);
    expect(cluster.answers.get("refreshed")).toMatchObject({
      generation: { generation: 2, madeBy: "REFRESH", publicKey, group: { threshold: 2 } },
    });
    expect(rowsOf(cluster, "shares")).toEqual([1, 1, 1]);
    expect(cluster.row(SOURCE, "shares", generationKey("k1", 1))).toBeUndefined();
    expect(new Set([1, 2, 3].map((peerId) => crypto.setDigest(stateOf(cluster, peerId).registry.set))).size).toBe(1);
    for (const through of [1, 2, 3]) expectSigned(cluster, through, publicKey);
    cluster.tamper = (from, to, message) => (from === SOURCE || to === SOURCE ? undefined : message);
    sign(cluster, 1, "without its first holder");
    cluster.pass(2_000);
    expect(codeOf(cluster, "without its first holder")).toBe("Signed");
  });

  it("is whole and nothing else where the refresh does not come to its end, and is shared by the next one", () => {
    const { cluster, publicKey } = promoted();
    cluster.tamper = (_from, _to, message: Message) => (message._tag === "Keygen.Share" ? undefined : message);
    expect(refreshed(cluster, "lost")).not.toBe("KeyMade");
    cluster.pass(90_000);
    expect(rowsOf(cluster, "shares")).toEqual([0, 1, 0]);
    expect(rowsOf(cluster, "pending")).toEqual([0, 0, 0]);
    cluster.tamper = (_from, _to, message) => message;
    expect(refreshed(cluster, "again", 3)).toBe("KeyMade");
    expectSigned(cluster, 3, publicKey);
  });

  it.each(["Keygen.Share", "none"])(
    "leaves nothing of it in the dealer's memory, whatever comes of the refresh (%s is lost)",
    (lost) => {
      const { cluster } = promoted();
      const seen = new Set<Secret>();
      cluster.tamper = (_from, _to, message: Message) => {
        const slice = stateOf(cluster, SOURCE).modules[makings.name] as typeof makings.empty | undefined;
        for (const { old } of slice?.sessions.values() ?? [])
          if (old?._tag === "Whole" && old.whole.secret !== undefined) seen.add(old.whole.secret);
        return message._tag === lost ? undefined : message;
      };
      refreshed(cluster);
      cluster.pass(90_000);
      expect([...seen].map((each) => each.expose().every((byte) => byte === 0))).toEqual([true]);
    },
  );

  it("is erased again at its holder that is restored from before the refresh, or from before the promotion", () => {
    const { cluster, alone } = promoted();
    const before = copyOf(cluster.tables.get(SOURCE));
    expect(refreshed(cluster)).toBe("KeyMade");
    cluster.pass(5_000);
    for (const disk of [before, alone]) {
      expect(disk.get("shares")?.size).toBe(1);
      comeBackOn(cluster, SOURCE, disk, disk === before);
      cluster.pass(8_000);
      if (disk === alone) declare(cluster, SOURCE);
      cluster.pass(20_000);
      expect(modeOf(stateOf(cluster, SOURCE))).toBe("active");
      expect(rowsOf(cluster, "shares")).toEqual([1, 0, 1]);
    }
  });

  it.each([
    ["alone", 1, []],
    ["beside a share of the next one, which is repaired", 2, [generationKey("k1", 2)]],
  ])("is lost with its holder's disk, who says that nobody can repair it, %s", (_, newest, shares) => {
    const { cluster, empty } = promoted();
    if (newest > 1) renew(cluster, 3, "rotated", "rotate", 1);
    cluster.pass(5_000);
    comeBackOn(cluster, SOURCE, empty, false);
    cluster.pass(8_000);
    declare(cluster, SOURCE);
    cluster.pass(20_000);
    cluster.ask(SOURCE, "repair", posted(keyPath("k1", "repair"), { helpers: [1, 3] }));
    cluster.pass(2_000);
    expect([...(cluster.tables.get(SOURCE)?.get("shares")?.keys() ?? [])]).toEqual(shares);
    expect(cluster.answers.get("repair")).toMatchObject({
      rejection: {
        code: "REPAIR_IMPOSSIBLE",
        detail: expect.stringContaining("lost, by generation: 1;"),
        hint: expect.stringContaining("only this peer's own backup"),
        members: [{ peerId: SOURCE, reason: "its own share is missing" }],
        // The share of the other one is stored.
        outcomeUnknown: newest > 1,
      },
    });
    cluster.ask(1, "elsewhere", posted(keyPath("k1", "repair"), { helpers: [SOURCE, 3] }));
    expect(codeOf(cluster, "elsewhere")).toBe("Repaired");
  });

  it("is not shared by a member that deals another key, which is named", () => {
    const { cluster } = promoted();
    cluster.tamper = (from, _to, message: Message) =>
      message._tag === "Keygen.Package" && from === SOURCE
        ? { ...message, said: { ...message.said, commitments: message.said.commitments.toReversed() } }
        : message;
    expect(refreshed(cluster)).toBe("KEYGEN_DISPUTED");
    expect(rowsOf(cluster, "shares")).toEqual([0, 1, 0]);
  });

  it("may be left as it is and rotated: the next generation is another key, of all members", () => {
    const { cluster, publicKey } = promoted();
    renew(cluster, 3, "rotated", "rotate", 1);
    cluster.pass(3_000);
    const answer = cluster.answers.get("rotated");
    if (answer?._tag !== "KeyMade") return expect.fail("it was not rotated");
    expect(answer.generation.publicKey).not.toBe(publicKey);
    expectSigned(cluster, 1, answer.generation.publicKey);
  });
});
