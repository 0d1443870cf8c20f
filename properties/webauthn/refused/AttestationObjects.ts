/** Attestation objects whose CBOR is not the one way to write them: section 6.5.4. */
import { concatBytes, hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { Encoding } from "effect";
import type { Making } from "../Authenticator.ts";
import { after, type Case } from "./Changes.ts";

const object = (change: (honest: Uint8Array) => Uint8Array): Partial<Making> => ({ attestationObject: change });
/** The three members encoded one by one, so that each can be written in another way. */
const members = (change: (parts: { fmt: string; attStmt: string; authData: string }) => string): Partial<Making> =>
  object((honest) => {
    const text = Encoding.encodeHex(honest);
    const authDataAt = text.indexOf("686175746844617461");
    const parts = { fmt: "63666d74646e6f6e65", attStmt: "6761747453746d74a0", authData: text.slice(authDataAt) };
    return hexToBytes(change(parts));
  });

export const attestationObjects: ReadonlyArray<Case> = [
  ["an attestation object with a byte behind", "attestation_object", object((honest) => after(honest, "00"))],
  ["two attestation objects", "attestation_object", object((honest) => concatBytes(honest, honest))],
  ["an attestation object cut short", "attestation_object", object((honest) => honest.slice(0, -1))],
  ["an attestation object of one byte", "attestation_object", object((honest) => honest.slice(0, 1))],
  ["an attestation object that is an array", "attestation_object", object(() => hexToBytes("80"))],
  ["an attestation object that is null", "attestation_object", object(() => hexToBytes("f6"))],
  ["an attestation object that is JSON", "attestation_object", object(() => utf8ToBytes('{"fmt":"none"}'))],
  [
    "an attestation object of indefinite length",
    "attestation_object",
    members((m) => `bf${m.fmt}${m.attStmt}${m.authData}ff`),
  ],
  [
    "an attestation object with a long map head",
    "attestation_object",
    members((m) => `b803${m.fmt}${m.attStmt}${m.authData}`),
  ],
  ["a tagged attestation object", "attestation_object", object((honest) => concatBytes(hexToBytes("d9d9f7"), honest))],
  ["two formats", "attestation_object", members((m) => `a4${m.fmt}${m.fmt}${m.attStmt}${m.authData}`)],
  ["two statements", "attestation_object", members((m) => `a4${m.fmt}${m.attStmt}${m.attStmt}${m.authData}`)],
  ["two authData", "attestation_object", members((m) => `a4${m.fmt}${m.attStmt}${m.authData}${m.authData}`)],
  ["no format", "attestation_object", members((m) => `a2${m.attStmt}${m.authData}`)],
  ["no statement", "attestation_object", members((m) => `a2${m.fmt}${m.authData}`)],
  ["no authData", "attestation_object", members((m) => `a2${m.fmt}${m.attStmt}`)],
  ["an unknown member", "attestation_object", members((m) => `a4${m.fmt}${m.attStmt}${m.authData}616100`)],
  ["an epAtt", "attestation_object", members((m) => `a4${m.fmt}${m.attStmt}${m.authData}656570417474f5`)],
  ["a numbered member", "attestation_object", members((m) => `a4${m.fmt}${m.attStmt}${m.authData}0100`)],
  ["a member named by a boolean", "attestation_object", members((m) => `a4${m.fmt}${m.attStmt}${m.authData}f500`)],
  ["a member named by bytes", "attestation_object", members((m) => `a4${m.fmt}${m.attStmt}${m.authData}43666d7400`)],
  ["a format in long form", "attestation_object", members((m) => `a363666d7478046e6f6e65${m.attStmt}${m.authData}`)],
  ["a format in pieces", "attestation_object", members((m) => `a363666d747f646e6f6e65ff${m.attStmt}${m.authData}`)],
  [
    "a format behind a byte order mark",
    "attestation_format",
    members((m) => `a363666d7467efbbbf6e6f6e65${m.attStmt}${m.authData}`),
  ],
  [
    "a name behind a byte order mark",
    "attestation_object",
    members((m) => `a366efbbbf666d74646e6f6e65${m.attStmt}${m.authData}`),
  ],
  ["a format that is bytes", "attestation_object", members((m) => `a363666d74446e6f6e65${m.attStmt}${m.authData}`)],
  ["a format that is not UTF-8", "attestation_object", members((m) => `a363666d7464ffffffff${m.attStmt}${m.authData}`)],
  ["a statement that is an array", "attestation_object", members((m) => `a3${m.fmt}6761747453746d7480${m.authData}`)],
  ["a statement that is null", "attestation_object", members((m) => `a3${m.fmt}6761747453746d74f6${m.authData}`)],
  ["a statement that is undefined", "attestation_object", members((m) => `a3${m.fmt}6761747453746d74f7${m.authData}`)],
  ["authData that is text", "attestation_object", members((m) => `a3${m.fmt}${m.attStmt}6861757468446174616161`)],
  ["authData in pieces", "attestation_object", members((m) => `a3${m.fmt}${m.attStmt}6861757468446174615f4100ff`)],
  [
    "authData that says more than there is",
    "attestation_object",
    members((m) => `a3${m.fmt}${m.attStmt}68617574684461746159ffff00`),
  ],
  [
    "authData of 2^64 - 1 bytes",
    "attestation_object",
    members((m) => `a3${m.fmt}${m.attStmt}6861757468446174615bffffffffffffffff`),
  ],
  ["an array that says 2^32 items", "attestation_object", object(() => hexToBytes("9affffffff"))],
  ["nesting without end", "attestation_object", object(() => hexToBytes("81".repeat(60_000)))],
  ["maps in maps without end", "attestation_object", object(() => hexToBytes("a100".repeat(30_000)))],
  ["too many items", "attestation_object", object(() => concatBytes(hexToBytes("990800"), new Uint8Array(2048)))],
  ["a statement of none that is not empty", "attestation_statement", { statement: () => new Map([["alg", -7]]) }],
];
