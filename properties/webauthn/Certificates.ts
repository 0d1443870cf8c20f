/** X.509 certificates for tests, every field open to be made wrong. */
import { p256 } from "@noble/curves/nist.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { secretKeyOf, signatureOf, subjectPublicKeyInfo } from "./Authenticator.ts";
import { bits, boolean, der, integer, name, octets, oid, sequence, tagged, time } from "./DerWriter.ts";

/** An issuer: a private key, and the names of its signature algorithm. */
export interface Signer {
  readonly subjectPublicKeyInfo: Uint8Array;
  /** COSE algorithm of statements. */
  readonly alg: number;
  /** AlgorithmIdentifier of certificates. */
  readonly algorithm: Uint8Array;
  readonly sign: (message: Uint8Array) => Uint8Array;
}

const ecdsaWithSha256 = sequence(oid("1.2.840.10045.4.3.2"));

export const signerOf = (secretKey: Uint8Array): Signer => ({
  subjectPublicKeyInfo: subjectPublicKeyInfo(secretKey),
  alg: -7,
  algorithm: ecdsaWithSha256,
  sign: (message) => signatureOf(secretKey, message),
});

export interface ExtensionFields {
  readonly type: string;
  readonly critical?: boolean;
  readonly value: Uint8Array;
}

export interface CertificateFields {
  readonly version: number;
  readonly subject: Uint8Array;
  readonly issuer: Uint8Array;
  readonly notBefore: string;
  readonly notAfter: string;
  readonly subjectPublicKeyInfo: Uint8Array;
  readonly extensions: ReadonlyArray<ExtensionFields>;
  readonly signer: Signer;
  /** Where the two names of the signature algorithm shall differ. */
  readonly outerAlgorithm?: Uint8Array;
  /** The version, the serial number, the list of extensions and the signature, in other DER than theirs. */
  readonly versionField?: Uint8Array;
  readonly serial?: Uint8Array;
  readonly extensionsField?: (list: Uint8Array) => Uint8Array;
  readonly signatureField?: Uint8Array;
}

const extensionOf = ({ type, critical, value }: ExtensionFields): Uint8Array =>
  sequence(oid(type), ...(critical === undefined ? [] : [boolean(critical)]), octets(value));

/** A certificate in DER (RFC 5280 section 4.1). */
export const certificateOf = (fields: CertificateFields): Uint8Array => {
  const serial = sha256(utf8ToBytes(`serial of ${fields.notBefore}`)).subarray(0, 8);
  serial[0] = 1;
  const list = sequence(...fields.extensions.map(extensionOf));
  const body = sequence(
    fields.versionField ?? (fields.version === 1 ? new Uint8Array(0) : tagged(0, integer(fields.version - 1))),
    fields.serial ?? der(0x02, serial),
    fields.signer.algorithm,
    fields.issuer,
    sequence(time(fields.notBefore), time(fields.notAfter)),
    fields.subject,
    fields.subjectPublicKeyInfo,
    ...(fields.extensions.length === 0 ? [] : [fields.extensionsField?.(list) ?? tagged(3, list)]),
  );
  const signature = fields.signatureField ?? bits(fields.signer.sign(body));
  return sequence(body, fields.outerAlgorithm ?? fields.signer.algorithm, signature);
};

/** The contents of a certificate of this kind unless a test says otherwise. */
export type Changes = Partial<CertificateFields>;

/** RFC 5280 section 4.2.1.9. */
export const basicConstraints = (isAuthority: boolean, pathLength?: number): ExtensionFields => ({
  type: "2.5.29.19",
  critical: true,
  value: sequence(...(isAuthority ? [boolean(true)] : []), ...(pathLength === undefined ? [] : [integer(pathLength)])),
});

/** RFC 5280 section 4.2.1.3: `04` signs certificates, `80` signs other things. */
export const keyUsage = (octet: number, unused: number): ExtensionFields => ({
  type: "2.5.29.15",
  critical: true,
  value: der(0x03, Uint8Array.of(unused, octet)),
});

export interface Authority {
  readonly signer: Signer;
  readonly name: Uint8Array;
  readonly certificate: Uint8Array;
}

/** An authority: a root, or under another one. */
export const authorityOf = (label: string, parent?: Authority, changes: Changes = {}): Authority => {
  const signer = signerOf(secretKeyOf(label));
  const own = name(["2.5.4.3", label]);
  const certificate = certificateOf({
    version: 3,
    subject: own,
    issuer: parent?.name ?? own,
    notBefore: "240101000000Z",
    notAfter: "30240101000000Z",
    subjectPublicKeyInfo: signer.subjectPublicKeyInfo,
    extensions: [basicConstraints(true), keyUsage(0x04, 2)],
    signer: parent?.signer ?? signer,
    ...changes,
  });
  return { signer, name: own, certificate };
};

export const pointOf = (secretKey: Uint8Array): Uint8Array => p256.getPublicKey(secretKey, false);
