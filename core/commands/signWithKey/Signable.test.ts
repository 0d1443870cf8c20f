/** What a caller is told of a command that does not fit the key. */
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { expect, it } from "vitest";
import { create, keyed } from "../../../properties/cluster/Keyed.ts";
import { keyPath } from "../keys/KeyId.ts";

const wanted = (artifact: object): Uint8Array =>
  utf8ToBytes(JSON.stringify({ command: { type: "arbitrary", authorityId: "arbitrary", artifact } }));

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
