import { describe, expect, it } from "vitest";
import { crypto } from "../../properties/cluster/Cluster.ts";
import { posted } from "../../properties/cluster/Enrolling.ts";
import { installedProviders } from "../credential/SignatureProvider.ts";
import { OPTIONS_PATH } from "../enrollment/Enrollment.ts";
import { FINISH_PATH } from "../enrollment/Finish.ts";
import type { Call } from "../protocol/Forward.ts";
import { METADATA_PERMISSION, REGISTER_PERMISSION } from "./Authorization.ts";
import { REGISTER_PATH } from "./Registration.ts";
import { metadataPath } from "./Replacement.ts";
import { permissionOf, targetIn } from "./Request.ts";

const REF = `alice@sha256:${"ab".repeat(32)}`;
const credential = {
  type: "SIGNATURE",
  algorithm: "SLHDSA_SHA2_128S",
  publicKey64: Buffer.alloc(32, 7).toString("base64"),
};
const registration = posted(REGISTER_PATH, { id: "alice", credential });
const replacement: Call = { ...posted(metadataPath(REF), { metadata: {} }), method: "PUT", ifMatch: '"3"' };
const options = posted(OPTIONS_PATH, { id: "alice" });
const finish = posted(FINISH_PATH, {});

describe("a request", () => {
  it.each([
    ["a registration", registration, REGISTER_PERMISSION],
    ["options", options, REGISTER_PERMISSION],
    ["a replacement", replacement, METADATA_PERMISSION],
    ["a finish, which brings an invitation", finish, undefined],
  ])("needs its own permission: %s", (_what, call, permission) => {
    expect(permissionOf(call)).toBe(permission);
  });

  const none = { ref: undefined, baseRevision: undefined };
  it.each([
    [
      "a registration",
      registration,
      { kind: "REGISTER", ref: expect.stringMatching(/^alice@sha256:/), baseRevision: undefined },
    ],
    ["a replacement", replacement, { kind: "METADATA", ref: REF, baseRevision: 3 }],
    ["options, which are for no approver that there is", options, { kind: "OPTIONS", ...none }],
    ["a finish, which does not say for which one it is", finish, { kind: "FINISH", ...none }],
  ])("says what it is about without any row: %s", (_what, call, target) => {
    expect(targetIn({ crypto, providers: installedProviders }, call)).toMatchObject(target);
  });

  it("that cannot be understood is about nothing", () => {
    const calls = [posted(REGISTER_PATH, {}), { ...replacement, ifMatch: undefined }, posted("/", {})];
    for (const call of calls) expect(targetIn({ crypto, providers: installedProviders }, call)).toBeUndefined();
  });
});
