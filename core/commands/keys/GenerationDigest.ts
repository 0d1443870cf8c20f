/** The digest of what is agreed about a generation, which approvers sign. */
import { hexToBytes } from "@noble/hashes/utils.js";
import { Encoding } from "effect";
import { canonicalJson } from "../../codec/CanonicalJson.ts";
import type { Crypto } from "../../crypto/Crypto.ts";
import type { Digest } from "../../base/Digest.ts";
import type { Topology } from "../../protocol/Topology.ts";
import type { Generation, Key } from "./KeyRecord.ts";

const RECORD_TAG = "SERVICE_GENERATION_V1";

export const generationDigest = (
  crypto: Pick<Crypto, "sha256OfText">,
  { clusterId, members }: Pick<Topology, "clusterId" | "members">,
  { keyId, algorithm, scheme, assetOwner }: Pick<Key, "keyId" | "algorithm" | "scheme" | "assetOwner">,
  { generation, publicKey, group, authorities }: Pick<Generation, "generation" | "publicKey" | "group" | "authorities">,
): Digest => {
  const agreed = {
    cluster: clusterId,
    keyId,
    generation,
    algorithm,
    scheme,
    publicKey64: Encoding.encodeBase64(hexToBytes(publicKey)),
    threshold: group.threshold,
    total: members.length,
    authorities: authorities.map((id) => ({ id })),
    ...(assetOwner === undefined ? {} : { assetOwner }),
  };
  return crypto.sha256OfText(`${RECORD_TAG}\u0000${canonicalJson(agreed)}`);
};
