/** Values for which DER and RFC 5280 allow one form: each other form is refused, next to the one that is read. */
import { p256, p384, p521 } from "@noble/curves/nist.js";
import { concatBytes } from "@noble/hashes/utils.js";
import { describe, expect, it } from "vitest";
import { secretKeyOf } from "../../properties/webauthn/Authenticator.ts";
import { signerOf } from "../../properties/webauthn/Certificates.ts";
import {
  bits,
  boolean,
  der,
  integer,
  name,
  octets,
  oid,
  sequence,
  set,
  tagged,
  time,
  utf8,
} from "../../properties/webauthn/DerWriter.ts";
import { refusalOf } from "../../properties/webauthn/RefusalOf.ts";
import { keyEncodings, subjectPublicKeyInfoPrefix } from "../credential/SubjectPublicKeyInfo.ts";
import { readCertificate } from "./Certificate.ts";
import { trustRootFault } from "./CertificateChain.ts";

const bytes = (...values: ReadonlyArray<number>): Uint8Array => Uint8Array.from(values);
const zeros = (length: number): Uint8Array => new Uint8Array(length);
const NULL = der(0x05);
const CN = oid("2.5.4.3");

/** Every part of a certificate, in DER. */
const honest = {
  version: tagged(0, integer(2)),
  serial: integer(1),
  algorithm: sequence(oid("1.2.840.10045.4.3.2")),
  issuer: name(["2.5.4.3", "Tested"]),
  validity: sequence(time("240101000000Z"), time("20500101000000Z")),
  subject: name(["2.5.4.3", "Tested"]),
  key: signerOf(secretKeyOf("Tested")).subjectPublicKeyInfo,
  /** The part behind the key. */
  behind: [] as ReadonlyArray<Uint8Array>,
  signature: bits(bytes(1)),
};
type Part = keyof typeof honest;

const certificateOf = (changes: Partial<typeof honest>): Uint8Array => {
  const { version, serial, algorithm, issuer, validity, subject, key, behind, signature } = { ...honest, ...changes };
  const body = sequence(version, serial, algorithm, issuer, validity, subject, key, ...behind);
  return sequence(body, algorithm, signature);
};
const faultOf = (changes: Partial<typeof honest>): string | undefined =>
  refusalOf(() => readCertificate(certificateOf(changes)));

const [ECDSA, RSA] = ["1.2.840.10045.4.3.2", "1.2.840.113549.1.1.11"].map(oid) as [Uint8Array, Uint8Array];
const attribute = (value: Uint8Array): Uint8Array => sequence(set(sequence(CN, value)));
const extensions = (...all: ReadonlyArray<Uint8Array>) => ({ behind: [tagged(3, sequence(...all))] });
const extension = (...parts: ReadonlyArray<Uint8Array>) => extensions(sequence(...parts));
const basic = (value: Uint8Array) => extension(oid("2.5.29.19"), boolean(true), octets(value));
const unknown = sequence(oid("1.2.3"), octets(NULL));

const rsaNumbers = sequence(der(0x02, concatBytes(bytes(0, 0x80), zeros(254), bytes(1))), der(0x02, bytes(1, 0, 1)));
const rsaKey = (parameters: ReadonlyArray<Uint8Array>, ...rest: ReadonlyArray<Uint8Array>): Uint8Array =>
  sequence(sequence(oid("1.2.840.113549.1.1.1"), ...parameters), ...rest);

/** Two parts of one name, in the order of their octets and in the other one. */
const [first, second] = [sequence(CN, utf8("a")), sequence(CN, utf8("b"))];

describe("the one form of a certificate", () => {
  it.each<readonly [what: string, read: Partial<typeof honest>, refused: Partial<typeof honest>, sentence: string]>([
    [
      "one value in [0]",
      {},
      { version: tagged(0, integer(2), integer(2)) },
      "There is not exactly one value in the tag of the version.",
    ],
    ["a value in [0]", {}, { version: tagged(0) }, "There is not exactly one value in the tag of the version."],
    [
      "[0] around an integer",
      {},
      { version: der(0x80, bytes(2)) },
      "There is not exactly one value in the tag of the version.",
    ],
    [
      "version 1 by its absence",
      { version: zeros(0) },
      { version: tagged(0, integer(0)) },
      "The version of a certificate is written out as 1, or is none that exists.",
    ],
    [
      "a version that exists",
      {},
      { version: tagged(0, integer(3)) },
      "The version of a certificate is written out as 1, or is none that exists.",
    ],
    [
      "one value in [3]",
      { behind: [tagged(3, sequence(unknown))] },
      { behind: [tagged(3, sequence(unknown), NULL)] },
      "There is not exactly one value in the tag of the extensions.",
    ],
    [
      "[3] around a sequence",
      { behind: [tagged(3, sequence(unknown))] },
      { behind: [der(0x83, bytes(0))] },
      "There is not exactly one value in the tag of the extensions.",
    ],
    [
      "at least one extension",
      extensions(unknown),
      extensions(),
      "A certificate has a list of extensions that is empty.",
    ],
    [
      "extensions from version 3 on",
      extensions(unknown),
      { ...extensions(unknown), version: tagged(0, integer(1)) },
      "A certificate has fields that its version does not have.",
    ],
    [
      "identifiers from version 2 on",
      { version: tagged(0, integer(1)), behind: [der(0x81, bytes(0))] },
      { version: zeros(0), behind: [der(0x81, bytes(0))] },
      "A certificate has fields that its version does not have.",
    ],
    [
      "identifiers that are bits",
      { behind: [der(0x81, bytes(0, 7))] },
      { behind: [tagged(1, octets(bytes(7)))] },
      "An identifier of a certificate is not a bit string.",
    ],
    [
      "identifiers whose unused bits are zero",
      { behind: [der(0x82, bytes(1, 0xfe))] },
      { behind: [der(0x82, bytes(1, 0xff))] },
      "An identifier of a certificate is not a bit string.",
    ],
    [
      "a serial number that is an integer",
      {},
      { serial: octets(bytes(1)) },
      "There is no integer as the serial number.",
    ],
    [
      "a serial number of at most 20 octets",
      { serial: der(0x02, bytes(0, 0x80), zeros(19)) },
      { serial: der(0x02, bytes(1), zeros(20)) },
      "The serial number of a certificate is longer than 20 octets.",
    ],
    [
      "ECDSA without parameters",
      { algorithm: sequence(ECDSA) },
      { algorithm: sequence(ECDSA, NULL) },
      "The parameters of a certificate's signature algorithm are not those it has.",
    ],
    [
      "RSA with a null or nothing",
      { algorithm: sequence(RSA) },
      { algorithm: sequence(RSA, octets(bytes(1))) },
      "The parameters of a certificate's signature algorithm are not those it has.",
    ],
    [
      "one parameter of RSA",
      { algorithm: sequence(RSA, NULL) },
      { algorithm: sequence(RSA, NULL, NULL) },
      "The parameters of a certificate's signature algorithm are not those it has.",
    ],
    [
      "two times",
      {},
      { validity: sequence(time("240101000000Z"), time("20500101000000Z"), NULL) },
      "The validity of a certificate is not two times.",
    ],
    [
      "a signature of whole octets",
      {},
      { signature: der(0x03, bytes(1, 0x80)) },
      "There are bits left over in the signature.",
    ],
    [
      "an RSA key of whole octets",
      { key: rsaKey([NULL], bits(rsaNumbers)) },
      { key: rsaKey([NULL], der(0x03, bytes(1), rsaNumbers.subarray(0, -1), bytes(0x02))) },
      "There are bits left over in an RSA key.",
    ],
    [
      "an RSA key with a null",
      { key: rsaKey([NULL], bits(rsaNumbers)) },
      { key: rsaKey([], bits(rsaNumbers)) },
      "The key of a certificate is not in the form of RFC 3279.",
    ],
    [
      "one null",
      { key: rsaKey([NULL], bits(rsaNumbers)) },
      { key: rsaKey([NULL, NULL], bits(rsaNumbers)) },
      "The key of a certificate is not in the form of RFC 3279.",
    ],
    [
      "an RSA key alone",
      { key: rsaKey([NULL], bits(rsaNumbers)) },
      { key: rsaKey([NULL], bits(rsaNumbers), NULL) },
      "The key of a certificate is not in the form of RFC 3279.",
    ],
    [
      "criticality where it is true",
      extension(oid("2.5.29.32"), boolean(true), octets(NULL)),
      extension(oid("2.5.29.32"), boolean(false), octets(NULL)),
      "There is the criticality of an extension written out where it is false.",
    ],
    [
      "authority where it is true",
      basic(sequence()),
      basic(sequence(boolean(false))),
      "There is the authority of a certificate written out where it is false.",
    ],
  ])("is %s", (_, read, refused, sentence) => {
    expect([faultOf(read), faultOf(refused)]).toEqual([undefined, `certificate: ${sentence}`]);
  });

  // Done by authorities in the field, DER or not.
  it.each([[bytes(0, 0x86)], [bytes(0, 0x80, 0)], [bytes(0, 0)]])(
    "may have a key usage that ends in zero bits",
    (use) => {
      expect(faultOf(extension(oid("2.5.29.15"), boolean(true), octets(der(0x03, use))))).toBeUndefined();
    },
  );

  // RFC 5280 section 4.1.2.2: authorities must not issue these, and readers should put up with them.
  it.each([[0], [0xff]])("may have a serial number that is not positive", (octet) => {
    expect(faultOf({ serial: der(0x02, bytes(octet)) })).toBeUndefined();
  });
});

describe.each<Part>(["issuer", "subject"])("the name of the %s of a certificate", (part) => {
  it.each<readonly [what: string, read: Uint8Array, refused: Uint8Array, sentence: string]>([
    ["a sequence", sequence(), octets(bytes(1)), "There is no sequence as a name."],
    [
      "UTF-8",
      attribute(utf8("Ä€𝄞")),
      attribute(der(0x0c, bytes(0xc3, 0x28))),
      "There is text that is not UTF-8 as the value of an attribute.",
    ],
    [
      "UTF-8 without surrogates",
      attribute(der(0x0c, bytes(0xef, 0xbf, 0xbd))),
      attribute(der(0x0c, bytes(0xed, 0xa0, 0x80))),
      "There is text that is not UTF-8 as the value of an attribute.",
    ],
    [
      "UTF-8 in its shortest form",
      attribute(der(0x0c, bytes(0x2f))),
      attribute(der(0x0c, bytes(0xc0, 0xaf))),
      "There is text that is not UTF-8 as the value of an attribute.",
    ],
    [
      "printable",
      attribute(der(0x13, bytes(0x41))),
      attribute(der(0x13, bytes(0xc4))),
      "There is text beyond ASCII as the value of an attribute.",
    ],
    [
      "IA5",
      attribute(der(0x16, bytes(0x40))),
      attribute(der(0x16, bytes(0x80))),
      "There is text beyond ASCII as the value of an attribute.",
    ],
    [
      "a type and a value",
      attribute(utf8("a")),
      sequence(set(sequence(CN, utf8("a"), NULL))),
      "An attribute of a name is not a type and a value.",
    ],
    ["parts that hold something", attribute(utf8("a")), sequence(set()), "A part of a name is empty."],
    [
      "parts in the order of their octets",
      sequence(set(first, second)),
      sequence(set(second, first)),
      "A part of a name is not in the order of DER.",
    ],
  ])("is %s", (_, read, refused, sentence) => {
    expect([faultOf({ [part]: read }), faultOf({ [part]: refused })]).toEqual([undefined, `certificate: ${sentence}`]);
  });
});

describe("the point of a certificate's key", () => {
  const curves = [
    ["P256", p256],
    ["P384", p384],
    ["P521", p521],
  ] as const;

  it.each(curves)("lies on %s", (algorithm, curve) => {
    const point = curve.Point.BASE.multiply(7n).toBytes(false);
    const beside = point.slice();
    beside[beside.length - 1] = (beside.at(-1) ?? 0) ^ 1;
    const keyOf = (of: Uint8Array) => concatBytes(subjectPublicKeyInfoPrefix(keyEncodings[algorithm], of.length), of);
    expect(faultOf({ key: keyOf(point) })).toBeUndefined();
    expect(faultOf({ key: keyOf(beside) })).toBe(
      "certificate_point: The key of a certificate is no point of its curve.",
    );
    // A root that would refuse every registration is found before the peer starts.
    expect(trustRootFault(certificateOf({ key: keyOf(point) }))).toBeUndefined();
    expect(trustRootFault(certificateOf({ key: keyOf(beside) }))).toBe(
      "The key of a certificate is no point of its curve.",
    );
  });
});

describe("the values of a certificate", () => {
  const attributes = (count: number): Uint8Array =>
    name(...Array.from({ length: count }, () => ["2.5.4.3", "a"] as const));
  /** So many values, filled up in the list of extensions: three for an extension that no check reads. */
  const TOO_MANY = "certificate: A certificate has more than 256 values, those in its extensions among them.";

  it("are at most 256", () => {
    expect(faultOf({ subject: attributes(58) })).toBeUndefined();
    expect(faultOf({ subject: attributes(59) })).toBe(TOO_MANY);
  });

  it("are counted before any of them is built", () => {
    expect(faultOf({ subject: attributes(59), serial: octets(bytes(1)) })).toBe(TOO_MANY);
  });

  it("are counted with those in extensions that are read", () => {
    const uses = (count: number) => basic(sequence(boolean(true), ...Array.from({ length: count }, () => integer(1))));
    expect(faultOf(uses(200))).toBe("certificate: Something follows the path length.");
    expect(faultOf(uses(240))).toBe(TOO_MANY);
  });
});
