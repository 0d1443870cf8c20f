import { changed } from "../properties/cluster/Changed.ts";
import { beforeAll, describe, expect, it } from "vitest";
import type { Digest } from "../core/base/Digest.ts";
import { Cluster, crypto } from "../properties/cluster/Cluster.ts";
import { openWarrant, sealWarrant } from "./Warrant.ts";

const NONCE = "01".repeat(32) as Digest;
const cluster = new Cluster(3);
beforeAll(() => cluster.pass(3_000));

const peerOf = (own: Cluster, peerId: number) => {
  const driver = own.peers.get(peerId);
  const key = own.keys.get(peerId);
  if (driver === undefined || key === undefined) throw new Error("the test cluster has such a peer");
  return { state: driver.state, key };
};
const sealed = (from: number, signer = from, own = cluster): Uint8Array => {
  const order = { to: 2, length: 70_000 };
  const warrant = sealWarrant(peerOf(own, from).state, peerOf(own, signer).key, NONCE, order);
  if (warrant === undefined) throw new Error("the test expects a warrant");
  return warrant;
};
const open = (at: number, warrant: Uint8Array) => openWarrant(crypto, peerOf(cluster, at).state, warrant);

describe("a warrant", () => {
  it("says where it was sent to, from whom and for how many bytes", () => {
    const { digest } = peerOf(cluster, 1).state.cluster.membership ?? {};
    expect(open(2, sealed(1))).toEqual({ from: 1, to: 2, topologyDigest: digest, length: 70_000, nonce: NONCE });
  });

  it("holds nowhere else, from nobody else, and not in another topology", () => {
    expect(open(3, sealed(1))).toBeUndefined();
    expect(open(2, sealed(1, 3))).toBeUndefined();
    expect(open(2, new Uint8Array(8))).toBeUndefined();
    const strangers = new Cluster(4);
    strangers.pass(3_000);
    expect(open(2, sealed(1, 1, strangers))).toBeUndefined();
  });

  it("does not hold after any single bit was changed", () => {
    const bytes = sealed(1);
    for (let at = 0; at < bytes.length; at++) {
      const changed = bytes.slice();
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(open(2, changed), `byte ${at}`).toBeUndefined();
    }
  });

  it("is not given before there is a number to give it under", () => {
    const { state, key } = peerOf(cluster, 1);
    expect(sealWarrant(changed(state, { peer: undefined }), key, NONCE, { to: 2, length: 1 })).toBeUndefined();
  });
});
