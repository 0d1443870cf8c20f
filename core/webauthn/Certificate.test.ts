import { concatBytes } from "@noble/hashes/utils.js";
import { describe, expect, it } from "vitest";
import {
  authorityOf,
  basicConstraints,
  type Changes,
  keyUsage,
  signerOf,
} from "../../properties/webauthn/Certificates.ts";
import { secretKeyOf } from "../../properties/webauthn/Authenticator.ts";
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
} from "../../properties/webauthn/DerWriter.ts";
import { refusalOf } from "../../properties/webauthn/RefusalOf.ts";
import { Limits } from "../base/Limits.ts";
import { readCertificate } from "./Certificate.ts";

const certificateWith = (changes: Changes): Uint8Array => authorityOf("Tested", undefined, changes).certificate;

const faultOf = (certificate: Uint8Array): string | undefined => refusalOf(() => readCertificate(certificate));

const ecdsa = sequence(oid("1.2.840.10045.4.3.2"));
const own = name(["2.5.4.3", "Tested"]);
const validity = sequence(time("240101000000Z"), time("20500101000000Z"));
const { subjectPublicKeyInfo } = signerOf(secretKeyOf("Tested"));

/** The fields of a body in their order, after the version. */
const fields = [integer(1), ecdsa, own, validity, own, subjectPublicKeyInfo];

/** No check looks at the signature here. */
const around = (body: Uint8Array): Uint8Array => sequence(body, ecdsa, bits(Uint8Array.of(0)));

const version3 = tagged(0, integer(2));
const withFields = (...more: ReadonlyArray<Uint8Array>): Uint8Array => around(sequence(version3, ...fields, ...more));

const extension = (...parts: ReadonlyArray<Uint8Array>): Uint8Array => tagged(3, sequence(sequence(...parts)));
const unknown = oid("1.2.3");
const OUT_OF_ORDER = "A certificate has fields that are unknown, out of order or there twice.";

describe("a certificate", () => {
  it("is read with its fields", () => {
    const { version, subjectAttributes, notBefore, notAfter, key, maySignCertificates } = readCertificate(withFields());
    expect({ version, subjectAttributes, notBefore, notAfter, maySignCertificates, kind: key.kind }).toEqual({
      version: 3,
      subjectAttributes: [["2.5.4.3", "Tested"]],
      notBefore: 1_704_067_200_000,
      notAfter: 2_524_608_000_000,
      maySignCertificates: true,
      kind: "EC",
    });
  });

  it("has at most 16 KiB", () => {
    const without = withFields(extension(unknown, octets(new Uint8Array(1_000)))).length - 1_000;
    const filled = (length: number): Uint8Array =>
      withFields(extension(unknown, octets(new Uint8Array(length - without))));
    expect(filled(Limits.certificateBytes).length).toBe(Limits.certificateBytes);
    expect(faultOf(filled(Limits.certificateBytes))).toBeUndefined();
    expect(faultOf(filled(Limits.certificateBytes + 1))).toBe("certificate: A certificate is too long.");
  });

  it.each<readonly [string, Uint8Array, string]>([
    ["nothing", sequence(), "A certificate lacks its body or its algorithm."],
    ["a body alone", sequence(sequence(version3, ...fields)), "A certificate lacks its body or its algorithm."],
    ["no signature", sequence(sequence(version3, ...fields), ecdsa), "There is no bit string as the signature."],
    [
      "something behind the signature",
      sequence(sequence(version3, ...fields), ecdsa, bits(Uint8Array.of(0)), bits(Uint8Array.of(0))),
      "Something follows the signature of a certificate.",
    ],
    ...fields.map(
      (_, count) =>
        [
          `${count} of its six fields`,
          around(sequence(version3, ...fields.slice(0, count))),
          "A certificate lacks one of its fields.",
        ] as const,
    ),
    ["a field of another tag", withFields(tagged(4, sequence())), OUT_OF_ORDER],
    ["a field of no tag", withFields(integer(5)), OUT_OF_ORDER],
    ["extensions of another class", withFields(der(0x63, sequence())), OUT_OF_ORDER],
    ["extensions twice", withFields(tagged(3, sequence()), tagged(3, sequence())), OUT_OF_ORDER],
    ["an identifier behind the extensions", withFields(tagged(3, sequence()), tagged(1)), OUT_OF_ORDER],
    ["a version behind the key", withFields(tagged(0, integer(2))), OUT_OF_ORDER],
    [
      "an extension that goes on",
      withFields(extension(unknown, boolean(false), octets(new Uint8Array(0)), octets(new Uint8Array(0)))),
      "Something follows the value of an extension.",
    ],
    [
      "an extension without a value",
      withFields(extension(unknown)),
      "There is no octet string as the value of an extension.",
    ],
    [
      "an extension that is marked by a number",
      withFields(extension(unknown, integer(1), octets(new Uint8Array(0)))),
      "There is no boolean as the criticality of an extension.",
    ],
    [
      "an attribute of a name that is no text",
      around(
        sequence(
          version3,
          integer(1),
          ecdsa,
          own,
          validity,
          sequence(set(sequence(oid("2.5.4.3"), integer(1)))),
          subjectPublicKeyInfo,
        ),
      ),
      "There is no text as the value of an attribute.",
    ],
  ])("is none with %s", (_, certificate, detail) => {
    expect(faultOf(certificate)).toBe(`certificate: ${detail}`);
  });

  it("may have the identifiers that nobody uses, in their order", () => {
    const identifiers = [der(0x81, Uint8Array.of(0)), der(0x82, Uint8Array.of(0))];
    expect(faultOf(withFields(...identifiers, extension(unknown, octets(new Uint8Array(0)))))).toBeUndefined();
    expect(faultOf(withFields(...identifiers.toReversed()))).toBe(`certificate: ${OUT_OF_ORDER}`);
  });
});

describe("what a certificate may do", () => {
  it.each([
    ["whatever nobody forbids", [], true],
    ["sign certificates", [keyUsage(0x04, 2)], true],
    ["sign other things only", [keyUsage(0x80, 7)], false],
    ["nothing", [{ type: "2.5.29.15", value: der(0x03, Uint8Array.of(0)) }], false],
  ])("is %s", (_, extensions, may) => {
    expect(readCertificate(certificateWith({ extensions })).maySignCertificates).toBe(may);
  });

  it.each([
    ["absent", [], undefined],
    ["no authority", [basicConstraints(false)], { isAuthority: false, pathLength: undefined }],
    ["no authority with a length", [basicConstraints(false, 1)], { isAuthority: false, pathLength: 1 }],
    ["an authority", [basicConstraints(true)], { isAuthority: true, pathLength: undefined }],
    ["an authority of a length", [basicConstraints(true, 2)], { isAuthority: true, pathLength: 2 }],
  ])("is %s by its constraints", (_, extensions, constraints) => {
    expect(readCertificate(certificateWith({ extensions })).basicConstraints).toEqual(constraints);
  });

  it("has nothing behind the length of its path", () => {
    const value = sequence(boolean(true), integer(1), integer(1));
    expect(faultOf(certificateWith({ extensions: [{ type: "2.5.29.19", value }] }))).toBe(
      "certificate: Something follows the path length.",
    );
  });
});

describe("the key of a certificate", () => {
  const refused = (subjectKey: Uint8Array) => faultOf(certificateWith({ subjectPublicKeyInfo: subjectKey }));

  it("is an uncompressed point", () => {
    const hybrid = Uint8Array.from(subjectPublicKeyInfo);
    hybrid[hybrid.length - 65] = 6;
    expect(refused(hybrid)).toBe("certificate: The key of a certificate is not an uncompressed point.");
  });

  const unsigned = (...bytes: ReadonlyArray<number>): Uint8Array => der(0x02, Uint8Array.from(bytes));
  /** A modulus of so many bytes, odd unless its last byte says otherwise, with the octet that holds its sign. */
  const modulus = (length: number, last = 0x01): Uint8Array =>
    der(0x02, concatBytes(Uint8Array.of(0, 0x80), new Uint8Array(length - 2), Uint8Array.of(last)));
  const rsa = (algorithm: string, ...numbers: ReadonlyArray<Uint8Array>): Uint8Array =>
    sequence(sequence(oid(algorithm), Uint8Array.of(5, 0)), bits(sequence(...numbers)));
  const RSA = "1.2.840.113549.1.1.1";
  const F4 = unsigned(1, 0, 1);

  it.each([
    ["2,048 bits and F4", modulus(256), F4],
    ["8,192 bits", modulus(1024), F4],
    ["the exponent 3", modulus(256), unsigned(3)],
    ["the exponent 2^32 - 1", modulus(256), unsigned(0, 0xff, 0xff, 0xff, 0xff)],
    ["an exponent of two bytes that begins with 1", modulus(256), unsigned(1, 1)],
  ])("may be RSA of %s", (_, ...numbers) => {
    expect(refused(rsa(RSA, ...numbers))).toBeUndefined();
  });

  it.each([
    ["2,040 bits", [modulus(255), F4]],
    ["8,200 bits", [modulus(1025), F4]],
    ["a negative modulus", [der(0x02, new Uint8Array(257).fill(0x81)), F4]],
    ["the negative modulus nearest to a positive one", [der(0x02, Uint8Array.of(0x80, ...new Uint8Array(254), 1)), F4]],
    ["an even modulus", [modulus(256, 0x02), F4]],
    ["an even exponent", [modulus(256), unsigned(4)]],
    ["the exponent 1", [modulus(256), unsigned(1)]],
    ["the exponent 0", [modulus(256), unsigned(0)]],
    ["a negative exponent", [modulus(256), unsigned(0x83)]],
    ["the exponent 2^32 + 1", [modulus(256), unsigned(1, 0, 0, 0, 1)]],
    ["a third number", [modulus(256), F4, F4]],
  ])("is never RSA of %s", (_, numbers) => {
    expect(refused(rsa(RSA, ...numbers))).toBe("certificate: The RSA key of a certificate is weak.");
  });

  it.each([
    [
      "numbers that are enumerated",
      rsa(RSA, modulus(256), der(0x0a, Uint8Array.of(3))),
      "There is no integer as the exponent.",
    ],
    ["one number", rsa(RSA, modulus(256)), "There is no integer as the exponent."],
    [
      "another algorithm",
      rsa("1.2.840.113549.1.1.10", modulus(256), F4),
      "The key of a certificate is neither RSA nor a point of P-256, P-384 or P-521.",
    ],
  ])("is never RSA of %s", (_, key, detail) => {
    expect(refused(key)).toBe(`certificate: ${detail}`);
  });
});
