/**
 * The test vectors of WebAuthn Level 3 (16), made to answer a live challenge: statements are signed again with the
 * private keys that come with them, and the one certificate that binds the challenge is issued again.
 */
import { existsSync, readFileSync } from "node:fs";
import { p256 } from "@noble/curves/nist.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { concatBytes, hexToBytes } from "@noble/hashes/utils.js";
import { decode, encode } from "cborg";
import { Encoding, Schema } from "effect";
import { signatureOf } from "../webauthn/Authenticator.ts";
import { bits, sequence } from "../webauthn/DerWriter.ts";

const file = new URL("../../../shared/vectors/webauthn/w3c-level3-vectors.json", import.meta.url);

/** Whether the vectors lie beside this project, and what to say where they do not. */
export const vectorsAreAbsent = !existsSync(file);
export const absentVectors = `there are no vectors at ${file.pathname}`;

const Vectors = Schema.parseJson(
  Schema.Struct({
    attestationRoot: Schema.Struct({ attestation_ca_key: Schema.String }),
    vectors: Schema.Array(
      Schema.Struct({
        id: Schema.String,
        outcome: Schema.Literal("accept", "policy", "reject"),
        reasons: Schema.Array(Schema.String),
        expected: Schema.Struct({ challenge: Schema.String }),
        privateKeys: Schema.Record({ key: Schema.String, value: Schema.String }),
        credential: Schema.Struct(
          { response: Schema.Struct({ clientDataJSON: Schema.String, attestationObject: Schema.String }) },
          { key: Schema.String, value: Schema.Unknown },
        ),
      }),
    ),
  }),
);

type Vector = (typeof Vectors.Type)["vectors"][number];

export interface LiveVector {
  readonly id: string;
  /** With no trust root configured. */
  readonly isAccepted: boolean;
  /** Codes, one of which the refusal names. */
  readonly codes: ReadonlyArray<string>;
  /** The credential that answers this challenge. */
  readonly answer: (challenge: Uint8Array) => unknown;
}

const codesOf = (reason: string): ReadonlyArray<string> =>
  reason.startsWith("not-ES256") ? ["cose_key", "algorithm"] : [reason.replaceAll("-", "_")];

const bytesOf = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, "base64url"));

/** The bytes with another part in the place of one of the same length. */
const replaced = (bytes: Uint8Array, before: Uint8Array, after: Uint8Array): Uint8Array => {
  const at = Buffer.from(bytes).indexOf(before);
  if (at === -1) throw new Error("the part is not there");
  const copy = bytes.slice();
  copy.set(after, at);
  return copy;
};

/** The first element of a DER sequence: its header and content (X.690 8.1). */
const firstElement = (certificate: Uint8Array): Uint8Array => {
  const lengthOf = (at: number): readonly [head: number, length: number] => {
    const first = certificate[at + 1] ?? 0;
    if (first < 0x80) return [2, first];
    const octets = certificate.subarray(at + 2, at + 2 + (first & 0x7f));
    return [2 + octets.length, octets.reduce((sum, octet) => sum * 256 + octet, 0)];
  };
  const [outer] = lengthOf(0);
  const [head, length] = lengthOf(outer);
  return certificate.slice(outer, outer + head + length);
};

/** ecdsa-with-SHA256 (RFC 5758 3.2). */
const ecdsaWithSha256 = hexToBytes("300a06082a8648ce3d040302");

const reissued = (certificate: Uint8Array, before: Uint8Array, after: Uint8Array, issuer: Uint8Array): Uint8Array => {
  const body = replaced(firstElement(certificate), before, after);
  return sequence(body, ecdsaWithSha256, bits(signatureOf(issuer, body)));
};

const isBytes = (value: unknown): value is Uint8Array => value instanceof Uint8Array;

const answerOf = (
  { credential, expected, privateKeys }: Vector,
  rootKey: Uint8Array,
  challenge: Uint8Array,
): unknown => {
  const { response } = credential;
  const clientDataBefore = bytesOf(response.clientDataJSON);
  const live = Encoding.encodeBase64Url(challenge);
  const clientData = Buffer.from(Buffer.from(clientDataBefore).toString().replace(expected.challenge, live));
  const [before, after] = [sha256(clientDataBefore), sha256(clientData)];
  const object: unknown = decode(bytesOf(response.attestationObject), { useMaps: true });
  const parts = object instanceof Map ? object : new Map<unknown, unknown>();
  const [statement, authData]: ReadonlyArray<unknown> = [parts.get("attStmt"), parts.get("authData")];
  if (!(statement instanceof Map) || !isBytes(authData)) throw new Error("the vector holds no attestation");
  const chain: unknown = statement.get("x5c");
  const own = privateKeys["attestation_private_key"] ?? privateKeys["credential_private_key"];
  const key = own === undefined ? undefined : hexToBytes(own);
  // Keys of other curves sign nothing here: their use is refused before any signature is looked at.
  const sign = (message: Uint8Array): Uint8Array =>
    key !== undefined && p256.utils.isValidSecretKey(key) ? signatureOf(key, message) : new Uint8Array(64);
  const certInfo: unknown = statement.get("certInfo");
  if (isBytes(certInfo)) {
    const extra = (hash: Uint8Array): Uint8Array => sha256(concatBytes(authData, hash));
    const info = replaced(certInfo, extra(before), extra(after));
    statement.set("certInfo", info).set("sig", sign(info));
  } else if (statement.has("sig")) statement.set("sig", sign(concatBytes(authData, after)));
  if (parts.get("fmt") === "android-key" && Array.isArray(chain) && isBytes(chain[0]))
    statement.set("x5c", [reissued(chain[0], before, after, rootKey), ...chain.slice(1)]);
  return {
    ...credential,
    response: {
      clientDataJSON: Encoding.encodeBase64Url(clientData),
      attestationObject: Encoding.encodeBase64Url(encode(parts)),
    },
  };
};

/** All of them. */
export const liveVectors = (): ReadonlyArray<LiveVector> => {
  const { attestationRoot, vectors } = Schema.decodeUnknownSync(Vectors)(readFileSync(file, "utf8"));
  const rootKey = hexToBytes(attestationRoot.attestation_ca_key);
  return vectors.map((vector) => ({
    id: vector.id,
    isAccepted: vector.outcome !== "reject",
    codes: vector.reasons.flatMap(codesOf),
    answer: (challenge) => answerOf(vector, rootKey, challenge),
  }));
};
