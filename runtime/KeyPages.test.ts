import { Either } from "effect";
import { describe, expect, it } from "vitest";
import { base64Url } from "../core/codec/Base64Url.ts";
import { utf8Bytes } from "../core/codec/Utf8.ts";
import { cryptoOf } from "./CryptoPrimitives.ts";
import { type KeyFilter, keyCursorIn, keyCursorOf, parseKeyQuery } from "./KeyPages.ts";
import { noblePrimitives } from "./NobleCrypto.ts";

const crypto = cryptoOf(noblePrimitives);
const all: KeyFilter = { assetOwner: undefined, status: undefined };
const some: KeyFilter = { assetOwner: "customer-42", status: "ACTIVE" };

describe("a cursor", () => {
  it.each([
    ["all keys", all],
    ["some keys", some],
  ])("leads behind the last key of a page of %s", (_what, filter) => {
    const longest = "k".repeat(100);
    for (const last of ["a", "payments-eu", longest])
      expect(keyCursorIn(crypto, filter, keyCursorOf(crypto, filter, last))).toBe(last);
  });

  it("is of its filter alone", () => {
    expect(keyCursorIn(crypto, some, keyCursorOf(crypto, all, "a"))).toBeUndefined();
    expect(keyCursorIn(crypto, { ...some, status: "DESTROYED" }, keyCursorOf(crypto, some, "a"))).toBeUndefined();
  });

  it.each([
    ["no Base64url", "a b"],
    ["too short", base64Url(utf8Bytes("a"))],
    ["of no key id", keyCursorOf(crypto, all, "A/B")],
    ["of no key", keyCursorOf(crypto, all, "")],
    ["too long", keyCursorOf(crypto, all, "k".repeat(101))],
  ])("is none: %s", (_what, cursor) => {
    expect(keyCursorIn(crypto, all, cursor)).toBeUndefined();
  });
});

describe("the query of a list", () => {
  it("has defaults", () => {
    expect(parseKeyQuery("")).toEqual(Either.right({ filter: all, limit: 50, cursor: undefined }));
    expect(parseKeyQuery("status=ACTIVE&assetOwner=customer-42&limit=200&cursor=x")).toEqual(
      Either.right({ filter: some, limit: 200, cursor: "x" }),
    );
  });

  it.each([
    ["limit=201", "limit"],
    ["limit=0", "limit"],
    ["cursor=", "cursor"],
    ["status=active", "status"],
    ["assetOwner=Customer", "assetOwner"],
    ["assetOwner=", "assetOwner"],
    ["owner=x", "#1"],
  ])("refuses %s", (query, parameter) => {
    expect(Either.mapLeft(parseKeyQuery(query), (faults) => faults.map((each) => each.parameter))).toEqual(
      Either.left([parameter]),
    );
  });

  it("names every fault", () => {
    expect(Either.mapLeft(parseKeyQuery("limit=x&limit=1&status=Y"), (faults) => faults.length)).toEqual(
      Either.left(3),
    );
  });
});
