/** What a restored peer brought along is looked at by its rows alone: nobody knows the state of a real peer back then. */
import { expect, it } from "vitest";
import type { Digest } from "../../core/base/Digest.ts";
import { SELF } from "../../core/protocol/Tables.ts";
import { crypto, inUse } from "../../properties/cluster/Cluster.ts";
import { create, keyed } from "../../properties/cluster/Keyed.ts";
import { declare, expectWhole } from "../../properties/cluster/Restoring.ts";
import { evidenceOf, tokenOf } from "../../properties/chaos/Recorded.ts";
import { Ghost } from "./Ghost.ts";
import { K7 } from "./K7.ts";

interface Place {
  readonly keyId: string;
  readonly generation: number;
  readonly transcript: Digest;
}

/** A cluster of which peer 3 was restored after a key had been made. */
const restored = () => {
  const cluster = keyed();
  create(cluster, 1, "made");
  cluster.pass(3_000);
  declare(cluster, 3);
  cluster.pass(6_000);
  expectWhole(cluster, 0);
  return cluster;
};

const cluster = restored();
const said = { keyOf: (each: string) => each, byBody: () => undefined, replacementOf: () => undefined, tokenOf };
const { final } = evidenceOf(cluster, { moments: [], said }).peers[2] ?? {};

/** Judges that it is a member again, as one whose shares open or do not. */
const judge = (opens: boolean) => {
  const store = final?.store;
  const identity = cluster.keys.get(3);
  const row = store?.get("restore", SELF);
  const topology = store?.get("topology", SELF)?.topology;
  if (store === undefined || identity === undefined || row === undefined || topology === undefined)
    throw new Error("peer 3 was to be restored");
  const peer = {
    slot: 3,
    honest: true,
    isDamaged: false,
    state: undefined,
    store,
    opened: ({ keyId, generation, transcript }: Place, verifyingShare: string, box: Uint8Array) => {
      const place = { clusterId: topology.clusterId, peerId: 3, keyId, generation, transcript, verifyingShare };
      return opens ? inUse(identity).shareVault.open(place, box) : undefined;
    },
  };
  K7(new Ghost(crypto, 3)).written?.restore?.(peer as never, { op: "replace", table: "restore", key: SELF, row }, []);
};

it("lets a member be whose shares open, also where nothing is known of it but its rows", () => {
  expect(final?.store.get("restore", SELF)?.recovering).toBe(false);
  expect(() => judge(true)).not.toThrow();
});

it("finds a share that does not open", () => {
  expect(() => judge(false)).toThrow(/it is a member again, with a share that is of another/);
});
