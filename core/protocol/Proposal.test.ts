import { describe, expect, it } from "vitest";
import { prepared } from "../../properties/cluster/Prepared.ts";
import type { Digest } from "../Digest.ts";
import { type Actor, isSameActor, isSameLine, locksOf, type Proposal, type RequestLine } from "./Proposal.ts";

const OTHER = "ab".repeat(32) as Digest;
const { proposal } = prepared().preparation;

describe("an actor", () => {
  const actor: Actor = { iss: "https://issuer.example", sub: "operator", jti: "1" };

  it("is the same in the same words", () => {
    expect(isSameActor(actor, { ...actor })).toBe(true);
  });

  it.each<readonly [string, Partial<Actor>]>([
    ["of another issuer", { iss: "https://other.example" }],
    ["of no issuer", { iss: undefined }],
    ["of another subject", { sub: "mallory" }],
    ["of another token", { jti: "2" }],
  ])("is another one %s", (_what, change) => {
    expect(isSameActor(actor, { ...actor, ...change })).toBe(false);
  });
});

describe("a request line", () => {
  const line: RequestLine = { method: "PUT", path: "/v1/custody/approvers", bodyDigest: OTHER };

  it("is the same in the same words", () => {
    expect(isSameLine(line, { ...line })).toBe(true);
  });

  it.each<readonly [string, Partial<RequestLine>]>([
    ["with another method", { method: "POST" }],
    ["with another path", { path: "/" }],
    ["with another body", { bodyDigest: "cd".repeat(32) as Digest }],
  ])("is another one %s", (_what, change) => {
    expect(isSameLine(line, { ...line, ...change })).toBe(false);
  });
});

describe("the locks of a proposal", () => {
  const { keyIdentity, ref } = proposal.effects;
  const ofKey = [`key:${keyIdentity}`, `ref:${ref}`, `meta:${ref}`];
  const locksWith = (kind: Proposal["kind"], effects: Partial<Proposal["effects"]>): ReadonlyArray<string> =>
    locksOf({ ...proposal, kind, effects: { ...proposal.effects, ...effects } });

  it("are the key, the approver and its metadata where a key is registered", () => {
    expect(locksWith("REGISTER", {})).toEqual(ofKey);
  });

  it("are the credential and the session too, where an enrollment is finished", () => {
    expect(locksWith("FINISH", { credentialIdentity: OTHER })).toEqual([...ofKey, `cred:${OTHER}`]);
    expect(locksWith("FINISH", { registrationId: OTHER })).toEqual([...ofKey, `session:${OTHER}`]);
  });

  it("are the metadata alone where that is replaced", () => {
    expect(locksWith("METADATA", { credentialIdentity: OTHER, registrationId: OTHER })).toEqual([`meta:${ref}`]);
  });
});
