import { ed25519 } from "@noble/curves/ed25519.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { describe, expect, it } from "vitest";
import { crypto, whole } from "../../../properties/cluster/Cluster.ts";
import { KeyedCluster } from "../../../properties/cluster/PlantedKeys.ts";
import type { Digest } from "../../base/Digest.ts";
import type { Event } from "../../protocol/Event.ts";
import type { PeerId } from "../../protocol/Topology.ts";
import { Secret } from "../../threshold/Secret.ts";
import type { BoxKey } from "../../threshold/Suite.ts";
import { nobleKeyCrypto } from "../../../runtime/threshold/NobleKeyCrypto.ts";
import { keyPath } from "../keys/KeyId.ts";
import { generationKey } from "../keys/Tables.ts";
import type { RepairMessageOf } from "./RepairMessages.ts";

const { Fn } = ed25519.Point;
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

const littleEndian = (bytes: Uint8Array): bigint => Fn.fromBytes(bytes);

/** The Lagrange weight of one of a set, at the target. */
const weight = (set: ReadonlyArray<number>, index: number): bigint =>
  set
    .filter((each) => each !== index)
    .reduce(
      (product, each) => Fn.mul(product, Fn.div(Fn.create(BigInt(TARGET - each)), Fn.create(BigInt(index - each)))),
      1n,
    );

const determinant = ([a = [], b = [], c = []]: ReadonlyArray<ReadonlyArray<bigint>>): bigint => {
  const [[a0 = 0n, a1 = 0n, a2 = 0n], [b0 = 0n, b1 = 0n, b2 = 0n], [c0 = 0n, c1 = 0n, c2 = 0n]] = [a, b, c] as const;
  const minor = (p: bigint, q: bigint, r: bigint, s: bigint) => Fn.sub(Fn.mul(p, s), Fn.mul(q, r));
  return Fn.add(
    Fn.sub(Fn.mul(a0, minor(b1, b2, c1, c2)), Fn.mul(a1, minor(b0, b2, c0, c2))),
    Fn.mul(a2, minor(b0, b1, c0, c1)),
  );
};

describe("a target that names other helpers to each helper", () => {
  it("is told nothing of which it could make the key", () => {
    const cluster = new ThreeOfFive();
    const { generation } = cluster.plantKey("payments");
    const [name, root] = [generationKey("payments", 1), cluster.peers.get(1)?.state.registry.set];
    expect(cluster.row(TARGET, "shares", name)).toBeDefined();
    if (root === undefined) throw new Error("the cluster is not founded");
    const boxSeed = new Secret(new Uint8Array(32).fill(77));
    const boxKey = nobleKeyCrypto.boxes.keyOf(boxSeed);
    const told: Array<RepairMessageOf<"Repair.Sum"> & { readonly from: PeerId }> = [];
    cluster.tamper = (from, to, message) => {
      if (to === TARGET && message._tag === "Repair.Sum") told.push({ ...message, from });
      return whole(from, to, message);
    };

    /** Each of four is told of itself and its two neighbours; what all of them tell is one equation. */
    const equation = (cycle: ReadonlyArray<number>): readonly [ReadonlyArray<bigint>, bigint] | undefined => {
      told.length = 0;
      const sessionId: Digest = crypto.sha256(Uint8Array.from(cycle));
      const row = [0n, 0n, 0n];
      for (const [at, helper] of cycle.entries()) {
        const set = [cycle.at(at - 1) ?? 0, helper, cycle[(at + 1) % cycle.length] ?? 0];
        for (let power = 0; power < 3; power += 1)
          row[power] = Fn.add(row[power] ?? 0n, Fn.mul(weight(set, helper), BigInt(helper ** power)));
        cluster.deliver(helper, TARGET, {
          _tag: "Repair.Open",
          sessionId,
          evidence: {
            path: keyPath("payments", "repair"),
            rawBody: utf8ToBytes(JSON.stringify({ helpers: set })),
            token: "token",
          },
          generations: [{ generation: 1, transcript: generation.transcript }],
          boxKey,
          registryRoot: crypto.setDigest(root),
        });
      }
      cluster.pass(500);
      const sums = new Map(
        told.map(({ from, boxKey: theirs, boxes: [box = new Uint8Array()] }) => {
          const place = `repair sum ${sessionId} payments 1 ${from} ${TARGET}`;
          const sum = nobleKeyCrypto.boxes.open(boxSeed, theirs as BoxKey, place, box);
          return [from, sum === undefined ? 0n : littleEndian(sum.expose())] as const;
        }),
      );
      if (sums.size < cycle.length) return undefined;
      return [row, [...sums.values()].reduce((sum, each) => Fn.add(sum, each), 0n)];
    };

    const equations = [
      [1, 2, 3, 4],
      [1, 3, 2, 4],
      [1, 2, 4, 3],
    ].flatMap((cycle) => {
      const found = equation(cycle);
      return found === undefined ? [] : [found];
    });
    const all = determinant(equations.map(([row]) => row));
    const constant = determinant(equations.map(([[, a1 = 0n, a2 = 0n], value]) => [value, a1, a2]));
    const key = all === 0n ? 0n : Fn.div(constant, all);
    const made = key === 0n ? "" : ed25519.Point.BASE.multiply(key).toHex();
    expect(made).not.toBe(generation.publicKey);
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
