import { describe, expect, it } from "vitest";
import { codeOf } from "../../../properties/cluster/Cluster.ts";
import { create, keeper, renew } from "../../../properties/cluster/Keyed.ts";
import { beforePromotion, promote } from "../../../properties/cluster/Promoting.ts";

const SOURCE = 2;

describe("a promotion that is asked for while its source makes a key", () => {
  it("shows no target the random bytes that the key comes from", () => {
    const cluster = beforePromotion(SOURCE);
    cluster.judge = () => keeper;
    cluster.pass(10_000);
    const drawn = new Set<string>();
    const nonces: Array<string> = [];
    cluster.onEntropy = (bytes) => void drawn.add(bytes);
    cluster.tamper = (_from, _to, message) => {
      if (message._tag === "Promotion.Ask") nonces.push(message.nonce);
      return message;
    };
    create(cluster, SOURCE, "made");
    // It waits for the first key, which is being written when the operator tries a promotion.
    renew(cluster, SOURCE, "rotated", "rotate", 1);
    const waiting: Array<() => void> = [];
    cluster.flush = (_peerId, _changes, flush) => void waiting.push(flush);
    for (let passed = 0; waiting.length === 0 && passed < 100; passed++) cluster.pass(1);
    promote(cluster, "promote", undefined, { dryRun: true });
    cluster.flush = (_peerId, _changes, flush) => flush();
    for (const flush of waiting) flush();
    cluster.pass(3_000);
    expect([codeOf(cluster, "made"), codeOf(cluster, "rotated")]).toEqual(["KeyMade", "KeyMade"]);
    expect(nonces.length).toBeGreaterThan(0);
    expect(nonces.filter((nonce) => drawn.has(nonce))).toEqual([]);
  });
});
