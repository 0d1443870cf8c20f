/** Statements of the format packed with certificates, and possible faults of a chain: sections 8.2 and 8.2.1. */
import { concatBytes, hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { intermediate, packedCertified, root } from "../Attestations.ts";
import { type Making, secretKeyOf } from "../Authenticator.ts";
import { authorityOf, basicConstraints, keyUsage, signerOf } from "../Certificates.ts";
import { boolean, der, integer, name, octets, oid, sequence, set, tagged } from "../DerWriter.ts";
import { AAGUID, and, BASIC, instead, subject, without } from "./CertificateChanges.ts";
import { after, attested, type Case, malleated, spliced, withMember } from "./Changes.ts";

const [C, O, OU, CN] = ["2.5.4.6", "2.5.4.10", "2.5.4.11", "2.5.4.3"];
const UNIT = "Authenticator Attestation";
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
/** As many as fit where eight certificates have to: the decoder would take 60 ms over them. */
const crowd = name(...Array.from({ length: 440 }, () => [CN, "a"] as const));
const oldAuthority = authorityOf("Old", root, { version: 1, extensions: [] });

export const certificates: ReadonlyArray<Case> = [
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
  [
    "a certificate with two versions",
    "certificate",
    packed({ certificate: { versionField: tagged(0, integer(2), integer(2)) } }),
  ],
  [
    "a certificate with something behind its extensions",
    "certificate",
    packed({ certificate: { extensionsField: (list) => tagged(3, list, der(0x05)) } }),
  ],
  [
    "a certificate whose serial number is octets",
    "certificate",
    packed({ certificate: { serial: octets(Uint8Array.of(1)) } }),
  ],
  [
    "a certificate with a name that is not UTF-8",
    "certificate",
    packed({ certificate: { subject: sequence(set(sequence(oid(CN), der(0x0c, Uint8Array.of(0xc3, 0x28))))) } }),
  ],
  [
    "a certificate with bits left over in its signature",
    "certificate",
    packed({ certificate: { signatureField: der(0x03, Uint8Array.of(1, 0x80)) } }),
  ],
  [
    "a certificate that says that it is no authority",
    "certificate",
    packed({ extensions: instead({ type: BASIC, critical: true, value: sequence(boolean(false)) }) }),
  ],
  [
    "a certificate that says that an extension is not critical",
    "certificate",
    packed({ extensions: instead({ type: AAGUID, critical: false, value: octets(new Uint8Array(16)) }) }),
  ],
  [
    "a certificate whose key is off its curve",
    "certificate_point",
    packed({ certificate: { subjectPublicKeyInfo: offCurve(signerOf(secretKeyOf("batch")).subjectPublicKeyInfo) } }),
  ],
  [
    "eight certificates of hundreds of names",
    "certificate",
    x5c(() => Array.from({ length: 8 }, () => authorityOf("Crowd", undefined, { subject: crowd }).certificate)),
  ],
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

function offCurve(subjectPublicKeyInfo: Uint8Array): Uint8Array {
  return spliced(subjectPublicKeyInfo, subjectPublicKeyInfo.length - 1, (subjectPublicKeyInfo.at(-1) ?? 0) ^ 1);
}

function nested(depth: number): Uint8Array {
  return depth === 0 ? der(0x05) : sequence(nested(depth - 1));
}

function rsaKey(modulusBytes: number): Uint8Array {
  const modulus = concatBytes(Uint8Array.of(0), new Uint8Array(modulusBytes).fill(0xff));
  const key = sequence(der(0x02, modulus), der(0x02, Uint8Array.of(1, 0, 1)));
  return sequence(sequence(oid("1.2.840.113549.1.1.1"), der(0x05)), der(0x03, Uint8Array.of(0), key));
}
