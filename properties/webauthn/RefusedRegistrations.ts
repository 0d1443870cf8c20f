/**
 * Registrations that must be refused, each for a reason of its own. All answer
 * one session: with its challenge, RP ID and origin nothing else is wrong with
 * them. `npx vitest run properties/webauthn` holds the verifier against them.
 */
import { concatBytes, hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { Encoding } from "effect";
import {
  allApplications,
  androidKey,
  apple,
  directoryNames,
  fidoU2f,
  intermediate,
  origin,
  packedCertified,
  packedSubject,
  purposes,
  root,
  tpm,
} from "./Attestations.ts";
import {
  type AttestationFormat,
  coseKeyOf,
  type CredentialJson,
  Flags,
  makeCredential,
  type Making,
  none,
  packedSelf,
  secretKeyOf,
  type Statement,
  uint16,
} from "./Authenticator.ts";
import { authorityOf, basicConstraints, type ExtensionFields, keyUsage, signerOf } from "./Certificates.ts";
import { der, integer, name, octets, oid, sequence, set, tagged } from "./DerWriter.ts";

/** What the registrations answer. */
export interface Answered {
  readonly invitation: string;
  readonly challenge: Uint8Array;
  readonly origin: string;
  readonly rpId: string;
}

export interface RefusedRegistration {
  readonly name: string;
  /** The `code` of the first error: the check that must fail. */
  readonly code: string;
  /** The whole request body. */
  readonly body: string | Uint8Array;
}

type Case = readonly [name: string, code: string, change: Partial<Making>];
type JsonCase = readonly [name: string, code: string, change: (honest: CredentialJson) => unknown];

const spliced = (bytes: Uint8Array, at: number, ...replacement: ReadonlyArray<number>): Uint8Array => {
  const copy = bytes.slice();
  copy.set(replacement, at);
  return copy;
};
const after = (bytes: Uint8Array, text: string): Uint8Array => concatBytes(bytes, hexToBytes(text));
const member = (text: string) => (honest: string) => honest.replace(/\}$/, `,${text}}`);
const replaced = (from: string | RegExp, to: string) => (honest: string) => honest.replace(from, to);
const withMember = (key: string, value: unknown) => (honest: Statement) => new Map([...honest, [key, value]]);
const withoutMember = (key: string) => (honest: Statement) => new Map([...honest].filter(([name]) => name !== key));

const clientData: ReadonlyArray<Case> = [
  ["client data that is empty", "client_data_json", { clientData: () => " " }],
  ["client data with a byte order mark", "client_data_json", { clientData: (honest) => `\ufeff${honest}` }],
  ["client data in Latin-1", "client_data_json", { clientData: () => Uint8Array.of(0x22, 0xe9, 0x22) }],
  ["client data with an over-long UTF-8 form", "client_data_json", { clientData: () => hexToBytes("22c0af22") }],
  ["client data with half a surrogate pair", "client_data_json", { clientData: member('"x":"\\ud800"') }],
  ["client data with something behind", "client_data_json", { clientData: (honest) => `${honest}{}` }],
  ["client data that is an array", "client_data_json", { clientData: (honest) => `[${honest}]` }],
  ["client data that is null", "client_data_json", { clientData: () => "null" }],
  ["client data cut short", "client_data_json", { clientData: (honest) => honest.slice(0, -1) }],
  ["client data with a trailing comma", "client_data_json", { clientData: replaced(/\}$/, ",}") }],
  ["client data with a comment", "client_data_json", { clientData: (honest) => `${honest}//` }],
  ["client data with a control character", "client_data_json", { clientData: member('"x":"\n"') }],
  ["client data nested too deep", "client_data_json", { clientData: member(`"x":${"[".repeat(20)}${"]".repeat(20)}`) }],
  ["client data with two types", "client_data_json", { clientData: member('"type":"webauthn.create"') }],
  ["client data with two challenges", "client_data_json", { clientData: member('"challenge":""') }],
  ["client data with two origins", "client_data_json", { clientData: member('"origin":"https://evil.example"') }],
  ["client data with two crossOrigins", "client_data_json", { clientData: member('"crossOrigin":false') }],
  ["client data with an escaped duplicate", "client_data_json", { clientData: member('"\\u0074ype":"x"') }],
  [
    "client data with a duplicate in an unknown member",
    "client_data_json",
    { clientData: member('"x":{"a":1,"a":2}') },
  ],
  ["client data with a number out of range", "client_data_json", { clientData: member('"x":1e999') }],
  ["an assertion's type", "client_data_type", { clientData: replaced("webauthn.create", "webauthn.get") }],
  ["no type", "client_data_type", { clientData: replaced('"type"', '"kind"') }],
  ["a type in upper case", "client_data_type", { clientData: replaced("webauthn.create", "WEBAUTHN.CREATE") }],
  ["a type that is an array", "client_data_type", { clientData: replaced('"webauthn.create"', '["webauthn.create"]') }],
  ["another challenge", "challenge", { challenge: new Uint8Array(32).fill(0x5a) }],
  ["a challenge cut short", "challenge", { clientData: replaced(/("challenge":"[\w-]+)[\w-]"/, '$1"') }],
  ["a padded challenge", "challenge", { clientData: replaced(/("challenge":"[\w-]+)"/, '$1="') }],
  ["no challenge", "challenge", { clientData: replaced('"challenge"', '"chalenge"') }],
  ["a challenge that is null", "challenge", { clientData: replaced(/"challenge":"[\w-]+"/, '"challenge":null') }],
  ["another origin", "origin", { origin: "https://evil.example" }],
  ["an origin that begins like ours", "origin", { origin: "https://example.org.evil.example" }],
  ["an origin under the RP ID that is not listed", "origin", { origin: "https://other.example.org" }],
  ["our origin in clear", "origin", { origin: "http://example.org" }],
  ["our origin with its default port", "origin", { origin: "https://example.org:443" }],
  ["our origin on another port", "origin", { origin: "https://example.org:8443" }],
  ["our origin with a slash", "origin", { origin: "https://example.org/" }],
  ["our origin in upper case", "origin", { origin: "https://EXAMPLE.org" }],
  ["our origin with white space", "origin", { origin: " https://example.org" }],
  ["an Android application as origin", "origin", { origin: "android:apk-key-hash:AAAA" }],
  [
    "an origin that is an array",
    "origin",
    { clientData: replaced('"https://example.org"', '["https://example.org"]') },
  ],
  ["no origin", "origin", { clientData: replaced('"origin"', '"orign"') }],
  ["the origin null", "origin", { origin: "null" }],
  ["a frame of another origin", "cross_origin", { clientData: replaced('"crossOrigin":false', '"crossOrigin":true') }],
  [
    "a crossOrigin that is text",
    "cross_origin",
    { clientData: replaced('"crossOrigin":false', '"crossOrigin":"false"') },
  ],
  ["a crossOrigin that is null", "cross_origin", { clientData: replaced('"crossOrigin":false', '"crossOrigin":null') }],
  ["a crossOrigin that is 0", "cross_origin", { clientData: replaced('"crossOrigin":false', '"crossOrigin":0') }],
  ["a topOrigin", "top_origin", { clientData: member('"topOrigin":"https://evil.example"') }],
  ["a topOrigin that is ours", "top_origin", { clientData: member('"topOrigin":"https://example.org"') }],
  ["a topOrigin that is null", "top_origin", { clientData: member('"topOrigin":null') }],
  [
    "token binding that is present",
    "token_binding",
    { clientData: member('"tokenBinding":{"status":"present","id":"AA"}') },
  ],
  ["token binding without status", "token_binding", { clientData: member('"tokenBinding":{}') }],
  ["token binding of unknown status", "token_binding", { clientData: member('"tokenBinding":{"status":"maybe"}') }],
  ["token binding that is text", "token_binding", { clientData: member('"tokenBinding":"supported"') }],
  ["token binding that is null", "token_binding", { clientData: member('"tokenBinding":null') }],
];

const flagged = (flags: number): Partial<Making> => ({ flags });
const { UP, UV, BE, BS, AT, ED } = Flags;
const GOOD = UP | UV | AT;

const authenticatorData: ReadonlyArray<Case> = [
  ["authenticator data that is empty", "authenticator_data", { authenticatorData: () => new Uint8Array(0) }],
  ["authenticator data of a hash alone", "authenticator_data", { authenticatorData: (honest) => honest.slice(0, 32) }],
  [
    "authenticator data cut in its counter",
    "authenticator_data",
    { authenticatorData: (honest) => honest.slice(0, 36) },
  ],
  [
    "authenticator data without credential",
    "attested_credential",
    { authenticatorData: (honest) => honest.slice(0, 37) },
  ],
  [
    "authenticator data cut in the AAGUID",
    "attested_credential",
    { authenticatorData: (honest) => honest.slice(0, 52) },
  ],
  ["authenticator data cut in the id", "attested_credential", { authenticatorData: (honest) => honest.slice(0, 60) }],
  ["authenticator data cut before the key", "cose_key", { authenticatorData: (honest) => honest.slice(0, 87) }],
  ["authenticator data cut in the key", "cose_key", { authenticatorData: (honest) => honest.slice(0, -1) }],
  [
    "authenticator data with a byte behind",
    "authenticator_data",
    { authenticatorData: (honest) => after(honest, "00") },
  ],
  [
    "authenticator data with unannounced extensions",
    "authenticator_data",
    { authenticatorData: (honest) => after(honest, "a0") },
  ],
  ["another RP ID", "rp_id_hash", { rpId: "evil.example" }],
  ["the RP ID's parent", "rp_id_hash", { rpId: "org" }],
  ["the origin as RP ID", "rp_id_hash", { rpId: "https://example.org" }],
  ["no user presence", "user_presence", flagged(GOOD & ~UP)],
  ["no flag at all", "user_presence", flagged(0)],
  ["no user verification", "user_verification", flagged(GOOD & ~UV)],
  ["reserved flag 1", "reserved_flags", flagged(GOOD | 0x02)],
  ["reserved flag 5", "reserved_flags", flagged(GOOD | 0x20)],
  ["backed up though not eligible", "backup_flags", flagged(GOOD | BS)],
  ["no attested credential flag", "attested_credential", flagged(GOOD & ~AT)],
  ["eligible without attested credential", "attested_credential", flagged(UP | UV | BE)],
  ["extensions announced and absent", "authenticator_extensions", flagged(GOOD | ED)],
  [
    "no credential id",
    "credential_id",
    { authenticatorData: (honest) => concatBytes(honest.subarray(0, 53), uint16(0), honest.subarray(87)) },
  ],
  ["a credential id of one byte", "credential_id", { credentialId: new Uint8Array(1) }],
  ["a credential id of 15 bytes", "credential_id", { credentialId: new Uint8Array(15).fill(1) }],
  [
    "a credential id that says 1024 bytes",
    "credential_id",
    { authenticatorData: (honest) => spliced(honest, 53, 4, 0) },
  ],
  [
    "a credential id that says 65535 bytes",
    "credential_id",
    { authenticatorData: (honest) => spliced(honest, 53, 255, 255) },
  ],
  [
    "a credential id longer than the bytes",
    "attested_credential",
    { authenticatorData: (honest) => spliced(honest, 53, 3, 0) },
  ],
  ["extensions that are an array", "authenticator_extensions", { extensions: hexToBytes("80") }],
  ["extensions that are an integer", "authenticator_extensions", { extensions: hexToBytes("00") }],
  ["extensions with an integer key", "authenticator_extensions", { extensions: hexToBytes("a10101") }],
  ["extensions with a key twice", "authenticator_extensions", { extensions: hexToBytes("a2616101616102") }],
  ["extensions with a float", "authenticator_extensions", { extensions: hexToBytes("a16161f93c00") }],
  ["extensions of indefinite length", "authenticator_extensions", { extensions: hexToBytes("bfff") }],
  ["extensions with a tag", "authenticator_extensions", { extensions: hexToBytes("a16161c000") }],
  ["extensions that end early", "authenticator_extensions", { extensions: hexToBytes("a16161") }],
  ["extensions nested too deep", "authenticator_extensions", { extensions: hexToBytes(`a16161${"81".repeat(9)}00`) }],
  ["extensions with something behind", "authenticator_data", { extensions: hexToBytes("a000") }],
];

const secret = secretKeyOf("authenticator");
const [, x = "", y = ""] = /^.{20}(.{64}).{6}(.{64})$/.exec(Encoding.encodeHex(coseKeyOf(secret))) ?? [];
const cose = (text: string) => ({ cose: () => hexToBytes(text.replace("X", `5820${x}`).replace("Y", `5820${y}`)) });
const p = "ffffffff00000001000000000000000000000000ffffffffffffffffffffffff";

const coseKeys: ReadonlyArray<Case> = [
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

const object = (change: (honest: Uint8Array) => Uint8Array): Partial<Making> => ({ attestationObject: change });
/** The three members encoded one by one, so that each can be written in another way. */
const members = (change: (parts: { fmt: string; attStmt: string; authData: string }) => string): Partial<Making> =>
  object((honest) => {
    const text = Encoding.encodeHex(honest);
    const authDataAt = text.indexOf("686175746844617461");
    const parts = { fmt: "63666d74646e6f6e65", attStmt: "6761747453746d74a0", authData: text.slice(authDataAt) };
    return hexToBytes(change(parts));
  });

const attestationObjects: ReadonlyArray<Case> = [
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

const signature = (bytes: Uint8Array) => withMember("sig", bytes);
const malleated = (honest: Statement, change: (sig: Uint8Array) => Uint8Array): Statement => {
  const sig = honest.get("sig");
  return sig instanceof Uint8Array ? new Map([...honest, ["sig", change(sig)]]) : honest;
};

const attested = (attestation: AttestationFormat, more: Partial<Making> = {}): Partial<Making> => ({
  attestation,
  ...more,
});
const self = (statement: (honest: Statement) => unknown): Partial<Making> => attested(packedSelf, { statement });

const formats: ReadonlyArray<Case> = [
  ["fido-u2f", "attestation_format", attested(fidoU2f)],
  ...["android-safetynet", "compound", "Packed", "packed ", "", "__proto__", "constructor"].map(
    (format): Case => [`the format ${JSON.stringify(format)}`, "attestation_format", attested({ ...none, format })],
  ),
  ["self attestation without alg", "attestation_statement", self(withoutMember("alg"))],
  ["self attestation without sig", "attestation_statement", self(withoutMember("sig"))],
  ["self attestation with a sig that is text", "attestation_statement", self(withMember("sig", "sig"))],
  ["self attestation with an alg that is text", "attestation_statement", self(withMember("alg", "ES256"))],
  ["self attestation with an unknown member", "attestation_statement", self(withMember("x", 1))],
  ["self attestation with ecdaaKeyId", "attestation_statement", self(withMember("ecdaaKeyId", new Uint8Array(8)))],
  ["self attestation with ver", "attestation_statement", self(withMember("ver", "2.0"))],
  ["self attestation with another alg", "attestation_algorithm", self(withMember("alg", -35))],
  ["self attestation with RS256", "attestation_algorithm", self(withMember("alg", -257))],
  ["self attestation with an unknown alg", "attestation_algorithm", self(withMember("alg", -8))],
  ["self attestation with RS1", "attestation_algorithm", self(withMember("alg", -65_535))],
  ["self attestation with an empty sig", "attestation_signature", self(signature(new Uint8Array(0)))],
  ["self attestation with a zero sig", "attestation_signature", self(signature(hexToBytes("3006020100020100")))],
  ["self attestation with a bare sig", "attestation_signature", self(signature(new Uint8Array(64).fill(1)))],
  [
    "a sig with something behind",
    "attestation_signature",
    self((honest) => malleated(honest, (sig) => after(sig, "00"))),
  ],
  [
    "a sig with a long length",
    "attestation_signature",
    self((honest) => malleated(honest, (sig) => concatBytes(Uint8Array.of(0x30, 0x81), sig.subarray(1)))),
  ],
  ["a sig with a padded integer", "attestation_signature", self((honest) => malleated(honest, padded))],
  ["a sig that is negative", "attestation_signature", self(signature(hexToBytes("3006020180020101")))],
  [
    "self attestation by another key",
    "attestation_signature",
    {
      attestation: {
        ...packedSelf,
        state: (signable) => packedSelf.state({ ...signable, secretKey: secretKeyOf("another") }),
      },
    },
  ],
  [
    "self attestation of other client data",
    "attestation_signature",
    {
      attestation: {
        ...packedSelf,
        state: (signable) => packedSelf.state({ ...signable, clientDataHash: new Uint8Array(32) }),
      },
    },
  ],
];

/** A zero octet before r, with every length made to fit: BER takes it, DER does not. */
function padded(sig: Uint8Array): Uint8Array {
  const size = sig[3] ?? 0;
  const rest = sig.subarray(4);
  return concatBytes(Uint8Array.of(0x30, (sig[1] ?? 0) + 2, 0x02, size + 2, 0, 0), rest);
}

const without = (type: string) => (honest: ReadonlyArray<ExtensionFields>) =>
  honest.filter((each) => each.type !== type);
const and = (extension: ExtensionFields) => (honest: ReadonlyArray<ExtensionFields>) => [...honest, extension];
const instead = (extension: ExtensionFields) => (honest: ReadonlyArray<ExtensionFields>) => [
  ...honest.filter((each) => each.type !== extension.type),
  extension,
];
const subject = (...attributes: ReadonlyArray<readonly [string, string]>) => ({
  certificate: { subject: name(...attributes) },
});
const [C, O, OU, CN] = ["2.5.4.6", "2.5.4.10", "2.5.4.11", "2.5.4.3"];
const UNIT = "Authenticator Attestation";
const AAGUID = "1.3.6.1.4.1.45724.1.1.4";
const BASIC = "2.5.29.19";
const packed = (...parts: Parameters<typeof packedCertified>) => attested(packedCertified(...parts));
const x5c = (change: (honest: ReadonlyArray<Uint8Array>) => unknown): Partial<Making> =>
  attested(packedCertified(), {
    statement: (honest) => {
      const certificates = honest.get("x5c");
      return new Map([...honest, ["x5c", change(Array.isArray(certificates) ? certificates : [])]]);
    },
  });
const leaf = (change: (honest: Uint8Array) => Uint8Array) => x5c((honest) => honest.map(change));

const expired = authorityOf("Expired", root, { notAfter: "250101000000Z" });
const notYet = authorityOf("Not yet", root, { notBefore: "20990101000000Z" });
const noAuthority = authorityOf("No authority", root, { extensions: [basicConstraints(false)] });
const unconstrained = authorityOf("Unconstrained", root, { extensions: [] });
const noCertSign = authorityOf("No certificates", root, { extensions: [basicConstraints(true), keyUsage(0x80, 7)] });
const short = authorityOf("Short", root, { extensions: [basicConstraints(true, 0)] });
const below = authorityOf("Below", short);
const stranger = authorityOf("Stranger");
const oldAuthority = authorityOf("Old", root, { version: 1, extensions: [] });

const certificates: ReadonlyArray<Case> = [
  ["x5c that is empty", "attestation_statement", x5c(() => [])],
  ["x5c that is bytes", "attestation_statement", x5c(([first]) => first)],
  ["x5c that is null", "attestation_statement", x5c(() => null)],
  ["x5c with a text", "attestation_statement", x5c(() => ["certificate"])],
  ["x5c with too many certificates", "attestation_statement", x5c(([first]) => Array.from({ length: 9 }, () => first))],
  [
    "packed with an unknown member",
    "attestation_statement",
    attested(packedCertified(), { statement: withMember("x", 1) }),
  ],
  [
    "packed with another alg than its key's",
    "attestation_algorithm",
    attested(packedCertified(), { statement: withMember("alg", -35) }),
  ],
  [
    "packed signed by another key",
    "attestation_signature",
    packed({ certificate: { subjectPublicKeyInfo: signerOf(secretKeyOf("other")).subjectPublicKeyInfo } }),
  ],
  [
    "packed with a broken signature",
    "attestation_signature",
    attested(packedCertified(), {
      statement: (honest) => malleated(honest, (sig) => spliced(sig, 20, (sig[20] ?? 0) ^ 1)),
    }),
  ],
  ["a certificate that is empty", "certificate", leaf(() => new Uint8Array(0))],
  ["a certificate with a byte behind", "certificate", leaf((honest) => after(honest, "00"))],
  ["a certificate cut short", "certificate", leaf((honest) => honest.slice(0, -1))],
  ["a certificate that is a sequence of nothing", "certificate", leaf(() => hexToBytes("3000"))],
  ["a certificate that is PEM", "certificate", leaf(() => utf8ToBytes("-----BEGIN CERTIFICATE-----"))],
  [
    "a certificate of indefinite length",
    "certificate",
    leaf((honest) => concatBytes(hexToBytes("3080"), honest.subarray(4), hexToBytes("0000"))),
  ],
  [
    "a certificate with a long length",
    "certificate",
    leaf((honest) => concatBytes(Uint8Array.of(0x30, 0x83, 0), honest.subarray(2))),
  ],
  ["a certificate nested too deep", "certificate", leaf(() => nested(30))],
  ["a certificate too long", "certificate", leaf(() => new Uint8Array(16 * 1024 + 1))],
  ["a certificate of version 1", "certificate", packed({ certificate: { version: 1 } })],
  ["a certificate of version 2", "certificate", packed({ certificate: { version: 2 } })],
  [
    "a certificate with two algorithms",
    "certificate",
    packed({ certificate: { outerAlgorithm: sequence(oid("1.2.840.10045.4.3.3")) } }),
  ],
  [
    "a certificate signed with SHA-1",
    "certificate",
    packed({ certificate: { signer: { ...root.signer, algorithm: sequence(oid("1.2.840.10045.4.1")) } } }),
  ],
  ["a certificate with a bad time", "certificate", packed({ certificate: { notAfter: "991301000000Z" } })],
  ["a certificate with a time without seconds", "certificate", packed({ certificate: { notBefore: "2401010000Z" } })],
  [
    "a certificate on an unknown curve",
    "certificate",
    packed({
      certificate: {
        subjectPublicKeyInfo: sequence(
          sequence(oid("1.2.840.10045.2.1"), oid("1.3.132.0.10")),
          der(0x03, new Uint8Array(66)),
        ),
      },
    }),
  ],
  ["a certificate with a small RSA key", "certificate", packed({ certificate: { subjectPublicKeyInfo: rsaKey(128) } })],
  ["a certificate with an extension twice", "certificate", packed({ extensions: and(basicConstraints(false)) })],
  [
    "a certificate with a boolean that is 1",
    "certificate",
    packed({ certificate: { subject: sequence(set(sequence(oid(CN), der(0x01, Uint8Array.of(1))))) } }),
  ],
  ["no country", "certificate_subject", packed(subject([O, "T"], [OU, UNIT], [CN, "A"]))],
  ["a country of three letters", "certificate_subject", packed(subject([C, "USA"], [O, "T"], [OU, UNIT], [CN, "A"]))],
  ["a country in lower case", "certificate_subject", packed(subject([C, "us"], [O, "T"], [OU, UNIT], [CN, "A"]))],
  ["no organization", "certificate_subject", packed(subject([C, "US"], [OU, UNIT], [CN, "A"]))],
  ["an empty organization", "certificate_subject", packed(subject([C, "US"], [O, ""], [OU, UNIT], [CN, "A"]))],
  ["no unit", "certificate_subject", packed(subject([C, "US"], [O, "T"], [CN, "A"]))],
  ["another unit", "certificate_subject", packed(subject([C, "US"], [O, "T"], [OU, "Attestation"], [CN, "A"]))],
  ["two units", "certificate_subject", packed(subject([C, "US"], [O, "T"], [OU, UNIT], [OU, UNIT], [CN, "A"]))],
  ["no common name", "certificate_subject", packed(subject([C, "US"], [O, "T"], [OU, UNIT]))],
  ["an empty common name", "certificate_subject", packed(subject([C, "US"], [O, "T"], [OU, UNIT], [CN, ""]))],
  ["no basic constraints", "certificate_extension", packed({ extensions: without(BASIC) })],
  [
    "an attestation key that is an authority",
    "certificate_extension",
    packed({ extensions: instead(basicConstraints(true)) }),
  ],
  [
    "a critical extension nobody knows",
    "certificate_extension",
    packed({ extensions: and({ type: "1.2.3.4", critical: true, value: hexToBytes("0500") }) }),
  ],
  [
    "critical name constraints",
    "certificate_extension",
    packed({ extensions: and({ type: "2.5.29.30", critical: true, value: sequence() }) }),
  ],
  [
    "another AAGUID",
    "certificate_aaguid",
    packed({ extensions: instead({ type: AAGUID, value: octets(new Uint8Array(16).fill(1)) }) }),
  ],
  [
    "a critical AAGUID",
    "certificate_aaguid",
    packed({ extensions: instead({ type: AAGUID, critical: true, value: octets(new Uint8Array(16)) }) }),
  ],
  [
    "an AAGUID cut short",
    "certificate_aaguid",
    packed({ extensions: instead({ type: AAGUID, value: octets(new Uint8Array(15)) }) }),
  ],
  ["a bare AAGUID", "certificate", packed({ extensions: instead({ type: AAGUID, value: new Uint8Array(16) }) })],
  ["a certificate that has expired", "certificate_validity", packed({ certificate: { notAfter: "250101000000Z" } })],
  ["a certificate of the future", "certificate_validity", packed({ certificate: { notBefore: "20990101000000Z" } })],
  ["an authority that has expired", "certificate_validity", packed({ issuer: expired, behind: [expired.certificate] })],
  ["an authority of the future", "certificate_validity", packed({ issuer: notYet, behind: [notYet.certificate] })],
  [
    "a chain in the wrong order",
    "certificate_chain",
    packed({ issuer: intermediate, behind: [root.certificate, intermediate.certificate] }),
  ],
  ["a chain with a stranger", "certificate_chain", packed({ behind: [stranger.certificate] })],
  ["a chain with a gap", "certificate_chain", packed({ issuer: below, behind: [short.certificate] })],
  [
    "a chain over one that is no authority",
    "certificate_chain",
    packed({ issuer: noAuthority, behind: [noAuthority.certificate] }),
  ],
  [
    "a chain over one that says nothing",
    "certificate_chain",
    packed({ issuer: unconstrained, behind: [unconstrained.certificate] }),
  ],
  [
    "a chain over one that may not sign certificates",
    "certificate_chain",
    packed({ issuer: noCertSign, behind: [noCertSign.certificate] }),
  ],
  [
    "a chain over one of version 1",
    "certificate_chain",
    packed({ issuer: oldAuthority, behind: [oldAuthority.certificate] }),
  ],
  [
    "a chain longer than allowed",
    "certificate_chain",
    packed({ issuer: below, behind: [below.certificate, short.certificate] }),
  ],
  [
    "a chain with a forged signature",
    "certificate_chain",
    packed({ issuer: { ...root, signer: stranger.signer }, behind: [root.certificate] }),
  ],
  ["a chain with the leaf twice", "certificate_chain", x5c(([first]) => [first, first])],
];

function nested(depth: number): Uint8Array {
  return depth === 0 ? der(0x05) : sequence(nested(depth - 1));
}

function rsaKey(modulusBytes: number): Uint8Array {
  const modulus = concatBytes(Uint8Array.of(0), new Uint8Array(modulusBytes).fill(0xff));
  const key = sequence(der(0x02, modulus), der(0x02, Uint8Array.of(1, 0, 1)));
  return sequence(sequence(oid("1.2.840.113549.1.1.1"), der(0x05)), der(0x03, Uint8Array.of(0), key));
}

const PUB = "tpm_public_area";
const INFO = "tpm_certify_info";
const ofTpm = (...parts: Parameters<typeof tpm>) => attested(tpm(...parts));
const tpmStatement = (statement: (honest: Statement) => unknown) => attested(tpm(), { statement });
const [SAN, EKU] = ["2.5.29.17", "2.5.29.37"];
const [MAKER, MODEL, VERSION] = ["2.23.133.2.1", "2.23.133.2.2", "2.23.133.2.3"];

const tpms: ReadonlyArray<Case> = [
  ["a TPM of version 1.2", "attestation_statement", ofTpm({ ver: "1.2" })],
  ...["ver", "alg", "sig", "certInfo", "pubArea", "x5c"].map(
    (key): Case => [`a TPM's statement without ${key}`, "attestation_statement", tpmStatement(withoutMember(key))],
  ),
  ["a TPM's statement with an unknown member", "attestation_statement", tpmStatement(withMember("x", 1))],
  ["a TPM with an unknown alg", "attestation_algorithm", tpmStatement(withMember("alg", -8))],
  [
    "a TPM with another alg than its key's",
    "attestation_algorithm",
    ofTpm({ signer: { ...signerOf(secretKeyOf("aik")), alg: -257 } }),
  ],
  [
    "a TPM's signature broken",
    "attestation_signature",
    tpmStatement((honest) => malleated(honest, (sig) => spliced(sig, 20, (sig[20] ?? 0) ^ 1))),
  ],
  ["pubArea of an RSA key", PUB, ofTpm({ pubArea: (honest) => spliced(honest, 1, 0x01) })],
  ["pubArea with an unknown name hash", PUB, ofTpm({ pubArea: (honest) => spliced(honest, 3, 0x12) })],
  ["pubArea of another curve", PUB, ofTpm({ pubArea: (honest) => spliced(honest, 15, 0x04) })],
  ["pubArea with a byte behind", PUB, ofTpm({ pubArea: (honest) => after(honest, "00") })],
  ["pubArea cut short", PUB, ofTpm({ pubArea: (honest) => honest.slice(0, -1) })],
  ["pubArea that is empty", PUB, ofTpm({ pubArea: () => new Uint8Array(0) })],
  ["pubArea of another key", PUB, ofTpm({ pubArea: (honest) => spliced(honest, 30, (honest[30] ?? 0) ^ 1) })],
  [
    "pubArea with a long coordinate",
    PUB,
    ofTpm({
      pubArea: (honest) => concatBytes(honest.subarray(0, 18), uint16(33), Uint8Array.of(0), honest.subarray(20)),
    }),
  ],
  ["certInfo with another magic", INFO, ofTpm({ magic: 0xff544348 })],
  ["certInfo of a quote", INFO, ofTpm({ type: 0x8018 })],
  ["certInfo with a byte behind", INFO, ofTpm({ certInfo: (honest) => after(honest, "00") })],
  ["certInfo cut short", INFO, ofTpm({ certInfo: (honest) => honest.slice(0, -1) })],
  ["certInfo that is empty", INFO, ofTpm({ certInfo: () => new Uint8Array(0) })],
  ["extraData of another response", "tpm_extra_data", ofTpm({ extraData: new Uint8Array(32) })],
  ["extraData that is empty", "tpm_extra_data", ofTpm({ extraData: new Uint8Array(0) })],
  ["extraData with a byte behind", "tpm_extra_data", ofTpm({ extraData: new Uint8Array(33) })],
  ["the name of another key", "tpm_name", ofTpm({ name: (honest) => spliced(honest, 10, (honest[10] ?? 0) ^ 1) })],
  ["a name with another hash", "tpm_name", ofTpm({ name: (honest) => spliced(honest, 1, 0x0c) })],
  ["a name without its hash's identifier", "tpm_name", ofTpm({ name: (honest) => honest.subarray(2) })],
  ["a TPM's certificate with a subject", "certificate_subject", ofTpm({ certificate: { subject: packedSubject } })],
  ["a TPM's certificate of version 1", "certificate", ofTpm({ certificate: { version: 1 } })],
  ["a TPM's certificate without alternative name", "certificate_extension", ofTpm({ extensions: without(SAN) })],
  [
    "an alternative name without manufacturer",
    "certificate_extension",
    ofTpm({ alternativeName: directoryNames([MODEL, "m"], [VERSION, "v"]) }),
  ],
  [
    "an alternative name without model",
    "certificate_extension",
    ofTpm({ alternativeName: directoryNames([MAKER, "m"], [VERSION, "v"]) }),
  ],
  [
    "an alternative name without version",
    "certificate_extension",
    ofTpm({ alternativeName: directoryNames([MAKER, "m"], [MODEL, "v"]) }),
  ],
  [
    "an alternative name with two manufacturers",
    "certificate_extension",
    ofTpm({ alternativeName: directoryNames([MAKER, "m"], [MAKER, "n"], [MODEL, "m"], [VERSION, "v"]) }),
  ],
  [
    "an alternative name with an empty model",
    "certificate_extension",
    ofTpm({ alternativeName: directoryNames([MAKER, "m"], [MODEL, ""], [VERSION, "v"]) }),
  ],
  [
    "an alternative name that is a host",
    "certificate_extension",
    ofTpm({ alternativeName: sequence(der(0x82, utf8ToBytes("tpm"))) }),
  ],
  ["a TPM's certificate without extended key usage", "certificate_extension", ofTpm({ extensions: without(EKU) })],
  [
    "a TPM's certificate for web servers",
    "certificate_extension",
    ofTpm({ extensions: instead({ type: EKU, value: sequence(oid("1.3.6.1.5.5.7.3.1")) }) }),
  ],
  ["a TPM's certificate without basic constraints", "certificate_extension", ofTpm({ extensions: without(BASIC) })],
  [
    "a TPM's certificate that is an authority",
    "certificate_extension",
    ofTpm({ extensions: instead(basicConstraints(true)) }),
  ],
  [
    "a TPM's certificate for another AAGUID",
    "certificate_aaguid",
    ofTpm({ extensions: instead({ type: AAGUID, value: octets(new Uint8Array(16).fill(2)) }) }),
  ],
  [
    "a TPM's certificate that has expired",
    "certificate_validity",
    ofTpm({ certificate: { notAfter: "250101000000Z" } }),
  ],
];

const ANDROID = "android_authorization";
const android = (...parts: Parameters<typeof androidKey>) => attested(androidKey(...parts));
const androidStatement = (statement: (honest: Statement) => unknown) => attested(androidKey(), { statement });
const other = signerOf(secretKeyOf("other"));

const androids: ReadonlyArray<Case> = [
  ...["alg", "sig", "x5c"].map(
    (key): Case => [
      `an Android statement without ${key}`,
      "attestation_statement",
      androidStatement(withoutMember(key)),
    ],
  ),
  ["an Android statement with an unknown member", "attestation_statement", androidStatement(withMember("ver", "1"))],
  [
    "an Android signature broken",
    "attestation_signature",
    androidStatement((honest) => malleated(honest, (sig) => spliced(sig, 20, (sig[20] ?? 0) ^ 1))),
  ],
  ["an Android certificate of another key", "certificate_key", android({ signer: other })],
  ["an Android key attested for another response", "android_challenge", android({ challenge: new Uint8Array(32) })],
  ["an Android key with an empty challenge", "android_challenge", android({ challenge: new Uint8Array(0) })],
  [
    "an Android key without description",
    "certificate_extension",
    android({ extensions: without("1.3.6.1.4.1.11129.2.1.17") }),
  ],
  ["an Android description of seven fields", "certificate", android({ fields: (honest) => honest.slice(0, 7) })],
  ["an Android description of nine fields", "certificate", android({ fields: (honest) => [...honest, integer(1)] })],
  ["an Android key for all applications", ANDROID, android({ hardware: [purposes(2), allApplications, origin(0)] })],
  ["an Android key for all applications in software", ANDROID, android({ software: [allApplications] })],
  ["an Android key that was imported", ANDROID, android({ hardware: [purposes(2), origin(2)] })],
  ["an Android key that was derived", ANDROID, android({ hardware: [purposes(2), origin(1)] })],
  ["an Android key imported in software", ANDROID, android({ software: [origin(2)] })],
  ["an Android key for encryption", ANDROID, android({ hardware: [purposes(0, 1), origin(0)] })],
  ["an Android key for nothing", ANDROID, android({ hardware: [purposes(), origin(0)] })],
  ["an Android key with a purpose that is no set", "certificate", android({ hardware: [tagged(1, integer(2))] })],
  [
    "an Android certificate that has expired",
    "certificate_validity",
    android({ certificate: { notAfter: "250101000000Z" } }),
  ],
];

const ofApple = (...parts: Parameters<typeof apple>) => attested(apple(...parts));

const apples: ReadonlyArray<Case> = [
  ["an Apple statement without x5c", "attestation_statement", attested(apple(), { statement: withoutMember("x5c") })],
  [
    "an Apple statement with a sig",
    "attestation_statement",
    attested(apple(), { statement: withMember("sig", new Uint8Array(8)) }),
  ],
  ["an Apple certificate for another response", "apple_nonce", ofApple({ nonce: new Uint8Array(32) })],
  ["an Apple certificate with a nonce cut short", "apple_nonce", ofApple({ nonce: new Uint8Array(31) })],
  [
    "an Apple certificate without nonce",
    "certificate_extension",
    ofApple({ extensions: without("1.2.840.113635.100.8.2") }),
  ],
  [
    "an Apple nonce in another tag",
    "certificate",
    ofApple({ nonceExtension: () => sequence(tagged(2, octets(new Uint8Array(32)))) }),
  ],
  ["an Apple nonce that is bare", "certificate", ofApple({ nonceExtension: () => octets(new Uint8Array(32)) })],
  [
    "an Apple nonce with something behind",
    "certificate",
    ofApple({ nonceExtension: (honest) => sequence(honest.subarray(2), integer(1)) }),
  ],
  ["an Apple certificate of another key", "certificate_key", ofApple({ signer: other })],
  [
    "an Apple certificate that has expired",
    "certificate_validity",
    ofApple({ certificate: { notAfter: "250101000000Z" } }),
  ],
];

const response = (more: object) => (honest: CredentialJson) => ({
  ...honest,
  response: { ...honest.response, ...more },
});
const flipped = (text: string): string => (text.startsWith("A") ? "B" : "A") + text.slice(1);
const otherId = Encoding.encodeBase64Url(new Uint8Array(32).fill(9));

const json: ReadonlyArray<JsonCase> = [
  ["an id that is not the attested one", "id", (honest) => ({ ...honest, id: otherId })],
  ["a rawId that is not the attested one", "raw_id", (honest) => ({ ...honest, rawId: otherId })],
  ["neither id the attested one", "id", (honest) => ({ ...honest, id: otherId, rawId: otherId })],
  ["an id cut short", "id", (honest) => ({ ...honest, id: honest.id.slice(0, -3) })],
  [
    "other authenticatorData reported",
    "reported_authenticator_data",
    (honest) => response({ authenticatorData: flipped(honest.response.authenticatorData) })(honest),
  ],
  ["authenticatorData reported in part", "reported_authenticator_data", response({ authenticatorData: "AAAA" })],
  [
    "another publicKey reported",
    "reported_public_key",
    (honest) => response({ publicKey: `${honest.response.publicKey.slice(0, -6)}AAAAAA` })(honest),
  ],
  ["a bare publicKey reported", "reported_public_key", response({ publicKey: "BAAA" })],
  ["another algorithm reported", "reported_algorithm", response({ publicKeyAlgorithm: -257 })],
  ["algorithm 0 reported", "reported_algorithm", response({ publicKeyAlgorithm: 0 })],
  ...[
    "appid",
    "prf",
    "largeBlob",
    "hmacCreateSecret",
    "credProtect",
    "payment",
    "CredProps",
    "credprops",
    "__proto__",
  ].map(
    (extension): JsonCase => [
      `the output of the extension ${extension}`,
      "client_extension",
      (honest) => ({
        ...honest,
        clientExtensionResults: JSON.parse(`{"credProps":{},${JSON.stringify(extension)}:true}`),
      }),
    ],
  ),
  ["another type of credential", "invalid_value", (honest) => ({ ...honest, type: "password" })],
  ["a padded id", "invalid_value", (honest) => ({ ...honest, id: `${honest.id}=` })],
  ["an attachment nobody knows", "invalid_value", (honest) => ({ ...honest, authenticatorAttachment: "internal" })],
  ["a descriptor of one's own", "unknown_field", (honest) => ({ ...honest, descriptor: {} })],
  ["an assertion's signature", "unknown_field", response({ signature: "AAAA" })],
  ["transports that are text", "wrong_type", response({ transports: "usb" })],
  ["client data in the other alphabet", "invalid_value", response({ clientDataJSON: "++//" })],
  ["no attestation object", "missing_field", response({ attestationObject: undefined })],
  ["a null attestation object", "null_value", response({ attestationObject: null })],
];

const cases: ReadonlyArray<Case> = [
  ...clientData,
  ...authenticatorData,
  ...coseKeys,
  ...attestationObjects,
  ...formats,
  ...certificates,
  ...tpms,
  ...androids,
  ...apples,
];

/** Every one of them, for one session. */
export const refusedRegistrations = (answered: Answered): ReadonlyArray<RefusedRegistration> => {
  const { invitation, challenge } = answered;
  const making: Making = { challenge, origin: answered.origin, rpId: answered.rpId };
  const honest = makeCredential(making);
  return [
    ...cases.map(([name, code, change]) => ({
      name,
      code,
      body: JSON.stringify({ invitation, credential: withoutReports(makeCredential({ ...making, ...change })) }),
    })),
    ...json.map(([name, code, change]) => ({
      name,
      code,
      body: JSON.stringify({ invitation, credential: change(honest) }),
    })),
  ];
};

/** What is wrong shall be found in the original, and not because a repetition of it differs. */
const withoutReports = (credential: CredentialJson): object => {
  const { clientDataJSON, attestationObject, transports } = credential.response;
  return { ...credential, response: { clientDataJSON, attestationObject, transports } };
};
