import { utf8ToBytes } from "@noble/hashes/utils.js";
import { Either } from "effect";
import { describe, expect, it } from "vitest";
import { Limits } from "../base/Limits.ts";
import { parseRegisterRequest } from "./RegisterRequest.ts";

const credential = { type: "SIGNATURE", algorithm: "ED25519", publicKey64: "AAAA" };
const parse = (body: unknown) =>
  parseRegisterRequest(utf8ToBytes(typeof body === "string" ? body : JSON.stringify(body)));
const refusal = (body: unknown) => Either.getOrThrow(Either.flip(parse(body)));
const faults = (body: unknown) => {
  const rejection = refusal(body);
  expect(rejection.code).toBe("INVALID_REQUEST_BODY");
  return rejection.faults.map(({ pointer, code }) => `${pointer} ${code}`);
};

describe("a registration", () => {
  it("is read", () => {
    expect(parse({ id: "alice", credential, metadata: { team: "payments", area: "eu" } })).toEqual(
      Either.right({
        id: "alice",
        algorithm: "ED25519",
        publicKey64: "AAAA",
        metadata: [
          ["area", "eu"],
          ["team", "payments"],
        ],
      }),
    );
  });

  it("may go without metadata, which is the same as empty metadata", () => {
    expect(parse({ id: "alice", credential })).toEqual(parse({ id: "alice", credential, metadata: {} }));
    expect(Either.isRight(parse({ id: "alice", credential }))).toBe(true);
  });

  it("may be as long as it can be valid, with every character escaped", () => {
    const escaped = (length: number, byte = 0x61) => `"${`\\u${byte.toString(16).padStart(4, "0")}`.repeat(length)}"`;
    const value = escaped(Limits.metadataValueBytes - 1);
    const metadata = Array.from({ length: Limits.metadataPairs }, (_, index) => `${escaped(1, 0x41 + index)}:${value}`);
    const key = escaped(Math.ceil(Limits.publicKeyBytes / 3) * 4);
    const text = `{"id":${escaped(Limits.approverIdCharacters)},"credential":{"type":"SIGNATURE","algorithm":${escaped(20)},"publicKey64":${key}},"metadata":{${metadata.join()}}}`;
    expect(text.length).toBeLessThan(200 * 1024);
    expect(parse(text)).toMatchObject(Either.right({ id: "a".repeat(Limits.approverIdCharacters) }));
  });

  it("does not look at the algorithm or the key", () => {
    expect(Either.isRight(parse({ id: "a", credential: { ...credential, algorithm: "", publicKey64: "?" } }))).toBe(
      true,
    );
  });

  it("has an id of 128 characters at most", () => {
    expect(Either.isRight(parse({ id: "a".repeat(128), credential }))).toBe(true);
    expect(faults({ id: "a".repeat(129), credential })).toEqual(["/id invalid_value"]);
  });
});

describe("a body is refused", () => {
  it.each([
    ["an array", "[]", [" wrong_type"]],
    ["a string", '"x"', [" wrong_type"]],
    ["null", "null", [" null_value"]],
    ["an empty object", "{}", ["/id missing_field", "/credential missing_field"]],
    ["nothing", "", [" unexpected_end"]],
    ["trailing bytes", '{"id":"a"} x', [" trailing_bytes"]],
    ["two documents", "{}{}", [" trailing_bytes"]],
    ["a duplicate key", '{"id":"a","id":"a"}', ["/id duplicate_key"]],
    [
      "a duplicate key in the credential",
      '{"credential":{"type":"a","t\\u0079pe":"a"}}',
      ["/credential/type duplicate_key"],
    ],
    ["a duplicate key in the metadata", '{"metadata":{"a":"1","a":"1"}}', ["/metadata/a duplicate_key"]],
    ["a byte order mark", '\ufeff{"id":"a"}', [" byte_order_mark"]],
  ])("for %s", (_, body, expected) => expect(faults(body)).toEqual(expected));

  it("for the first fault of the JSON, for every fault of the fields", () => {
    expect(
      faults({
        id: 7,
        credential: { type: "WEBAUTHN", algorithm: null, key: "x" },
        metadata: { a: 1, "b/c": null, d: ["x"], e: "fine" },
        extra: {},
        __proto: 1,
      }),
    ).toEqual([
      "/extra unknown_field",
      "/__proto unknown_field",
      "/id wrong_type",
      "/credential/key unknown_field",
      "/credential/type invalid_value",
      "/credential/algorithm null_value",
      "/credential/publicKey64 missing_field",
      "/metadata/a wrong_type",
      "/metadata/b~1c null_value",
      "/metadata/d wrong_type",
    ]);
  });

  it.each([
    ["id", { credential }, "/id missing_field"],
    ["id", { id: null, credential }, "/id null_value"],
    ["id", { id: "", credential }, "/id invalid_value"],
    ["id", { id: "a b", credential }, "/id invalid_value"],
    ["credential", { id: "a" }, "/credential missing_field"],
    ["credential", { id: "a", credential: null }, "/credential null_value"],
    ["credential", { id: "a", credential: "x" }, "/credential wrong_type"],
    ["credential", { id: "a", credential: [] }, "/credential wrong_type"],
    ["metadata", { id: "a", credential, metadata: null }, "/metadata null_value"],
    ["metadata", { id: "a", credential, metadata: [] }, "/metadata wrong_type"],
    ["metadata", { id: "a", credential, metadata: "x" }, "/metadata wrong_type"],
    ["type", { id: "a", credential: { ...credential, type: "signature" } }, "/credential/type invalid_value"],
    ["type", { id: "a", credential: { ...credential, type: true } }, "/credential/type wrong_type"],
    ["version", { id: "a", credential: { ...credential, version: 1 } }, "/credential/version unknown_field"],
    ["ref", { id: "a", credential, ref: "x" }, "/ref unknown_field"],
  ])("for its %s: %j", (_, body, expected) => expect(faults(body)).toEqual([expected]));

  it("for a __proto__ field, at any level", () => {
    const text = JSON.stringify({ id: "a", credential, metadata: {} });
    expect(faults(text.replace("{", '{"__proto__":{"id":"b"},'))).toEqual(["/__proto__ unknown_field"]);
    expect(faults(text.replace('"metadata":{', '"metadata":{"__proto__":{}'))).toEqual([
      "/metadata/__proto__ wrong_type",
    ]);
  });

  it("for metadata over a limit, once the rest is in order", () => {
    const metadata = { k: "v".repeat(Limits.metadataValueBytes + 1) };
    const rejection = refusal({ id: "a", credential, metadata });
    expect(rejection.code).toBe("INVALID_METADATA");
    expect(rejection.faults.map(({ pointer, code }) => [pointer, code])).toEqual([["/metadata/k", "value_too_long"]]);
    expect(refusal({ id: "-", credential, metadata }).code).toBe("INVALID_REQUEST_BODY");
  });

  it("without being quoted, and in an answer of bounded size", () => {
    const rejection = refusal({
      id: "s3cr3t value",
      credential: { ...credential, type: "s3cr3t" },
      metadata: { a: 5 },
    });
    expect(JSON.stringify(rejection)).not.toContain("s3cr3t");
    const unknown = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`field${index}`, index]));
    expect(refusal(unknown(10_000)).faults).toHaveLength(64);
    const crowded = `{"id":[${"1,".repeat(20_000)}1]}`;
    expect(refusal(crowded).faults).toMatchObject([{ code: "too_many_values" }]);
  });

  it("for more than 256 KiB, white space included", () => {
    expect(Limits.requestBodyBytes).toBe(256 * 1024);
    const text = JSON.stringify({ id: "a", credential });
    expect(Either.isRight(parse(text.padEnd(Limits.requestBodyBytes)))).toBe(true);
    expect(faults(text.padEnd(Limits.requestBodyBytes + 1))).toEqual([" too_large"]);
  });
});
