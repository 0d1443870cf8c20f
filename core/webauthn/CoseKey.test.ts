import { encode } from "cborg";
import { describe, expect, it } from "vitest";
import { coseKeyOf, secretKeyOf } from "../../properties/webauthn/Authenticator.ts";
import { pointOf } from "../../properties/webauthn/Certificates.ts";
import { refusalOf } from "../../properties/webauthn/RefusalOf.ts";
import { readCoseKey } from "./CoseKey.ts";

const secretKey = secretKeyOf("key");
const canonical = coseKeyOf(secretKey);
const point = pointOf(secretKey);
const [x, y] = [point.subarray(1, 33), point.subarray(33)];

const members: ReadonlyArray<readonly [number | string, unknown]> = [
  [1, 2],
  [3, -7],
  [-1, 1],
  [-2, x],
  [-3, y],
];

/** A key with one member more, or with another value of one. */
const keyWith = (label: number | string, value: unknown): Uint8Array =>
  Uint8Array.from(encode(new Map<unknown, unknown>([...members, [label, value]])));

describe("the key of a credential", () => {
  it("is read where it stands, and ends where it ends", () => {
    const among = Uint8Array.of(9, ...canonical, 9);
    expect(readCoseKey(among, 1)).toMatchObject({ key: { cose: canonical, point }, end: 1 + canonical.length });
  });

  const short = x.subarray(1);
  const surplus = (label: string) => `cose_key: The COSE key has ${label} beside the labels 1, 3, -1, -2 and -3.`;
  it.each<readonly [string, Uint8Array, string]>([
    ["no map", Uint8Array.of(0x80), "cose_key: The COSE key is not a map."],
    [
      "cut short",
      canonical.subarray(0, 76),
      "cose_key: There is a string that is longer than the bytes in the COSE key.",
    ],
    ["for another algorithm", keyWith(3, -35), "algorithm: The algorithm of the key is not ES256 (-7)."],
    ["of another type", keyWith(1, 3), "algorithm: The type of the key is not EC2 (2)."],
    ["on another curve", keyWith(-1, 2), "algorithm: The curve of the key is not P-256 (1)."],
    ["with an operation", keyWith(4, [2]), surplus("the label 4 (what the key is for)")],
    ["with a private part", keyWith(-4, x), surplus("the label -4 (the private part)")],
    ["with a label that nobody knows", keyWith(-70_000, 1), surplus("the label -70000")],
    ["with a label of text", keyWith("1", 2), surplus("the text label 1")],
    ["with a label of 32 characters", keyWith("x".repeat(32), 2), surplus(`the text label ${"x".repeat(32)}`)],
    ["with a label of 33 characters", keyWith("x".repeat(33), 2), surplus("a label of other text")],
    ["with a label of no character", keyWith("", 2), surplus("a label of other text")],
    ["with a label that is markup", keyWith("<b>", 2), surplus("a label of other text")],
    ["with a short x", keyWith(-2, short), "cose_key: A coordinate of the key is not 32 bytes."],
    ["with a short y", keyWith(-3, short), "cose_key: A coordinate of the key is not 32 bytes."],
    ["with a sign for y", keyWith(-3, true), "cose_key: A coordinate of the key is not 32 bytes."],
    [
      "with its members in another order",
      Uint8Array.of(0xa5, 0x03, 0x26, 0x01, 0x02, ...canonical.subarray(5)),
      "cose_key: The COSE key is not in the canonical form of CTAP2.",
    ],
    ["off the curve", keyWith(-3, x), "curve_point: The coordinates are no point of P-256."],
  ])("is never %s", (_, key, refusal) => {
    expect(refusalOf(() => readCoseKey(key, 0))).toBe(refusal);
  });
});
