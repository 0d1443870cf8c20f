import { utf8ToBytes } from "@noble/hashes/utils.js";
import { describe, expect, it } from "vitest";
import { eddsa, KeyedCluster } from "../../../properties/cluster/PlantedKeys.ts";
import { crypto } from "../../../properties/cluster/Cluster.ts";
import { signingBody } from "../../../properties/cluster/SigningByHand.ts";
import { base64 } from "../../codec/Base64.ts";
import { canonicalJson } from "../../codec/CanonicalJson.ts";
import { keyPath } from "../keys/KeyId.ts";

const data = utf8ToBytes("pay 5");

describe("a signature", () => {
  it("is made of a body of ten mebibytes, which other members and the audit have in its shortest form", () => {
    const cluster = new KeyedCluster();
    const { generation } = cluster.plantKey("payments");
    const lengths: Array<number> = [];
    cluster.tamper = (_from, _to, message) => {
      if (message._tag === "Sign.Open") lengths.push(message.evidence.rawBody.length);
      return message;
    };
    const rawBody = new Uint8Array(10 * 1024 * 1024).fill(0x20);
    rawBody.set(signingBody(data));
    cluster.ask(1, "one", { method: "POST", path: keyPath("payments", "sign"), ifMatch: undefined, rawBody });
    cluster.settle();
    expect(eddsa.verify(generation.publicKey, data, cluster.signatureOf("one") ?? "")).toBe(true);
    expect(lengths.map((each) => each < 1024)).toEqual([true]);
    const digests = [1, 2].map((peerId) =>
      [...(cluster.tables.get(peerId)?.get("audit")?.keys() ?? [])]
        .map((key) => cluster.row(peerId, "audit", key))
        .flatMap((row) => (row?.event === "SIGN_CONSENTED" ? [row.request?.bodyDigest] : [])),
    );
    // What the description of an audit event says, for whoever compares it with what was sent.
    const artifact = { scheme: "EdDSA", hash: "NONE", data64: base64(data) };
    const told = canonicalJson({ command: { type: "arbitrary", authorityId: "arbitrary", artifact } });
    expect(digests[0]).toEqual([crypto.sha256(utf8ToBytes(told))]);
    expect(digests[1]).toEqual(digests[0]);
  });
});
