import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { Either } from "effect";
import { describe, expect, it } from "vitest";
import { parsePublicKeyFile } from "./PublicKeyFile.ts";

const ed25519 = generateKeyPairSync("ed25519");
const p256 = generateKeyPairSync("ec", { namedCurve: "P-256" });
const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });

const spki = (key: KeyObject): Buffer => key.export({ format: "der", type: "spki" });
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const refusal = (content: Uint8Array): string => Either.getOrThrow(Either.flip(parsePublicKeyFile(content)));
const wrapped = (text: string): string => text.replace(/(.{20})/g, "$1\r\n");

describe("the same key is read from", () => {
  const der = spki(p256.publicKey);
  const expected = Either.right({ publicKey64: der.toString("base64"), algorithm: "P256" });

  it.each([
    ["PEM", bytes(p256.publicKey.export({ format: "pem", type: "spki" }).toString())],
    [
      "PEM with other line ends",
      bytes(p256.publicKey.export({ format: "pem", type: "spki" }).toString().replaceAll("\n", "\r\n")),
    ],
    ["DER", der],
    ["Base64 of DER", bytes(der.toString("base64"))],
    ["Base64 in lines", bytes(wrapped(der.toString("base64")))],
  ])("%s", (_name, content) => {
    expect(parsePublicKeyFile(content)).toEqual(expected);
  });
});

it("leaves the algorithm open where the encoding does not name it", () => {
  const bare = spki(ed25519.publicKey).subarray(-32);
  const expected = Either.right({ publicKey64: bare.toString("base64"), algorithm: undefined });
  expect(parsePublicKeyFile(bytes(bare.toString("base64")))).toEqual(expected);
  expect(parsePublicKeyFile(Uint8Array.of(2, ...Array.from({ length: 32 }, () => 0xff)))).toMatchObject({
    right: { algorithm: undefined },
  });
  expect(parsePublicKeyFile(spki(rsa.publicKey))).toMatchObject({ right: { algorithm: undefined } });
});

describe("refuses a private key as", () => {
  const pkcs8 = { format: "der", type: "pkcs8" } as const;
  const secret = p256.privateKey.export(pkcs8);

  it.each([
    ["PEM", bytes(ed25519.privateKey.export({ format: "pem", type: "pkcs8" }).toString())],
    ["PEM after text", bytes(`note\n${p256.privateKey.export({ format: "pem", type: "sec1" }).toString()}`)],
    ["PKCS #8", secret],
    ["PKCS #1", rsa.privateKey.export({ format: "der", type: "pkcs1" })],
    ["SEC 1", p256.privateKey.export({ format: "der", type: "sec1" })],
    ["Base64 of PKCS #8", bytes(secret.toString("base64"))],
  ])("%s, without a byte of it", (_name, content) => {
    const message = refusal(content);
    expect(message).toMatch(/^holds a private key/);
    for (const part of Buffer.from(content)
      .toString("latin1")
      .match(/[A-Za-z0-9+/]{16,}/g) ?? []) {
      expect(message).not.toContain(part);
    }
  });
});

it.each([
  ["nothing", "", /empty/],
  ["prose", "not a key at all", /neither PEM nor Base64/],
  ["an OpenSSH public key", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGbM me@host", /neither PEM nor Base64/],
  ["Base64 with stray bits", "QUJDR===", /neither PEM nor Base64/],
  ["a certificate", "-----BEGIN CERTIFICATE-----\nQUJD\n-----END CERTIFICATE-----\n", /not of a PUBLIC KEY/],
  ["two blocks", "-----BEGIN PUBLIC KEY-----\nQUJD\n-----END PUBLIC KEY-----\n".repeat(2), /not one PEM block/],
  ["a cut block", "-----BEGIN PUBLIC KEY-----\nQUJD\n", /not one PEM block/],
])("refuses %s", (_name, text, message) => {
  expect(refusal(bytes(text))).toMatch(message);
});
