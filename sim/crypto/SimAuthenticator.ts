/** What simulated authenticators answer: as the stand-in ceremony takes it, or as a real one without attestation does. */
import { sha256 } from "@noble/hashes/sha2.js";
import { concatBytes } from "@noble/hashes/utils.js";
import { Encoding } from "effect";
import { utf8Bytes } from "../../core/codec/Utf8.ts";
import { byteOf, type Party } from "./SimRelyingParty.ts";

export interface Challenged {
  readonly challenge: Uint8Array;
  /** The number of the sample key, and of the credential that it belongs to. */
  readonly key: number;
  readonly credential: number;
  readonly signCount: number;
  /** The relying party that it answers to. */
  readonly party: Party;
}

/** The parts of a response, each unpadded Base64url. */
export interface SampleResponse {
  readonly id64: string;
  readonly clientData64: string;
  readonly attestation64: string;
  readonly cose64: string;
}

const CREDENTIAL_ID_BYTES = 16;

const credentialIdOf = (credential: number): Uint8Array => {
  const id = new Uint8Array(CREDENTIAL_ID_BYTES).fill(7);
  new DataView(id.buffer).setUint32(0, credential);
  return id;
};

const counterOf = (signCount: number): Uint8Array => {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, signCount);
  return bytes;
};

/** A response that {@link simCeremony} takes. */
export const simResponse = (
  { challenge, credential, signCount, party }: Challenged,
  key: Uint8Array,
): SampleResponse => ({
  id64: Encoding.encodeBase64Url(credentialIdOf(credential)),
  clientData64: Encoding.encodeBase64Url(challenge),
  attestation64: Encoding.encodeBase64Url(concatBytes(key, counterOf(signCount), Uint8Array.of(byteOf(party.rpId)))),
  cose64: Encoding.encodeBase64Url(key),
});

// The few CBOR heads that a response without attestation is made of (RFC 8949, WebAuthn Level 3 sections 6.1 and 6.5.1).
const COSE_KEY = [0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20] as const;
const COSE_Y = [0x22, 0x58, 0x20] as const;
const NO_ATTESTATION = concatBytes(
  Uint8Array.of(0xa3, 0x63),
  utf8Bytes("fmt"),
  Uint8Array.of(0x64),
  utf8Bytes("none"),
  Uint8Array.of(0x67),
  utf8Bytes("attStmt"),
  Uint8Array.of(0xa0, 0x68),
  utf8Bytes("authData"),
  Uint8Array.of(0x58),
);
/** Present, verified, with attested data. */
const FLAGS = 0x45;
const AAGUID_BYTES = 16;

/** A response of format `none`; `point` is the uncompressed public key. */
export const realResponse = (
  { challenge, credential, signCount, party }: Challenged,
  point: Uint8Array,
): SampleResponse => {
  const cose = concatBytes(
    Uint8Array.from(COSE_KEY),
    point.subarray(1, 33),
    Uint8Array.from(COSE_Y),
    point.subarray(33),
  );
  const id = credentialIdOf(credential);
  const authData = concatBytes(
    sha256(utf8Bytes(party.rpId)),
    Uint8Array.of(FLAGS),
    counterOf(signCount),
    new Uint8Array(AAGUID_BYTES),
    Uint8Array.of(0, CREDENTIAL_ID_BYTES),
    id,
    cose,
  );
  const clientData = `{"type":"webauthn.create","challenge":"${Encoding.encodeBase64Url(challenge)}","origin":"${party.origin}","crossOrigin":false}`;
  return {
    id64: Encoding.encodeBase64Url(id),
    clientData64: Encoding.encodeBase64Url(utf8Bytes(clientData)),
    attestation64: Encoding.encodeBase64Url(concatBytes(NO_ATTESTATION, Uint8Array.of(authData.length), authData)),
    cose64: Encoding.encodeBase64Url(cose),
  };
};
