/** What a caller is told of a command that does not fit the key. */
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { expect, it } from "vitest";
import { type Cluster, codeOf, whole } from "../../../properties/cluster/Cluster.ts";
import { create, keyed, renew } from "../../../properties/cluster/Keyed.ts";
import { keyPath } from "../keys/KeyId.ts";

const wanted = (artifact: object, more: object = {}): Uint8Array =>
  utf8ToBytes(JSON.stringify({ command: { type: "arbitrary", authorityId: "arbitrary", artifact }, ...more }));

/** Asks a peer for a signature under one generation. */
const signUnder = (cluster: Cluster, through: number, generation: number) => {
  const requestId = `under ${generation} through ${through} at ${cluster.now}`;
  const rawBody = wanted({ scheme: "EdDSA", data64: "" }, { generation });
  cluster.ask(through, requestId, { method: "POST", path: keyPath("k1", "sign"), ifMatch: undefined, rawBody });
  const answer = cluster.answers.get(requestId);
  return answer?._tag === "Rejected" ? answer.rejection : undefined;
};

it.each([
  ["a scheme of other keys", { scheme: "EdDSA", hash: "SHA256" }, "/command/artifact/scheme"],
  ["data of a wrong length", { scheme: "ECDSA" }, "/command/artifact/data64"],
])("names the field with %s", (_what, artifact, pointer) => {
  const cluster = keyed(1);
  create(cluster, 1, "made", { algorithm: "P256" });
  cluster.pass(2_000);
  const rawBody = wanted({ ...artifact, data64: "cGF5IDU=" });
  cluster.ask(1, "signed", { method: "POST", path: keyPath("k1", "sign"), ifMatch: undefined, rawBody });
  const answer = cluster.answers.get("signed");
  const { code, detail, faults } = answer?._tag === "Rejected" ? answer.rejection : expect.fail("it was signed");
  expect(code).toBe("INVALID_COMMAND");
  expect(faults).toEqual([{ pointer, code: expect.any(String), detail }]);
});

it("tells a generation that was never made from one that signs no more, and says what to name", () => {
  const cluster = keyed();
  create(cluster, 1, "made");
  cluster.pass(3_000);
  renew(cluster, 1, "rotated", "rotate", 1);
  cluster.pass(3_000);
  expect(codeOf(cluster, "rotated")).toBe("KeyMade");
  const hint = "Read the key: its active generation alone signs. Name that one, or none.";
  expect(signUnder(cluster, 3, 1)).toMatchObject({ code: "GENERATION_MOVED", hint });
  expect(signUnder(cluster, 3, 3)).toMatchObject({ code: "GENERATION_NOT_FOUND", hint });
});

it("does not deny a generation that others have made and this peer has only prepared", () => {
  const cluster = keyed();
  create(cluster, 1, "made");
  cluster.pass(3_000);
  cluster.tamper = (from, to, message) =>
    to === 3 && ["Commit", "SettleAnswer", "Votes"].includes(message._tag) ? undefined : whole(from, to, message);
  renew(cluster, 1, "rotated", "rotate", 1);
  cluster.pass(1_000);
  expect([1, 3].map((peerId) => cluster.row(peerId, "custodyKeys", "k1")?.generation)).toEqual([2, 1]);
  expect(signUnder(cluster, 3, 2)?.code).toBe("GENERATION_MOVED");
  cluster.tamper = whole;
  cluster.pass(5_000);
  expect(signUnder(cluster, 3, 2)).toBeUndefined();
});

it("denies no generation before all members have shown that their memory is whole", () => {
  const cluster = keyed();
  create(cluster, 1, "made");
  cluster.pass(3_000);
  cluster.peers.delete(1);
  cluster.start(3);
  cluster.pass(500);
  expect(signUnder(cluster, 3, 2)?.code).toBe("GENERATION_MOVED");
});
