/** The public key of a credential: a COSE_Key (RFC 9052 section 7) of ES256 in its one canonical form. */
import { Either } from "effect";
import { hasBytesAt } from "../codec/Bytes.ts";
import { zeroBytes } from "../codec/Slab.ts";
import { normalizeP256 } from "../credential/Weierstrass.ts";
import { demand, FailedCheck } from "./CeremonyRefusal.ts";
import { ES256 } from "./CreationOptions.ts";
import { type CborKey, type CborValue, cborBytes, cborMap, readCborItem } from "./StrictCbor.ts";

/** Labels of RFC 9052 section 7.1 and RFC 9053 section 7.1.1, in the canonical order of CTAP2. */
const KTY = 1;
const ALG = 3;
const CRV = -1;
const X = -2;
const Y = -3;
const LABELS: ReadonlyArray<CborKey> = [KTY, ALG, CRV, X, Y];
const EC2 = 2;
const CURVE_P256 = 1;
const COORDINATE_BYTES = 32;

/** Everything of the canonical form around the two coordinates. */
const HEAD = Uint8Array.of(0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, COORDINATE_BYTES);
const BETWEEN = Uint8Array.of(0x22, 0x58, COORDINATE_BYTES);
const BETWEEN_AT = HEAD.length + COORDINATE_BYTES;
const COSE_BYTES = BETWEEN_AT + BETWEEN.length + COORDINATE_BYTES;
const UNCOMPRESSED = 0x04;

export interface CoseKey {
  /** The canonical COSE_Key, 77 bytes. */
  readonly cose: Uint8Array;
  /** Uncompressed SEC 1 point. */
  readonly point: Uint8Array;
  /** Compressed SEC 1 point: the normal form of a SIGNATURE key of P256. */
  readonly keyBytes: Uint8Array;
}

/**
 * Reads the key that starts at an offset. It has one form, so the bytes are compared, not parsed; other bytes are
 * examined only for the refusal.
 *
 * @returns the key, and where it ends
 * @throws Refused `cose_key`, `algorithm` or `curve_point`
 */
export const readCoseKey = (bytes: Uint8Array, at: number): { readonly key: CoseKey; readonly end: number } => {
  const cose = bytes.subarray(at, at + COSE_BYTES);
  const isCanonical = cose.length === COSE_BYTES && hasBytesAt(cose, 0, HEAD) && hasBytesAt(cose, BETWEEN_AT, BETWEEN);
  if (!isCanonical) throw refusalOf(bytes, at);
  const point = zeroBytes(1 + 2 * COORDINATE_BYTES);
  point[0] = UNCOMPRESSED;
  point.set(cose.subarray(HEAD.length, BETWEEN_AT), 1);
  point.set(cose.subarray(BETWEEN_AT + BETWEEN.length), 1 + COORDINATE_BYTES);
  const keyBytes = normalizeP256(point);
  if (Either.isLeft(keyBytes)) throw new FailedCheck("curve_point", "The coordinates are no point of P-256.");
  return { key: { cose, point, keyBytes: keyBytes.right }, end: at + COSE_BYTES };
};

/** The fault of bytes that are no canonical key. */
const refusalOf = (bytes: Uint8Array, at: number): FailedCheck => {
  const item = readCborItem(bytes, at);
  if (Either.isLeft(item)) return new FailedCheck("cose_key", `There is ${item.left} in the COSE key.`);
  checkMembers(item.right.value);
  // The same members in another order, or with another length of a head, are another key to anybody who digests them.
  return new FailedCheck("cose_key", "The COSE key is not in the canonical form of CTAP2.");
};

/**
 * Kind, algorithm and curve of the key, and nothing beside them.
 *
 * @throws Refused with the first that is not as it should be
 */
const checkMembers = (value: CborValue): void => {
  const members = cborMap(value);
  if (members === undefined) throw new FailedCheck("cose_key", "The COSE key is not a map.");
  demand(members.get(ALG) === ES256, "algorithm", "The algorithm of the key is not ES256 (-7).");
  demand(members.get(KTY) === EC2, "algorithm", "The type of the key is not EC2 (2).");
  demand(members.get(CRV) === CURVE_P256, "algorithm", "The curve of the key is not P-256 (1).");
  const surplus = [...members.keys()].find((label) => !LABELS.includes(label));
  if (surplus !== undefined)
    throw new FailedCheck("cose_key", `The COSE key has ${labelText(surplus)} beside the labels 1, 3, -1, -2 and -3.`);
  const areCoordinates = [X, Y].every((label) => cborBytes(members.get(label))?.length === COORDINATE_BYTES);
  demand(areCoordinates, "cose_key", `A coordinate of the key is not ${COORDINATE_BYTES} bytes.`);
};

/** Labels that a key may have elsewhere: RFC 9052 section 7.1, and the private part of RFC 9053 section 7.1.1. */
const elsewhere: ReadonlyMap<CborKey, string> = new Map([
  [2, "the key's id"],
  [4, "what the key is for"],
  [5, "a base for nonces"],
  [-4, "the private part"],
]);

const labelText = (label: CborKey): string => {
  // Text comes from the submitter: it is quoted only where nothing can be hidden in it.
  if (typeof label === "string")
    return /^[A-Za-z0-9_.-]{1,32}$/.test(label) ? `the text label ${label}` : "a label of other text";
  const meaning = elsewhere.get(label);
  return meaning === undefined ? `the label ${label}` : `the label ${label} (${meaning})`;
};
