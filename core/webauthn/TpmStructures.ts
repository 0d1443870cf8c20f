/** The two TPM structures of an attestation, by "TPM 2.0 Library, Part 2: Structures", read to the last byte. */
import type { HashName } from "./CeremonyCrypto.ts";
import { type CeremonyCheck, demand, FailedCheck } from "./CeremonyRefusal.ts";
import { ByteReader, OutOfBytes } from "./ByteReader.ts";

/** TPM_ALG_ID (section 6.3) of the supported algorithms. */
const ALG_NULL = 0x0010;
const ALG_ECC = 0x0023;
const hashes: ReadonlyMap<number, HashName> = new Map([
  [0x0004, "SHA-1"],
  [0x000b, "SHA-256"],
  [0x000c, "SHA-384"],
  [0x000d, "SHA-512"],
]);
/** TPM_ECC_CURVE (section 6.4). */
const NIST_P256 = 0x0003;
/** Schemes of a signing key whose only parameter is their hash, and the one with a counter (section 11.2.1). */
const ECDAA = 0x001a;

/** Reads all of some bytes, or refuses them. */
const whole = <A>(bytes: Uint8Array, check: CeremonyCheck, what: string, read: (reader: ByteReader) => A): A => {
  try {
    const reader = new ByteReader(bytes);
    const value = read(reader);
    reader.end();
    return value;
  } catch (cause) {
    if (cause instanceof OutOfBytes) throw new FailedCheck(check, `${what} does not end where it should.`);
    throw cause;
  }
};

/** A TPMT_PUBLIC (section 12.2.4) of a key on P-256. */
export interface PublicArea {
  /** The hash of the key's name. */
  readonly nameHash: HashName;
  /** The identifier of that hash as it occurs in a name. */
  readonly nameAlgorithm: number;
  /** 32 bytes each. */
  readonly x: Uint8Array;
  readonly y: Uint8Array;
}

/** @throws Refused `tpm_public_area` */
export const readPublicArea = (bytes: Uint8Array): PublicArea =>
  whole(bytes, "tpm_public_area", "pubArea", (reader) => {
    demand(reader.integer(2) === ALG_ECC, "tpm_public_area", "The TPM's key is not one of elliptic curves.");
    const nameAlgorithm = reader.integer(2);
    const nameHash = hashes.get(nameAlgorithm);
    if (nameHash === undefined)
      throw new FailedCheck("tpm_public_area", "The hash of the TPM key's name is not supported.");
    reader.take(4);
    reader.sized();
    // TPMS_ECC_PARMS: symmetric algorithm with key bits and mode, scheme with its hash, curve, key derivation.
    if (reader.integer(2) !== ALG_NULL) reader.take(4);
    const scheme = reader.integer(2);
    if (scheme !== ALG_NULL) reader.take(scheme === ECDAA ? 4 : 2);
    demand(reader.integer(2) === NIST_P256, "tpm_public_area", "The curve of the TPM's key is not P-256.");
    if (reader.integer(2) !== ALG_NULL) reader.take(2);
    return { nameHash, nameAlgorithm, x: coordinate(reader.sized()), y: coordinate(reader.sized()) };
  });

const COORDINATE_BYTES = 32;

/** TPMs may omit leading zeros. */
const coordinate = (bytes: Uint8Array): Uint8Array => {
  demand(bytes.length <= COORDINATE_BYTES, "tpm_public_area", "A coordinate of the TPM's key is too long.");
  const padded = new Uint8Array(COORDINATE_BYTES);
  padded.set(bytes, COORDINATE_BYTES - bytes.length);
  return padded;
};

/** TPM_GENERATED_VALUE and TPM_ST_ATTEST_CERTIFY (sections 6.2 and 6.9). */
const GENERATED = 0xff544347;
const CERTIFY = 0x8017;
/** TPMS_CLOCK_INFO (section 10.11.1): clock, two counters, whether it is safe. None of it is evidence of anything. */
const CLOCK_BYTES = 8 + 4 + 4 + 1;
const FIRMWARE_BYTES = 8;

/** A TPMS_ATTEST (section 10.12.12) that certifies a key. */
export interface CertifyInfo {
  readonly extraData: Uint8Array;
  /** The name of the certified key: the identifier of a hash, and the hash. */
  readonly name: Uint8Array;
}

/** @throws Refused `tpm_certify_info` */
export const readCertifyInfo = (bytes: Uint8Array): CertifyInfo =>
  whole(bytes, "tpm_certify_info", "certInfo", (reader) => {
    demand(reader.integer(4) === GENERATED, "tpm_certify_info", "certInfo was not made by a TPM (magic).");
    demand(reader.integer(2) === CERTIFY, "tpm_certify_info", "certInfo does not certify a key (type).");
    reader.sized();
    const extraData = reader.sized();
    reader.take(CLOCK_BYTES);
    reader.take(FIRMWARE_BYTES);
    const name = reader.sized();
    reader.sized();
    return { extraData, name };
  });
