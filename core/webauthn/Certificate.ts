/** X.509 certificates (RFC 5280 section 4) of attestation keys and their authorities. */
import { Either } from "effect";
import { sameBytes } from "../codec/Bytes.ts";
import { algorithmOfSubjectPublicKeyInfo, bareKey, keyEncodings } from "../credential/SubjectPublicKeyInfo.ts";
import { Limits } from "../Limits.ts";
import type { CurveName, HashName, VerificationKey } from "./CeremonyCrypto.ts";
import { demand, Refused } from "./CeremonyRefusal.ts";
import {
  bitsOf,
  booleanOf,
  contextTagOf,
  derBytes,
  type DerValue,
  integerOctetsOf,
  octetsOf,
  oidOf,
  readDer,
  sequenceOf,
  setOf,
  smallIntegerOf,
  taggedOf,
  textOf,
  timeOf,
} from "./Der.ts";

/** Object identifiers of extensions that are understood. */
export const Extensions = {
  keyUsage: "2.5.29.15",
  subjectAlternativeName: "2.5.29.17",
  basicConstraints: "2.5.29.19",
  certificatePolicies: "2.5.29.32",
  extendedKeyUsage: "2.5.29.37",
  /** id-fido-gen-ce-aaguid. */
  aaguid: "1.3.6.1.4.1.45724.1.1.4",
  androidKeyDescription: "1.3.6.1.4.1.11129.2.1.17",
  appleNonce: "1.2.840.113635.100.8.2",
} as const;

export interface Extension {
  readonly critical: boolean;
  /** DER. */
  readonly value: Uint8Array;
}

export interface Certificate {
  readonly der: Uint8Array;
  /** What the issuer signed. */
  readonly signed: Uint8Array;
  readonly signature: Uint8Array;
  readonly signatureHash: HashName;
  readonly signatureKind: VerificationKey["kind"];
  readonly version: number;
  /** Names as DER; equal names are equal bytes. */
  readonly issuer: Uint8Array;
  readonly subject: Uint8Array;
  /** Attributes of the subject, in order. */
  readonly subjectAttributes: ReadonlyArray<readonly [oid: string, text: string]>;
  /** Unix milliseconds, both ends within. */
  readonly notBefore: number;
  readonly notAfter: number;
  readonly key: VerificationKey;
  readonly extensions: ReadonlyMap<string, Extension>;
  /** Undefined where the extension is absent. */
  readonly basicConstraints: BasicConstraints | undefined;
  /** Whether the key may sign certificates: true where nothing is said about its use. */
  readonly maySignCertificates: boolean;
}

export interface BasicConstraints {
  readonly isAuthority: boolean;
  /** Intermediate authorities that may follow; undefined is any number. */
  readonly pathLength: number | undefined;
}

/** RFC 5758 section 3.2 and RFC 4055 section 5. SHA-1 signs no certificate here. */
const signatureAlgorithms: ReadonlyMap<string, readonly [VerificationKey["kind"], HashName]> = new Map([
  ["1.2.840.10045.4.3.2", ["EC", "SHA-256"]],
  ["1.2.840.10045.4.3.3", ["EC", "SHA-384"]],
  ["1.2.840.10045.4.3.4", ["EC", "SHA-512"]],
  ["1.2.840.113549.1.1.11", ["RSA", "SHA-256"]],
  ["1.2.840.113549.1.1.12", ["RSA", "SHA-384"]],
  ["1.2.840.113549.1.1.13", ["RSA", "SHA-512"]],
]);

/**
 * Reads a certificate in DER.
 *
 * @throws Refused `certificate` for whatever is no certificate of a kind used here, `certificate_extension` for a
 *   critical extension that is not understood
 */
export const readCertificate = (der: Uint8Array): Certificate => {
  demand(der.length <= Limits.certificateBytes, "certificate", "A certificate is too long.");
  const [body, algorithm, signature, ...more] = sequenceOf(readDer(der, "a certificate"), "a certificate");
  demand(
    body !== undefined && algorithm !== undefined,
    "certificate",
    "A certificate lacks its body or its algorithm.",
  );
  demand(more.length === 0, "certificate", "Something follows the signature of a certificate.");
  const fields = [...sequenceOf(body, "the body of a certificate")];
  const versionField = taggedOf(fields[0], 0);
  if (versionField !== undefined) fields.shift();
  const [, signedAlgorithm, issuer, validity, subject, keyInfo, ...rest] = fields;
  const isWhole =
    signedAlgorithm !== undefined && issuer !== undefined && subject !== undefined && keyInfo !== undefined;
  demand(isWhole, "certificate", "A certificate lacks one of its fields.");
  const isSameAlgorithm = sameBytes(derBytes(algorithm), derBytes(signedAlgorithm));
  demand(isSameAlgorithm, "certificate", "A certificate names two signature algorithms.");
  const [signatureKind, signatureHash] = signatureAlgorithmOf(algorithm);
  const [notBefore, notAfter] = sequenceOf(validity, "the validity");
  const extensions = extensionsOf(rest);
  return {
    der,
    signed: derBytes(body),
    signature: bitsOf(signature, "the signature"),
    signatureKind,
    signatureHash,
    version: versionField === undefined ? 1 : smallIntegerOf(versionField, "the version") + 1,
    issuer: derBytes(issuer),
    subject: derBytes(subject),
    subjectAttributes: attributesOf(subject),
    notBefore: timeOf(notBefore, "the begin of the validity"),
    notAfter: timeOf(notAfter, "the end of the validity"),
    key: keyOf(derBytes(keyInfo)),
    extensions,
    basicConstraints: basicConstraintsOf(extensions.get(Extensions.basicConstraints)),
    maySignCertificates: maySignCertificates(extensions.get(Extensions.keyUsage)),
  };
};

const signatureAlgorithmOf = (algorithm: DerValue): readonly [VerificationKey["kind"], HashName] => {
  const [oid] = sequenceOf(algorithm, "the signature algorithm");
  const known = signatureAlgorithms.get(oidOf(oid, "the signature algorithm"));
  if (known === undefined) throw new Refused("certificate", "A certificate is signed by an algorithm not used here.");
  return known;
};

/** The attributes of a Name (RFC 5280 section 4.1.2.4), whatever their order and grouping. */
export const attributesOf = (name: DerValue | undefined): ReadonlyArray<readonly [oid: string, text: string]> =>
  sequenceOf(name, "a name").flatMap((relative) =>
    setOf(relative, "a part of a name").map((attribute) => {
      const [oid, text] = sequenceOf(attribute, "an attribute of a name");
      return [oidOf(oid, "the type of an attribute"), textOf(text, "the value of an attribute")] as const;
    }),
  );

/** What may follow the key: two identifiers that nobody uses, then the extensions, as RFC 5280 section 4.1 numbers them. */
const OPTIONAL_FIELDS = [1, 2, 3];

/** RFC 5280 section 4.1.2.9: `[3] EXPLICIT SEQUENCE OF Extension`, each kind once. */
const extensionsOf = (rest: ReadonlyArray<DerValue>): ReadonlyMap<string, Extension> => {
  const tags = rest.map((value) => contextTagOf(value) ?? 0);
  const isInOrder = tags.every((tag, index) => OPTIONAL_FIELDS.includes(tag) && tag > (tags[index - 1] ?? 0));
  demand(isInOrder, "certificate", "A certificate has fields that are unknown, out of order or there twice.");
  const extensions = new Map<string, Extension>();
  const list = taggedOf(rest.at(-1), 3);
  for (const item of list === undefined ? [] : sequenceOf(list, "the extensions")) {
    const [type, ...others] = sequenceOf(item, "an extension");
    const oid = oidOf(type, "the type of an extension");
    demand(!extensions.has(oid), "certificate", "A certificate has an extension twice.");
    demand(others.length <= 2, "certificate", "Something follows the value of an extension.");
    const isMarked = others.length === 2;
    const critical = isMarked && booleanOf(others[0], "the criticality of an extension");
    const isUnderstood = understood.has(oid);
    demand(isUnderstood || !critical, "certificate_extension", "A critical extension is not understood.");
    extensions.set(oid, { critical, value: octetsOf(others.at(-1), "the value of an extension") });
  }
  return extensions;
};

const understood: ReadonlySet<string> = new Set(Object.values(Extensions));

/** RFC 5280 section 4.2.1.9. */
const basicConstraintsOf = (extension: Extension | undefined): BasicConstraints | undefined => {
  if (extension === undefined) return undefined;
  const fields = [...sequenceOf(readDer(extension.value, "the basic constraints"), "the basic constraints")];
  const isStated = fields[0]?.idBlock.tagNumber === BOOLEAN_TAG;
  const isAuthority = isStated && booleanOf(fields.shift(), "the authority of a certificate");
  const pathLength = fields.length === 0 ? undefined : smallIntegerOf(fields.shift(), "the path length");
  demand(fields.length === 0, "certificate", "Something follows the path length.");
  return { isAuthority, pathLength };
};
const BOOLEAN_TAG = 1;

/** RFC 5280 section 4.2.1.3: bit 5 is keyCertSign, counted from the most significant. */
const maySignCertificates = (extension: Extension | undefined): boolean => {
  if (extension === undefined) return true;
  const [bits = 0] = bitsOf(readDer(extension.value, "the key usage"), "the key usage");
  return (bits & 0x04) !== 0;
};

const ecKeys: ReadonlyArray<readonly [CurveName, (typeof keyEncodings)["P256" | "P384" | "P521"]]> = [
  ["P-256", keyEncodings.P256],
  ["P-384", keyEncodings.P384],
  ["P-521", keyEncodings.P521],
];

/** RFC 5480 with a named curve and an uncompressed point, or RFC 3279 section 2.3.1. */
const keyOf = (subjectPublicKeyInfo: Uint8Array): VerificationKey => {
  const named = algorithmOfSubjectPublicKeyInfo(subjectPublicKeyInfo);
  const known = ecKeys.find(([, { algorithm }]) => algorithm === named);
  if (known === undefined) return rsaKeyOf(subjectPublicKeyInfo);
  const [curve, encoding] = known;
  const point = Either.getOrThrow(bareKey(encoding, subjectPublicKeyInfo));
  demand(point[0] === UNCOMPRESSED, "certificate", "The key of a certificate is not an uncompressed point.");
  return { kind: "EC", curve, point };
};
const UNCOMPRESSED = 0x04;

const RSA_ENCRYPTION = "1.2.840.113549.1.1.1";
const LEAST_MODULUS_BYTES = 256;
const MOST_MODULUS_BYTES = 1024;
const MOST_EXPONENT_BYTES = 4;

const rsaKeyOf = (subjectPublicKeyInfo: Uint8Array): VerificationKey => {
  const [algorithm, bits] = sequenceOf(readDer(subjectPublicKeyInfo, "a public key"), "a public key");
  const [oid] = sequenceOf(algorithm, "the algorithm of a public key");
  const isRsa = oidOf(oid, "the algorithm of a public key") === RSA_ENCRYPTION;
  demand(isRsa, "certificate", "The key of a certificate is neither RSA nor a point of P-256, P-384 or P-521.");
  const key = sequenceOf(readDer(bitsOf(bits, "an RSA key"), "an RSA key"), "an RSA key");
  const modulus = positive(integerOctetsOf(key[0], "the modulus"));
  const exponent = positive(integerOctetsOf(key[1], "the exponent"));
  const isModulus = modulus.length >= LEAST_MODULUS_BYTES && modulus.length <= MOST_MODULUS_BYTES;
  const isOdd = ((modulus.at(-1) ?? 0) & (exponent.at(-1) ?? 0) & 1) === 1;
  const isExponent = exponent.length <= MOST_EXPONENT_BYTES && (exponent.length > 1 || (exponent[0] ?? 0) >= 3);
  demand(key.length === 2 && isModulus && isOdd && isExponent, "certificate", "The RSA key of a certificate is weak.");
  return { kind: "RSA", modulus, exponent };
};

/** A positive integer without the octet that only holds its sign; nothing for a negative one. */
const positive = (octets: Uint8Array): Uint8Array => {
  const [first = 0x80] = octets;
  if (first >= 0x80) return new Uint8Array(0);
  return first === 0 ? octets.subarray(1) : octets;
};
