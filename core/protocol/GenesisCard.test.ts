import { NEWEST } from "../codec/Versioned.ts";
import { describe, expect, it } from "vitest";
import { crypto, founded } from "../../properties/cluster/Cluster.ts";
import { stateOf } from "../../properties/cluster/Restoring.ts";
import type { Digest } from "../base/Digest.ts";
import { firstTopology, type GenesisCard } from "./GenesisCard.ts";

describe("the first topology", () => {
  const key = stateOf(founded(1), 1).cluster.peer?.identityKey;
  if (key === undefined) throw new Error("it is initialized");
  const digest = "ab".repeat(32) as Digest;
  const cardOf = (peerId: number, development: boolean): GenesisCard => ({
    version: NEWEST,
    peerId,
    identityKey: key,
    threshold: 2,
    total: 3,
    configDigest: digest,
    nonce: digest,
    development,
  });

  it.each([true, false])(
    "is what all cards say, by peer id, in whatever order they came; of development: %s",
    (development) => {
      const [first, second, third] = [1, 2, 3].map((peerId) => cardOf(peerId, development));
      if (first === undefined || second === undefined || third === undefined) throw new Error("there are three");
      const topology = firstTopology(crypto, [third, first, second]);
      expect(topology).toMatchObject({ epoch: 1, threshold: 2, prevDigest: undefined, development });
      expect(topology.members).toEqual([1, 2, 3].map((peerId) => ({ peerId, identityKey: key, shareIndex: peerId })));
      expect(firstTopology(crypto, [second, third, first])).toEqual(topology);
    },
  );
});
