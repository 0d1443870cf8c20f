import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { Either } from "effect";
import { describe, expect, it } from "vitest";
import { Limits } from "../../base/Limits.ts";
import { carriedBody, isSigning, messageOf, readSigning } from "./SigningRequest.ts";

const body = (artifact: object, more: object = {}): Uint8Array =>
  utf8ToBytes(JSON.stringify({ command: { type: "arbitrary", authorityId: "arbitrary", artifact }, ...more }));

const pointersIn = (rawBody: Uint8Array): ReadonlyArray<string> => {
  const read = readSigning("payments", rawBody);
  return Either.isLeft(read) ? read.left.faults.map(({ pointer, code }) => `${pointer} ${code}`) : [];
};

describe("a request to sign", () => {
  it("is read with its defaults", () => {
    expect(readSigning("payments", body({ scheme: "EdDSA", data64: "YWJj" }))).toEqual(
      Either.right({
        keyId: "payments",
        type: "arbitrary",
        authorityId: "arbitrary",
        scheme: "EdDSA",
        hash: "NONE",
        data: utf8ToBytes("abc"),
        generation: undefined,
      }),
    );
  });

  it.each<readonly [string, Uint8Array, ReadonlyArray<string>]>([
    ["no JSON", utf8ToBytes("{"), [" unexpected_end"]],
    ["no command", utf8ToBytes("{}"), ["/command missing_field"]],
    ["a field that nobody knows", body({ scheme: "a", data64: "" }, { approvals: {} }), ["/approvals unknown_field"]],
    [
      "another authority's type",
      utf8ToBytes('{"command":{"type":"custom"}}'),
      ["/command/type invalid_value", "/command/authorityId missing_field", "/command/artifact missing_field"],
    ],
    ["unpadded Base64", body({ scheme: "a", data64: "YQ" }), ["/command/artifact/data64 invalid_value"]],
    ["another form of Base64", body({ scheme: "a", data64: "YR==" }), ["/command/artifact/data64 invalid_value"]],
    ["an unknown hash", body({ scheme: "a", hash: "MD5", data64: "" }), ["/command/artifact/hash invalid_value"]],
    ["generation 0", body({ scheme: "a", data64: "" }, { generation: 0 }), ["/generation wrong_type"]],
  ])("is refused for %s", (_, rawBody, pointers) => {
    expect(pointersIn(rawBody)).toEqual(pointers);
  });

  it("has data up to a bound", () => {
    const data64 = (bytes: number): string => Buffer.alloc(bytes).toString("base64");
    expect(pointersIn(body({ scheme: "EdDSA", data64: data64(Limits.signedBytes) }))).toEqual([]);
    expect(pointersIn(body({ scheme: "EdDSA", data64: data64(Limits.signedBytes + 1) }))).toHaveLength(1);
    expect(pointersIn(new Uint8Array(Limits.signingBodyBytes + 1))).toEqual([" too_large"]);
  });

  it("is read however its longest data is escaped, and is carried in its shortest form", () => {
    const data = Buffer.alloc(Limits.signedBytes, "zyx");
    const plain = body({ scheme: "EdDSA", data64: data.toString("base64") }, { generation: 3 });
    const long = utf8ToBytes(
      new TextDecoder()
        .decode(plain)
        .replaceAll(/[A-Za-z0-9]{24,}/g, (text) =>
          text.replaceAll(/./g, (each) => `\\u00${each.charCodeAt(0).toString(16)}`),
        ),
    );
    expect(long.length).toBeGreaterThan(8 * Limits.signedBytes);
    const read = Either.getOrThrow(readSigning("payments", long));
    expect(read.data.length).toBe(data.length);
    expect(data.equals(read.data)).toBe(true);
    const carried = carriedBody(long, read);
    expect(carried.length).toBeLessThanOrEqual(Limits.carriedBodyBytes);
    const again = Either.getOrThrow(readSigning("payments", carried));
    expect([{ ...again, data: [] }, data.equals(again.data)]).toEqual([{ ...read, data: [] }, true]);
    expect(carriedBody(plain, read)).toBe(plain);
  });

  it("is told by its method and path alone", () => {
    expect(isSigning({ method: "POST", path: "/v1/custody/keys/payments/sign" })).toBe(true);
    for (const path of ["/v1/custody/keys/sign", "/v1/custody/keys//sign", "/v1/custody/keys/A/sign", "/sign"])
      expect(isSigning({ method: "POST", path })).toBe(false);
    expect(isSigning({ method: "GET", path: "/v1/custody/keys/payments/sign" })).toBe(false);
  });
});

describe("what is signed", () => {
  // FIPS 180-4 and the Keccak team's own values for "abc".
  it.each([
    ["NONE", "616263"],
    ["SHA256", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"],
    [
      "SHA512",
      "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
    ],
    ["KECCAK256", "4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45"],
  ] as const)("is the data under %s", (hash, message) => {
    expect(bytesToHex(messageOf({ hash, data: utf8ToBytes("abc") }))).toBe(message);
  });
});
