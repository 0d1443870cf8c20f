/** A target that begins session after session, as fast as it can. */
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { expect, it } from "vitest";
import { crypto, whole } from "../../../properties/cluster/Cluster.ts";
import { KeyedCluster } from "../../../properties/cluster/PlantedKeys.ts";
import { nobleKeyCrypto } from "../../../runtime/threshold/NobleKeyCrypto.ts";
import type { PeerId } from "../../protocol/Topology.ts";
import { Secret } from "../../threshold/Secret.ts";
import { keyPath } from "../keys/KeyId.ts";
import { generationKey } from "../keys/Tables.ts";

it("has a helper begin a part of them, and the others have that helper's help meanwhile", () => {
  const cluster = new KeyedCluster(4);
  const { generation } = cluster.plantKey("payments");
  const root = cluster.peers.get(1)?.state.registry.set;
  if (root === undefined) throw new Error("the cluster is not founded");
  let begun = 0;
  cluster.tamper = (from, to, message) => {
    if (message._tag === "Repair.Key" && from === 1) begun += 1;
    return whole(from, to, message);
  };
  const boxKey = nobleKeyCrypto.boxes.keyOf(new Secret(new Uint8Array(32).fill(77)));
  const rawBody = utf8ToBytes(JSON.stringify({ helpers: [1, 2] }));
  let sessions = 0;
  const beginsOf = (times: number, helpers: ReadonlyArray<PeerId> = [1]): number => {
    const before = begun;
    for (let each = 0; each < times; each++) {
      const sessionId = crypto.sha256(utf8ToBytes(`session ${(sessions += 1)}`));
      for (const helper of helpers)
        cluster.deliver(helper, 3, {
          _tag: "Repair.Open",
          sessionId,
          evidence: { path: keyPath("payments", "repair"), rawBody, token: "token" },
          generations: [{ generation: 1, transcript: generation.transcript }],
          boxKey,
          registryRoot: crypto.setDigest(root),
        });
    }
    return begun - before;
  };
  // Each costs one before the other helper has answered, and none is begun that there would be no room for.
  expect(beginsOf(1_030)).toBe(1_021);
  cluster.write(4, [{ op: "remove", table: "shares", key: generationKey("payments", 1) }]);
  cluster.repair(4, "of another", "payments", [1, 2]);
  cluster.settle();
  expect(cluster.answers.get("of another")).toEqual({ _tag: "Repaired", generations: [1] });
  cluster.pass(640);
  expect(beginsOf(50)).toBe(40);
  // Now both helpers hear of each, and tell each other something.
  cluster.pass(60_000);
  let told = 0;
  for (let each = 0; each < 220; each++) {
    told += beginsOf(1, [1, 2]);
    cluster.settle();
  }
  expect(told).toBe(205);
});
