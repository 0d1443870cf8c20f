/** X.509 certificates (RFC 5280 section 4) of attestation keys and their authorities. */
import { Either } from "effect";
import { compareBytes, sameBytes } from "../codec/Bytes.ts";
import {
  algorithmOfSubjectPublicKeyInfo,
  bareKey,
  type KeyEncoding,
  keyEncodings,
} from "../credential/SubjectPublicKeyInfo.ts";
import { normalizeP256, normalizeP384, normalizeP521 } from "../credential/Weierstrass.ts";
import { Limits } from "../base/Limits.ts";
import type { CurveName, HashName, VerificationKey } from "./CeremonyCrypto.ts";
import { demand, FailedCheck } from "./CeremonyRefusal.ts";
import {
  areImplicitBits,
  bitsOf,
  contextTagOf,
  derBytes,
  type DerValue,
  flagsOf,
  integerOctetsOf,
  isNull,
  octetsOf,
  oidOf,
  readDer,
  sequenceOf,
  setOf,
  smallIntegerOf,
  taggedOf,
  textOf,
  timeOf,
  trueOf,
  ValueBudget,
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
  /**
   * Reads the extension's value, which counts among the values of the certificate.
   *
   * @throws Refused `certificate`
   */
  readonly read: (name: string) => DerValue;
}

export interface X509Certificate {
  readonly der: Uint8Array;
  /** The part that the issuer signed. */
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
  /** Whether the key may sign certificates: true where its use is not restricted. */
  readonly maySignCertificates: boolean;
}

export interface BasicConstraints {
  readonly isAuthority: boolean;
  /** Intermediate authorities that may follow; undefined means any number. */
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
 * @throws Refused `certificate` for anything but a certificate of a kind used here, `certificate_point` for a key that
 *   is no point of its curve, `certificate_extension` for a critical extension that is not understood
 */
export const readCertificate = (der: Uint8Array): X509Certificate => {
  demand(der.length <= Limits.certificateBytes, "certificate", "A certificate is too long.");
  const budget = new ValueBudget();
  const [body, algorithm, signature, ...more] = sequenceOf(readDer(der, "a certificate", budget), "a certificate");
  demand(
    body !== undefined && algorithm !== undefined,
    "certificate",
    "A certificate lacks its body or its algorithm.",
  );
  demand(more.length === 0, "certificate", "Something follows the signature of a certificate.");
  const fields = [...sequenceOf(body, "the body of a certificate")];
  const versionField = taggedOf(fields[0], 0, "the version");
  if (versionField !== undefined) fields.shift();
  const version = versionOf(versionField);
  const [serial, signedAlgorithm, issuer, validity, subject, keyInfo, ...rest] = fields;
  const isWhole =
    signedAlgorithm !== undefined && issuer !== undefined && subject !== undefined && keyInfo !== undefined;
  demand(isWhole, "certificate", "A certificate lacks one of its fields.");
  checkSerialNumber(serial);
  const isSameAlgorithm = sameBytes(derBytes(algorithm), derBytes(signedAlgorithm));
  demand(isSameAlgorithm, "certificate", "A certificate names two signature algorithms.");
  const [signatureKind, signatureHash] = signatureAlgorithmOf(algorithm);
  // Nobody needs the attributes of an issuer, but it must be a valid name all the same.
  attributesOf(issuer);
  const [notBefore, notAfter, ...laterTimes] = sequenceOf(validity, "the validity");
  demand(laterTimes.length === 0, "certificate", "The validity of a certificate is not two times.");
  const extensions = extensionsOf(rest, version, budget);
  return {
    der,
    signed: derBytes(body),
    signature: bitsOf(signature, "the signature"),
    signatureKind,
    signatureHash,
    version,
    issuer: derBytes(issuer),
    subject: derBytes(subject),
    subjectAttributes: attributesOf(subject),
    notBefore: timeOf(notBefore, "the begin of the validity"),
    notAfter: timeOf(notAfter, "the end of the validity"),
    key: keyOf(keyInfo, budget),
    extensions,
    basicConstraints: basicConstraintsOf(extensions.get(Extensions.basicConstraints)),
    maySignCertificates: maySignCertificates(extensions.get(Extensions.keyUsage)),
  };
};

/** RFC 5280 section 4.1.2.1: versions 1 to 3, encoded as one less; version 1 only by absence (X.690 section 11.5). */
const versionOf = (field: DerValue | undefined): number => {
  if (field === undefined) return 1;
  const version = smallIntegerOf(field, "the version") + 1;
  const isKnown = version === 2 || version === 3;
  demand(isKnown, "certificate", "The version of a certificate is written out as 1, or is none that exists.");
  return version;
};

/** RFC 5280 section 4.1.2.2, which asks readers to put up with numbers that are not positive. */
const checkSerialNumber = (serial: DerValue | undefined): void => {
  const octets = integerOctetsOf(serial, "the serial number");
  // An octet that only holds the sign does not count as part of the number.
  const length = octets.length - (octets[0] === 0 ? 1 : 0);
  demand(length <= SERIAL_OCTETS, "certificate", "The serial number of a certificate is longer than 20 octets.");
};
const SERIAL_OCTETS = 20;

/** ECDSA has no parameters (RFC 5758 section 3.2); RSA has a null, or nothing (RFC 4055 section 5). */
const signatureAlgorithmOf = (algorithm: DerValue): readonly [VerificationKey["kind"], HashName] => {
  const [oid, ...parameters] = sequenceOf(algorithm, "the signature algorithm");
  const known = signatureAlgorithms.get(oidOf(oid, "the signature algorithm"));
  if (known === undefined)
    throw new FailedCheck("certificate", "A certificate is signed by an algorithm not used here.");
  const [kind] = known;
  const areKnown = parameters.length <= (kind === "EC" ? 0 : 1) && parameters.every(isNull);
  demand(areKnown, "certificate", "The parameters of a certificate's signature algorithm are not those it has.");
  return known;
};

/**
 * The attributes of a Name (RFC 5280 section 4.1.2.4), whatever their order and grouping. Those of one part are in the
 * order of their octets (X.690 section 11.6).
 */
export const attributesOf = (name: DerValue | undefined): ReadonlyArray<readonly [oid: string, text: string]> =>
  sequenceOf(name, "a name").flatMap((relative) => {
    const attributes = setOf(relative, "a part of a name");
    demand(attributes.length > 0, "certificate", "A part of a name is empty.");
    const isInOrder = attributes.every((each, index) => {
      const before = attributes[index - 1];
      return before === undefined || compareBytes(derBytes(before), derBytes(each)) <= 0;
    });
    demand(isInOrder, "certificate", "A part of a name is not in the order of DER.");
    return attributes.map(attributeOf);
  });

const attributeOf = (attribute: DerValue): readonly [oid: string, text: string] => {
  const [oid, text, ...others] = sequenceOf(attribute, "an attribute of a name");
  demand(others.length === 0, "certificate", "An attribute of a name is not a type and a value.");
  return [oidOf(oid, "the type of an attribute"), textOf(text, "the value of an attribute")];
};

/** What may follow the key: two unused identifiers, then the extensions, as RFC 5280 section 4.1 numbers them. */
const IDENTIFIERS = [1, 2];
const EXTENSIONS = 3;
const OPTIONAL_FIELDS = [...IDENTIFIERS, EXTENSIONS];

/** RFC 5280 section 4.1.2.9: `[3] EXPLICIT SEQUENCE OF Extension`, each kind once. */
const extensionsOf = (
  rest: ReadonlyArray<DerValue>,
  version: number,
  budget: ValueBudget,
): ReadonlyMap<string, Extension> => {
  const tags = rest.map((value) => contextTagOf(value) ?? 0);
  const isInOrder = tags.every((tag, index) => OPTIONAL_FIELDS.includes(tag) && tag > (tags[index - 1] ?? 0));
  demand(isInOrder, "certificate", "A certificate has fields that are unknown, out of order or there twice.");
  const last = tags.at(-1) ?? 0;
  const isOfVersion = last === 0 || version === 3 || (version === 2 && last !== EXTENSIONS);
  demand(isOfVersion, "certificate", "A certificate has fields that its version does not have.");
  const identifiers = rest.filter((_, index) => tags[index] !== EXTENSIONS);
  const areBits = identifiers.every(areImplicitBits);
  demand(areBits, "certificate", "An identifier of a certificate is not a bit string.");
  const list = taggedOf(rest.at(-1), EXTENSIONS, "the extensions");
  const items = list === undefined ? undefined : sequenceOf(list, "the extensions");
  demand(items?.length !== 0, "certificate", "A certificate has a list of extensions that is empty.");
  const extensions = new Map<string, Extension>();
  for (const item of items ?? []) {
    const [type, ...others] = sequenceOf(item, "an extension");
    const oid = oidOf(type, "the type of an extension");
    demand(!extensions.has(oid), "certificate", "A certificate has an extension twice.");
    demand(others.length <= 2, "certificate", "Something follows the value of an extension.");
    const critical = others.length === 2 && trueOf(others[0], "the criticality of an extension");
    const isUnderstood = understood.has(oid);
    demand(isUnderstood || !critical, "certificate_extension", "A critical extension is not understood.");
    const value = octetsOf(others.at(-1), "the value of an extension");
    extensions.set(oid, { critical, read: (name) => readDer(value, name, budget) });
  }
  return extensions;
};

const understood: ReadonlySet<string> = new Set(Object.values(Extensions));

/** RFC 5280 section 4.2.1.9. */
const basicConstraintsOf = (extension: Extension | undefined): BasicConstraints | undefined => {
  if (extension === undefined) return undefined;
  const fields = [...sequenceOf(extension.read("the basic constraints"), "the basic constraints")];
  const isStated = fields[0]?.idBlock.tagNumber === BOOLEAN_TAG;
  const isAuthority = isStated && trueOf(fields.shift(), "the authority of a certificate");
  const pathLength = fields.length === 0 ? undefined : smallIntegerOf(fields.shift(), "the path length");
  demand(fields.length === 0, "certificate", "Something follows the path length.");
  return { isAuthority, pathLength };
};
const BOOLEAN_TAG = 1;

/** RFC 5280 section 4.2.1.3: bit 5 is keyCertSign, counted from the most significant. */
const maySignCertificates = (extension: Extension | undefined): boolean => {
  if (extension === undefined) return true;
  const [bits = 0] = flagsOf(extension.read("the key usage"), "the key usage");
  return (bits & 0x04) !== 0;
};

interface CurveKeys {
  readonly curve: CurveName;
  readonly encoding: KeyEncoding;
  readonly normalize: typeof normalizeP256;
}

const curveKeys: ReadonlyArray<CurveKeys> = [
  { curve: "P-256", encoding: keyEncodings.P256, normalize: normalizeP256 },
  { curve: "P-384", encoding: keyEncodings.P384, normalize: normalizeP384 },
  { curve: "P-521", encoding: keyEncodings.P521, normalize: normalizeP521 },
];

/** RFC 5480 with a named curve and an uncompressed point on it, or RFC 3279 section 2.3.1. */
const keyOf = (keyInfo: DerValue, budget: ValueBudget): VerificationKey => {
  const subjectPublicKeyInfo = derBytes(keyInfo);
  const named = algorithmOfSubjectPublicKeyInfo(subjectPublicKeyInfo);
  const known = curveKeys.find(({ encoding }) => encoding.algorithm === named);
  if (known === undefined) return rsaKeyOf(keyInfo, budget);
  const { curve, encoding, normalize } = known;
  const point = Either.getOrThrow(bareKey(encoding, subjectPublicKeyInfo));
  demand(point[0] === UNCOMPRESSED, "certificate", "The key of a certificate is not an uncompressed point.");
  const isOnCurve = Either.isRight(normalize(point));
  demand(isOnCurve, "certificate_point", "The key of a certificate is no point of its curve.");
  return { kind: "EC", curve, point };
};
const UNCOMPRESSED = 0x04;

const RSA_ENCRYPTION = "1.2.840.113549.1.1.1";
const LEAST_MODULUS_BYTES = 256;
const MOST_MODULUS_BYTES = 1024;
const MOST_EXPONENT_BYTES = 4;

const rsaKeyOf = (keyInfo: DerValue, budget: ValueBudget): VerificationKey => {
  const [algorithm, bits, ...others] = sequenceOf(keyInfo, "a public key");
  const [oid, ...parameters] = sequenceOf(algorithm, "the algorithm of a public key");
  const isRsa = oidOf(oid, "the algorithm of a public key") === RSA_ENCRYPTION;
  demand(isRsa, "certificate", "The key of a certificate is neither RSA nor a point of P-256, P-384 or P-521.");
  const isFormed = others.length === 0 && parameters.length === 1 && parameters.every(isNull);
  demand(isFormed, "certificate", "The key of a certificate is not in the form of RFC 3279.");
  const key = sequenceOf(readDer(bitsOf(bits, "an RSA key"), "an RSA key", budget), "an RSA key");
  const modulus = positive(integerOctetsOf(key[0], "the modulus"));
  const exponent = positive(integerOctetsOf(key[1], "the exponent"));
  const isModulus = modulus.length >= LEAST_MODULUS_BYTES && modulus.length <= MOST_MODULUS_BYTES;
  const isOdd = ((modulus.at(-1) ?? 0) & (exponent.at(-1) ?? 0) & 1) === 1;
  const isExponent = exponent.length <= MOST_EXPONENT_BYTES && (exponent.length > 1 || (exponent[0] ?? 0) >= 3);
  demand(key.length === 2 && isModulus && isOdd && isExponent, "certificate", "The RSA key of a certificate is weak.");
  return { kind: "RSA", modulus, exponent };
};

/** A positive integer without the octet that only holds its sign; empty for a negative one. */
const positive = (octets: Uint8Array): Uint8Array => {
  const [first = 0x80] = octets;
  if (first >= 0x80) return new Uint8Array(0);
  return first === 0 ? octets.subarray(1) : octets;
};
