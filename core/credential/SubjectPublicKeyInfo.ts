/**
 * DER SubjectPublicKeyInfo (RFC 5280 section 4.1.2.7) of the installed algorithms.
 *
 * For each algorithm exactly one DER form exists per key length: named curves
 * only, no unused bits, and parameters absent wherever the algorithm's RFC says
 * so. Hence there is no parser here: everything before the key is compared with
 * the expected bytes, which leaves no room for indefinite lengths, non-minimal
 * lengths, a NULL where nothing belongs, or an extra byte.
 */
import { bytesToHex, concatBytes, hexToBytes } from "@noble/hashes/utils.js";
import { Either } from "effect";

/** How the public keys of one algorithm are encoded. */
export interface KeyEncoding {
  readonly algorithm: string;
  /** Lengths in bytes of the bare encodings accepted; all different. */
  readonly keyBytes: ReadonlyArray<number>;
  /** Content of the AlgorithmIdentifier: DER of the OID, and of the parameters where there are any. */
  readonly identifier: Uint8Array;
}

const SEQUENCE = 0x30;
const BIT_STRING = 0x03;

/** Length octets of DER (X.690 section 10.1): the shortest form. */
const derLength = (length: number): Uint8Array => {
  if (length < 0x80) return Uint8Array.of(length);
  return length < 0x100 ? Uint8Array.of(0x81, length) : Uint8Array.of(0x82, length >> 8, length & 0xff);
};

const derHeader = (tag: number, length: number): Uint8Array => concatBytes(Uint8Array.of(tag), derLength(length));

/** All bytes before a key of the given length in bytes, the zero octet that counts unused bits included. */
export const subjectPublicKeyInfoPrefix = (encoding: KeyEncoding, keyBytes: number): Uint8Array => {
  const identifier = concatBytes(derHeader(SEQUENCE, encoding.identifier.length), encoding.identifier);
  const bits = concatBytes(derHeader(BIT_STRING, keyBytes + 1), Uint8Array.of(0));
  return concatBytes(derHeader(SEQUENCE, identifier.length + bits.length + keyBytes), identifier, bits);
};

/** RFC 5480 section 2.1.1: id-ecPublicKey with a named curve. */
const namedCurve = (algorithm: string, fieldBytes: number, curve: string): KeyEncoding => ({
  algorithm,
  keyBytes: [1 + fieldBytes, 1 + 2 * fieldBytes],
  identifier: hexToBytes(`06072a8648ce3d0201${curve}`),
});

const bare = (algorithm: string, keyBytes: number, oid: string): KeyEncoding => ({
  algorithm,
  keyBytes: [keyBytes],
  identifier: hexToBytes(oid),
});

/** The NIST arc 2.16.840.1.101.3.4.3, sigAlgs: RFC 9881 section 2 and RFC 9909 section 3. */
const nistSignature = (algorithm: string, keyBytes: number, arc: number): KeyEncoding =>
  bare(algorithm, keyBytes, `0609608648016503${bytesToHex(Uint8Array.of(4, 3, arc))}`);

/** Every installed algorithm. */
export const keyEncodings = {
  // RFC 8410 section 3: id-Ed25519 1.3.101.112, id-Ed448 1.3.101.113, parameters absent.
  ED25519: bare("ED25519", 32, "06032b6570"),
  ED448: bare("ED448", 57, "06032b6571"),
  // RFC 5480 section 2.1.1.1; secp256k1 is 1.3.132.0.10 (SEC 2, appendix A).
  SECP256K1: namedCurve("SECP256K1", 32, "06052b8104000a"),
  P256: namedCurve("P256", 32, "06082a8648ce3d030107"),
  P384: namedCurve("P384", 48, "06052b81040022"),
  P521: namedCurve("P521", 66, "06052b81040023"),
  MLDSA44: nistSignature("MLDSA44", 1312, 17),
  MLDSA65: nistSignature("MLDSA65", 1952, 18),
  MLDSA87: nistSignature("MLDSA87", 2592, 19),
  SLHDSA_SHA2_128S: nistSignature("SLHDSA_SHA2_128S", 32, 20),
  SLHDSA_SHA2_128F: nistSignature("SLHDSA_SHA2_128F", 32, 21),
  SLHDSA_SHA2_192S: nistSignature("SLHDSA_SHA2_192S", 48, 22),
  SLHDSA_SHA2_192F: nistSignature("SLHDSA_SHA2_192F", 48, 23),
  SLHDSA_SHA2_256S: nistSignature("SLHDSA_SHA2_256S", 64, 24),
  SLHDSA_SHA2_256F: nistSignature("SLHDSA_SHA2_256F", 64, 25),
  SLHDSA_SHAKE_128S: nistSignature("SLHDSA_SHAKE_128S", 32, 26),
  SLHDSA_SHAKE_128F: nistSignature("SLHDSA_SHAKE_128F", 32, 27),
  SLHDSA_SHAKE_192S: nistSignature("SLHDSA_SHAKE_192S", 48, 28),
  SLHDSA_SHAKE_192F: nistSignature("SLHDSA_SHAKE_192F", 48, 29),
  SLHDSA_SHAKE_256S: nistSignature("SLHDSA_SHAKE_256S", 64, 30),
  SLHDSA_SHAKE_256F: nistSignature("SLHDSA_SHAKE_256F", 64, 31),
} as const satisfies { readonly [algorithm: string]: KeyEncoding };

/** The SubjectPublicKeyInfo forms of one encoding: the total length alone decides which form bytes can have. */
interface Wrapping {
  readonly algorithm: string;
  readonly length: number;
  readonly prefix: Uint8Array;
}

const wrappingsOf = (encoding: KeyEncoding): ReadonlyArray<Wrapping> =>
  encoding.keyBytes.map((keyBytes) => {
    const prefix = subjectPublicKeyInfoPrefix(encoding, keyBytes);
    return { algorithm: encoding.algorithm, length: prefix.length + keyBytes, prefix };
  });

const allWrappings: ReadonlyArray<Wrapping> = Object.values(keyEncodings).flatMap(wrappingsOf);

const fits = (wrapping: Wrapping, encoded: Uint8Array): boolean =>
  encoded.length === wrapping.length && wrapping.prefix.every((byte, index) => encoded[index] === byte);

/**
 * The algorithm that a DER SubjectPublicKeyInfo names.
 *
 * @param der the whole structure; the key inside is not looked at
 * @returns the canonical algorithm name, or undefined where the bytes are not exactly
 *   the SubjectPublicKeyInfo of an installed algorithm with a key of the right length
 */
export const algorithmOfSubjectPublicKeyInfo = (der: Uint8Array): string | undefined =>
  allWrappings.find((wrapping) => fits(wrapping, der))?.algorithm;

/**
 * The bare key of an encoding that is either bare already or a SubjectPublicKeyInfo.
 *
 * @param encoding the algorithm that the caller claims for the key
 * @param encoded the submitted bytes
 * @returns a view of the bare key, of one of the lengths of `encoding`, otherwise
 *   unchecked; or one sentence why the bytes are neither form
 */
export const bareKey = (encoding: KeyEncoding, encoded: Uint8Array): Either.Either<Uint8Array, string> => {
  if (encoding.keyBytes.includes(encoded.length)) return Either.right(encoded);
  const wrapping = wrappingsOf(encoding).find((each) => fits(each, encoded));
  if (wrapping !== undefined) return Either.right(encoded.subarray(wrapping.prefix.length));
  const named = algorithmOfSubjectPublicKeyInfo(encoded);
  if (named !== undefined) return Either.left(`The SubjectPublicKeyInfo names ${named}, not ${encoding.algorithm}.`);
  const lengths = encoding.keyBytes.join(" or ");
  return Either.left(
    `A public key of ${encoding.algorithm} takes ${lengths} bytes, or a DER SubjectPublicKeyInfo of exactly the form its RFC gives.`,
  );
};
