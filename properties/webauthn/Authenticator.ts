/**
 * An authenticator and its browser, for tests: it makes honest registrations, and
 * any part of one can be replaced before it is signed and sent. Pure and
 * deterministic, so that a run can be repeated.
 */
import { p256 } from "@noble/curves/nist.js";
import { sha256, sha384 } from "@noble/hashes/sha2.js";
import { concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { encode } from "cborg";
import { Encoding } from "effect";

/** Flags of the authenticator data (WebAuthn Level 3 section 6.1). */
export const Flags = { UP: 0x01, UV: 0x04, BE: 0x08, BS: 0x10, AT: 0x40, ED: 0x80 } as const;

export type Statement = ReadonlyMap<string, unknown>;

/** What a statement may sign over. */
export interface Signable {
  readonly authenticatorData: Uint8Array;
  readonly clientDataHash: Uint8Array;
  readonly rpIdHash: Uint8Array;
  readonly aaguid: Uint8Array;
  readonly secretKey: Uint8Array;
}

/** A format and the function that makes its statement. */
export interface AttestationFormat {
  readonly format: string;
  readonly state: (signable: Signable) => Statement;
}

/** The inputs of a ceremony, and every part of the answer that a test may want to differ. */
export interface Making {
  readonly challenge: Uint8Array;
  readonly origin: string;
  readonly rpId: string;
  /** Everything random is derived from it. */
  readonly seed?: string;
  readonly attestation?: AttestationFormat;
  readonly flags?: number;
  readonly signCount?: number;
  readonly aaguid?: Uint8Array;
  readonly credentialId?: Uint8Array;
  readonly cose?: (honest: Uint8Array) => Uint8Array;
  readonly extensions?: Uint8Array;
  /** JSON text. */
  readonly clientData?: (honest: string) => string | Uint8Array;
  readonly authenticatorData?: (honest: Uint8Array) => Uint8Array;
  readonly statement?: (honest: Statement) => unknown;
  readonly attestationObject?: (honest: Uint8Array) => Uint8Array;
}

/** The credential as a browser's `toJSON()` gives it. */
export interface CredentialJson {
  readonly id: string;
  readonly rawId: string;
  readonly type: "public-key";
  readonly authenticatorAttachment: string | null;
  readonly response: {
    readonly clientDataJSON: string;
    readonly attestationObject: string;
    readonly transports: ReadonlyArray<string>;
    readonly authenticatorData: string;
    readonly publicKey: string;
    readonly publicKeyAlgorithm: number;
  };
  readonly clientExtensionResults: { readonly [name: string]: unknown };
}

const derived = (seed: string, what: string): Uint8Array => sha256(utf8ToBytes(`${what} of ${seed}`));

export const uint16 = (value: number): Uint8Array => Uint8Array.of(value >> 8, value & 0xff);
export const uint32 = (value: number): Uint8Array =>
  Uint8Array.of(value >>> 24, (value >>> 16) & 0xff, (value >>> 8) & 0xff, value & 0xff);

/** The secret key of the credential that a seed leads to. */
export const secretKeyOf = (seed: string): Uint8Array =>
  p256.utils.randomSecretKey(sha384(utf8ToBytes(`key of ${seed}`)));

/** The canonical COSE key of a secret key. */
export const coseKeyOf = (secretKey: Uint8Array): Uint8Array => {
  const point = p256.getPublicKey(secretKey, false);
  return encode(
    new Map<number, number | Uint8Array>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, point.subarray(1, 33)],
      [-3, point.subarray(33)],
    ]),
  );
};

/** ECDSA as attestation carries it: DER, S in whichever half it falls. */
export const signatureOf = (secretKey: Uint8Array, message: Uint8Array): Uint8Array =>
  p256.sign(message, secretKey, { lowS: false, format: "der" });

export const none: AttestationFormat = { format: "none", state: () => new Map() };

/** Section 8.2, self attestation. */
export const packedSelf: AttestationFormat = {
  format: "packed",
  state: ({ authenticatorData, clientDataHash, secretKey }) =>
    new Map<string, unknown>([
      ["alg", -7],
      ["sig", signatureOf(secretKey, concatBytes(authenticatorData, clientDataHash))],
    ]),
};

const bytesOf = (text: string | Uint8Array): Uint8Array => (typeof text === "string" ? utf8ToBytes(text) : text);

/** Makes a credential. */
export const makeCredential = (making: Making): CredentialJson => {
  const seed = making.seed ?? "authenticator";
  const secretKey = secretKeyOf(seed);
  const { format, state } = making.attestation ?? none;
  const honestClientData = JSON.stringify({
    type: "webauthn.create",
    challenge: Encoding.encodeBase64Url(making.challenge),
    origin: making.origin,
    crossOrigin: false,
  });
  const clientData = bytesOf(making.clientData?.(honestClientData) ?? honestClientData);
  const rpIdHash = sha256(utf8ToBytes(making.rpId));
  const aaguid = making.aaguid ?? new Uint8Array(16);
  const credentialId = making.credentialId ?? derived(seed, "credential id");
  const honestCose = coseKeyOf(secretKey);
  const flags = making.flags ?? Flags.UP | Flags.UV | Flags.AT | (making.extensions === undefined ? 0 : Flags.ED);
  const honestData = concatBytes(
    rpIdHash,
    Uint8Array.of(flags),
    uint32(making.signCount ?? 0),
    aaguid,
    uint16(credentialId.length),
    credentialId,
    making.cose?.(honestCose) ?? honestCose,
    making.extensions ?? new Uint8Array(0),
  );
  const authenticatorData = making.authenticatorData?.(honestData) ?? honestData;
  const clientDataHash = sha256(clientData);
  const honest = state({ authenticatorData, clientDataHash, rpIdHash, aaguid, secretKey });
  const honestObject = encode(
    new Map<string, unknown>([
      ["fmt", format],
      ["attStmt", making.statement?.(honest) ?? honest],
      ["authData", authenticatorData],
    ]),
  );
  const attestationObject = making.attestationObject?.(honestObject) ?? honestObject;
  const id = Encoding.encodeBase64Url(credentialId);
  return {
    id,
    rawId: id,
    type: "public-key",
    authenticatorAttachment: "cross-platform",
    response: {
      clientDataJSON: Encoding.encodeBase64Url(clientData),
      attestationObject: Encoding.encodeBase64Url(attestationObject),
      transports: ["usb", "nfc"],
      authenticatorData: Encoding.encodeBase64Url(authenticatorData),
      publicKey: Encoding.encodeBase64Url(subjectPublicKeyInfo(secretKey)),
      publicKeyAlgorithm: -7,
    },
    clientExtensionResults: { credProps: { rk: true } },
  };
};

/** RFC 5480: P-256, uncompressed point. */
export const subjectPublicKeyInfo = (secretKey: Uint8Array): Uint8Array =>
  concatBytes(SPKI_HEAD, p256.getPublicKey(secretKey, false));

const SPKI_HEAD = Uint8Array.from("3059301306072a8648ce3d020106082a8648ce3d030107034200".match(/../g) ?? [], (pair) =>
  Number.parseInt(pair, 16),
);
