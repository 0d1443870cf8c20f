import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { Either } from "effect";
import { describe, expect, it } from "vitest";
import { maxKeySetBytes, parseKeyDocument } from "./KeyDocument.ts";

const parse = (document: unknown) =>
  parseKeyDocument(new TextEncoder().encode(typeof document === "string" ? document : JSON.stringify(document)));
const fault = (document: unknown): string => Either.getOrThrow(Either.flip(parse(document)));
const jwk = (key: KeyObject): Readonly<Record<string, unknown>> => ({ ...key.export({ format: "jwk" }) });

const ed25519 = generateKeyPairSync("ed25519");
const usable = { ...jwk(ed25519.publicKey), kid: "a" };
const rsa = (modulusLength: number) => jwk(generateKeyPairSync("rsa", { modulusLength }).publicKey);

const counted = (document: unknown): number => Either.getOrThrow(parse(document)).keyFor.jwks().keys.length;

describe("parseKeyDocument", () => {
  it("keeps the members a public key needs, and no others", () => {
    const document = { keys: [{ ...usable, use: "sig", key_ops: ["verify"], alg: "EdDSA", x5u: "https://a/", z: 1 }] };
    const { x } = jwk(ed25519.publicKey);
    expect(Either.getOrThrow(parse(document)).keyFor.jwks().keys).toEqual([
      { kty: "OKP", crv: "Ed25519", x, kid: "a", alg: "EdDSA" },
    ]);
  });

  it("passes over keys of other kinds and uses", () => {
    const others = [
      { kty: "OKP", crv: "X25519", x: "AA" },
      { kty: "EC", crv: "P-521", x: "AA", y: "AA" },
      { kty: "EC", crv: "secp256k1", x: "AA", y: "AA" },
      { kty: "EC", crv: "P-256", x: "AA" },
      { kty: "AKP", alg: "ML-DSA-65", pub: "AA" },
      { kty: "new" },
      {},
      { ...usable, use: "enc" },
      { ...usable, key_ops: ["sign"] },
      { ...usable, key_ops: "verify" },
      { ...usable, kid: 5 },
      { ...usable, alg: null },
    ];
    expect(counted({ keys: [...others, usable], other: 1 })).toBe(1);
    expect(fault({ keys: others })).toMatch(/no usable key/);
  });

  it("takes RSA from 2048 bits", () => {
    expect(counted({ keys: [rsa(2048), usable] })).toBe(2);
    expect(counted({ keys: [rsa(2040), usable] })).toBe(1);
    const zeroes = Buffer.concat([Buffer.alloc(200), Buffer.alloc(100, 0xff)]).toString("base64url");
    const huge = Buffer.alloc(1025, 0xff).toString("base64url");
    expect(counted({ keys: [{ kty: "RSA", e: "AQAB", n: zeroes }, { kty: "RSA", e: "AQAB", n: huge }, usable] })).toBe(
      1,
    );
  });

  it.each<[string, Readonly<Record<string, unknown>>]>([
    ["an Ed25519 key", jwk(ed25519.privateKey)],
    ["an RSA key", jwk(generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey)],
    ["a symmetric key", { kty: "oct", k: "AA" }],
    ["a post-quantum key", { kty: "AKP", alg: "ML-DSA-65", pub: "AA", priv: "AA" }],
  ])("refuses a set that gives away %s", (_name, key) => {
    expect(fault({ keys: [usable, key] })).toMatch(/private or symmetric/);
  });

  it.each<[string, unknown]>([
    ["no JSON", "keys"],
    ["nothing", ""],
    ["a list", [usable]],
    ["a single key", usable],
    ["keys that are no list", { keys: { a: usable } }],
    ["a key that is no object", { keys: [usable, "a"] }],
    ["an empty list", { keys: [] }],
    ["a member given twice", `{"keys":[],"keys":[${JSON.stringify(usable)}]}`],
  ])("refuses %s", (_name, document) => {
    expect(fault(document)).toMatch(/; /);
  });

  it("is bounded in keys and bytes", () => {
    const keys = (count: number) => Array.from({ length: count }, (_, index) => ({ ...usable, kid: `k${index}` }));
    expect(counted({ keys: keys(100) })).toBe(100);
    expect(fault({ keys: keys(101) })).toMatch(/more than 100 keys/);
    const text = JSON.stringify({ keys: [usable] });
    expect(Either.isRight(parse(text.padEnd(maxKeySetBytes)))).toBe(true);
    expect(fault(text.padEnd(maxKeySetBytes + 1))).toMatch(/longer than/);
  });
});
