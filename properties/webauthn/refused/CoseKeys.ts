/** Keys in COSE that are not canonical, not of the algorithm asked for, or off the curve. */
import { hexToBytes } from "@noble/hashes/utils.js";
import { Encoding } from "effect";
import { coseKeyOf, secretKeyOf } from "../Authenticator.ts";
import { type Case, spliced } from "./Changes.ts";

const secret = secretKeyOf("authenticator");
const [, x = "", y = ""] = /^.{20}(.{64}).{6}(.{64})$/.exec(Encoding.encodeHex(coseKeyOf(secret))) ?? [];
const cose = (text: string) => ({ cose: () => hexToBytes(text.replace("X", `5820${x}`).replace("Y", `5820${y}`)) });
const p = "ffffffff00000001000000000000000000000000ffffffffffffffffffffffff";

export const coseKeys: ReadonlyArray<Case> = [
  ["a key in another order", "cose_key", cose("a503260102200121X22Y")],
  ["a key with its coordinates swapped in order", "cose_key", cose("a501020326200122Y21X")],
  ["a key with key_ops", "cose_key", cose("a601020326048102200121X22Y")],
  ["a key with a key id", "cose_key", cose("a601020241aa0326200121X22Y")],
  ["a key with a private part", "cose_key", cose(`a601020326200121X22Y235820${x}`)],
  ["a key with an unknown label", "cose_key", cose("a601020326200121X22Y381800")],
  ["a key with a text label", "cose_key", cose("a601020326200121X22Y616100")],
  ["a key with a label twice", "cose_key", cose("a6010203262001200121X22Y")],
  ["a key of indefinite length", "cose_key", cose("bf01020326200121X22Yff")],
  ["a key with a long map head", "cose_key", cose("b80501020326200121X22Y")],
  ["a key with a label in a long form", "cose_key", cose("a51801020326200121X22Y")],
  ["a key with a value in a long form", "cose_key", cose("a50118020326200121X22Y")],
  ["a key with a long coordinate head", "cose_key", cose(`a501020326200121590020${x}22Y`)],
  ["a key with a coordinate in pieces", "cose_key", cose(`a5010203262001215f5820${x}ff22Y`)],
  ["a key with a tagged coordinate", "cose_key", cose("a501020326200121c2X22Y")],
  ["a key that is an array", "cose_key", cose("8501022601Y")],
  ["a key that is a byte string", "cose_key", cose("41a5")],
  ["a key with x as text", "cose_key", cose(`a5010203262001217820${"41".repeat(32)}22Y`)],
  ["a key with x of 31 bytes", "cose_key", cose(`a501020326200121581f${x.slice(2)}22Y`)],
  ["a key with x of 33 bytes", "cose_key", cose(`a501020326200121582100${x}22Y`)],
  ["a key with y as a sign", "cose_key", cose("a501020326200121X22f5")],
  ["a key without y", "cose_key", cose("a401020326200121X")],
  ["a key without x", "cose_key", cose("a401020326200122Y")],
  ["a key with ES384", "algorithm", cose("a50102033822200121X22Y")],
  ["a key with RS256", "algorithm", cose("a5010203390100200121X22Y")],
  ["a key with EdDSA", "algorithm", cose("a501020327200121X22Y")],
  ["a key with ES256K", "algorithm", cose("a5010203382e200121X22Y")],
  ["a key without algorithm", "algorithm", cose("a40102200121X22Y")],
  ["a key with the algorithm as text", "algorithm", cose("a5010203654553323536200121X22Y")],
  ["a key of type OKP", "algorithm", cose("a501010326200121X22Y")],
  ["a key of type RSA", "algorithm", cose("a501030326200121X22Y")],
  ["a key without type", "algorithm", cose("a40326200121X22Y")],
  ["a key on P-384", "algorithm", cose("a501020326200221X22Y")],
  ["a key on Ed25519", "algorithm", cose("a501020326200621X22Y")],
  ["a key on secp256k1", "algorithm", cose("a501020326200821X22Y")],
  ["a key without curve", "algorithm", cose("a40102032621X22Y")],
  ["a key off the curve", "curve_point", { cose: (honest) => spliced(honest, 76, (honest[76] ?? 0) ^ 1) }],
  ["a key that is the origin", "curve_point", cose(`a5010203262001215820${"00".repeat(32)}225820${"00".repeat(32)}`)],
  ["a key with x at the prime", "curve_point", cose(`a5010203262001215820${p}22Y`)],
  ["a key with x and y swapped", "curve_point", cose(`a5010203262001215820${y}225820${x}`)],
  ["a key with y beyond the prime", "curve_point", cose(`a501020326200121X225820${"ff".repeat(32)}`)],
];
