import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Digest } from "../../base/Digest.ts";
import { type CanonicalValue, canonicalJson } from "../../codec/CanonicalJson.ts";
import { crypto } from "../../../properties/cluster/Crypto.ts";
import { envelopeOf, isNonce, operationDigest, type Signing } from "./Envelope.ts";

/** Computed by another program, in another language. */
const vectors: {
  readonly operations: ReadonlyArray<{
    readonly envelope: CanonicalValue;
    readonly canonicalJson: string;
    readonly operationId: string;
  }>;
} = JSON.parse(readFileSync("docs/vectors/signing-operation.json", "utf8"));

const signing: Signing = {
  clusterId: "ab".repeat(32) as Digest,
  owner: { iss: "https://idp.example", sub: "svc-payout" },
  generation: { keyId: "payments-eu", generation: 2, record: "cd".repeat(32) as Digest },
  request: {
    keyId: "payments-eu",
    type: "arbitrary",
    authorityId: "arbitrary",
    scheme: "EdDSA",
    hash: "NONE",
    data: Uint8Array.from(Buffer.from("pay 5")),
    generation: undefined,
  },
  occasion: {
    nonce: "0123456789abcdef0123456789abcdef",
    timestamp: 1_800_000_000_000,
    expiresAt: 1_800_000_060_000,
  },
};

const withoutIssuer: Signing = {
  ...signing,
  owner: { iss: undefined, sub: 'Zoë "Z"' },
  generation: { ...signing.generation, generation: 1 },
  request: { ...signing.request, hash: "KECCAK256", data: Uint8Array.of(0, 255), generation: 1 },
  occasion: { ...signing.occasion, nonce: "abcdefghijklmnopqrst_-" },
};

const idOf = (each: Signing): string => operationDigest(crypto, envelopeOf(each));

describe("the envelope of an operation", () => {
  it.each([
    [0, signing],
    [1, withoutIssuer],
  ])("is that of vector %i, and so is its id", (at, each) => {
    const vector = vectors.operations[at];
    expect(envelopeOf(each)).toEqual(vector?.envelope);
    expect(canonicalJson(envelopeOf(each))).toBe(vector?.canonicalJson);
    expect(idOf(each)).toBe(vector?.operationId);
  });

  it("is the same whether the caller names the active generation or not", () => {
    expect(idOf({ ...signing, request: { ...signing.request, generation: 2 } })).toBe(idOf(signing));
  });

  it.each<readonly [string, Partial<Signing>]>([
    ["cluster", { clusterId: "ac".repeat(32) as Digest }],
    ["issuer", { owner: { iss: undefined, sub: "svc-payout" } }],
    ["owner", { owner: { iss: "https://idp.example", sub: "svc" } }],
    ["generation", { generation: { ...signing.generation, generation: 3 } }],
    ["record", { generation: { ...signing.generation, record: "ce".repeat(32) as Digest } }],
    ["hash", { request: { ...signing.request, hash: "SHA256" } }],
    ["data", { request: { ...signing.request, data: Uint8Array.of(1) } }],
    ["nonce", { occasion: { ...signing.occasion, nonce: "1".repeat(32) } }],
    ["time", { occasion: { ...signing.occasion, timestamp: 1 } }],
    ["deadline", { occasion: { ...signing.occasion, expiresAt: 1 } }],
  ])("is another operation with another %s", (_, other) => {
    expect(idOf({ ...signing, ...other })).not.toBe(idOf(signing));
  });

  it("takes nonces of 22 to 128 characters of one alphabet", () => {
    for (const nonce of ["a".repeat(22), "A-_9".repeat(32)]) expect(isNonce(nonce)).toBe(true);
    for (const nonce of ["", "a".repeat(21), "a".repeat(129), "a".repeat(22).concat("+"), "a".repeat(22).concat("\n")])
      expect(isNonce(nonce)).toBe(false);
  });
});
