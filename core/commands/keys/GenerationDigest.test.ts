import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { crypto } from "../../../properties/cluster/Cluster.ts";
import type { Digest } from "../../base/Digest.ts";
import { UNSHARED } from "./GroupRecord.ts";
import { generationDigest } from "./GenerationDigest.ts";

const clusterId = "ab".repeat(32) as Digest;
const key = { keyId: "k1", algorithm: "ED25519", scheme: "EdDSA" };
const generation = { generation: 2, publicKey: "00ff", group: UNSHARED, authorities: ["arbitrary"] };

/** What anybody computes from the agreed JSON: names in order, no space. */
const expected = (owner: string): string =>
  createHash("sha256")
    .update(
      `SERVICE_GENERATION_V1\0{"algorithm":"ED25519",${owner}"authorities":[{"id":"arbitrary"}],"cluster":"${clusterId}","generation":2,"keyId":"k1","publicKey64":"AP8=","scheme":"EdDSA","threshold":1,"total":1}`,
    )
    .digest("hex");

const topology = { clusterId, members: [{ peerId: 1, identityKey: "" as never, shareIndex: 1 }] };

it("covers what is agreed about a generation, as canonical JSON", () => {
  const digestOf = (assetOwner: string | undefined) =>
    generationDigest(crypto, topology, { ...key, assetOwner }, generation);
  expect(digestOf(undefined)).toBe(expected(""));
  expect(digestOf("eu")).toBe(expected('"assetOwner":"eu",'));
});
