/** Attestation statements with certificates, as honest authenticators make them; any part can be made wrong. */
import { sha256 } from "@noble/hashes/sha2.js";
import { concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { type AttestationFormat, secretKeyOf, type Signable, type Statement, uint16, uint32 } from "./Authenticator.ts";
import {
  type Authority,
  authorityOf,
  basicConstraints,
  type Changes,
  certificateOf,
  type ExtensionFields,
  keyUsage,
  pointOf,
  type Signer,
  signerOf,
} from "./Certificates.ts";
import { der, integer, name, octets, oid, sequence, set, tagged } from "./DerWriter.ts";

export const root = authorityOf("Root of tests");
export const intermediate = authorityOf("Intermediate of tests", root);

/** The parts that a test may replace in a statement with certificates. */
export interface Parts {
  /** The key that signs the statement; that of the credential where the format says so. */
  readonly signer?: Signer;
  /** The issuer of the first certificate, and the certificates after it in x5c. */
  readonly issuer?: Authority;
  readonly behind?: ReadonlyArray<Uint8Array>;
  readonly certificate?: Changes;
  /** The extensions of the first certificate, from the honest ones. */
  readonly extensions?: (honest: ReadonlyArray<ExtensionFields>) => ReadonlyArray<ExtensionFields>;
}

const batchKey = signerOf(secretKeyOf("batch"));

const chainOf = (
  parts: Parts,
  honest: { readonly subject: Uint8Array; readonly key: Signer },
  own: ReadonlyArray<ExtensionFields>,
) => {
  const issuer = parts.issuer ?? root;
  const leaf = certificateOf({
    version: 3,
    subject: honest.subject,
    issuer: issuer.name,
    notBefore: "240101000000Z",
    notAfter: "30240101000000Z",
    subjectPublicKeyInfo: honest.key.subjectPublicKeyInfo,
    extensions: parts.extensions?.(own) ?? own,
    signer: issuer.signer,
    ...parts.certificate,
  });
  return [leaf, ...(parts.behind ?? [])];
};

export const packedSubject = name(
  ["2.5.4.6", "AA"],
  ["2.5.4.10", "Tests"],
  ["2.5.4.11", "Authenticator Attestation"],
  ["2.5.4.3", "Authenticator of tests"],
);

const aaguidExtension = (aaguid: Uint8Array): ExtensionFields => ({
  type: "1.3.6.1.4.1.45724.1.1.4",
  value: octets(aaguid),
});

/** Section 8.2 with x5c. */
export const packedCertified = (parts: Parts = {}): AttestationFormat => ({
  format: "packed",
  state: ({ authenticatorData, clientDataHash, aaguid }) => {
    const key = parts.signer ?? batchKey;
    const extensions = [basicConstraints(false), aaguidExtension(aaguid)];
    return new Map<string, unknown>([
      ["alg", key.alg],
      ["sig", key.sign(concatBytes(authenticatorData, clientDataHash))],
      ["x5c", chainOf(parts, { subject: packedSubject, key }, extensions)],
    ]);
  },
});

const sized = (bytes: Uint8Array): Uint8Array => concatBytes(uint16(bytes.length), bytes);

/** The TPM's own structures, every field open. */
export interface TpmParts extends Parts {
  readonly ver?: string;
  readonly scheme?: Uint8Array;
  readonly pubArea?: (honest: Uint8Array) => Uint8Array;
  readonly magic?: number;
  readonly type?: number;
  readonly extraData?: Uint8Array;
  readonly name?: (honest: Uint8Array) => Uint8Array;
  readonly certInfo?: (honest: Uint8Array) => Uint8Array;
  readonly alternativeName?: Uint8Array;
  /** The hash of extraData; SHA-256 unless the signer needs another one. */
  readonly digest?: (bytes: Uint8Array) => Uint8Array;
}

const tpmAttributes: ReadonlyArray<readonly [string, string]> = [
  ["2.23.133.2.1", "id:414D4400"],
  ["2.23.133.2.2", "Model of tests"],
  ["2.23.133.2.3", "id:00000001"],
];
export const directoryNames = (...attributes: ReadonlyArray<readonly [string, string]>): Uint8Array =>
  sequence(tagged(4, name(...attributes)));

const NO_SCHEME = Uint8Array.of(0x00, 0x10);
/** ECDSA with SHA-256, as a TPM may pin it. */
export const ecdsaScheme = Uint8Array.of(0x00, 0x18, 0x00, 0x0b);

/** ECDAA with SHA-256, which has a counter beside its hash. */
export const ecdaaScheme = Uint8Array.of(0x00, 0x1a, 0x00, 0x0b, 0x00, 0x00);

/** A TPMT_PUBLIC on P-256 for signing. */
const pubAreaOf = (secretKey: Uint8Array, scheme: Uint8Array): Uint8Array => {
  const point = pointOf(secretKey);
  return concatBytes(
    Uint8Array.of(0x00, 0x23, 0x00, 0x0b),
    uint32(0x00050472),
    sized(new Uint8Array(0)),
    Uint8Array.of(0x00, 0x10),
    scheme,
    Uint8Array.of(0x00, 0x03, 0x00, 0x10),
    sized(point.subarray(1, 33)),
    sized(point.subarray(33)),
  );
};

const certInfoOf = (parts: TpmParts, pubArea: Uint8Array, extraData: Uint8Array): Uint8Array => {
  const keyName = concatBytes(Uint8Array.of(0x00, 0x0b), sha256(pubArea));
  return concatBytes(
    uint32(parts.magic ?? 0xff544347),
    uint16(parts.type ?? 0x8017),
    sized(utf8ToBytes("qualified signer")),
    sized(parts.extraData ?? extraData),
    new Uint8Array(16),
    Uint8Array.of(1),
    new Uint8Array(8),
    sized(parts.name?.(keyName) ?? keyName),
    sized(utf8ToBytes("qualified name")),
  );
};

/** Section 8.3. */
export const tpm = (parts: TpmParts = {}): AttestationFormat => ({
  format: "tpm",
  state: ({ authenticatorData, clientDataHash, aaguid, secretKey }) => {
    const key = parts.signer ?? batchKey;
    const honestArea = pubAreaOf(secretKey, parts.scheme ?? NO_SCHEME);
    const pubArea = parts.pubArea?.(honestArea) ?? honestArea;
    const extraData = (parts.digest ?? sha256)(concatBytes(authenticatorData, clientDataHash));
    const honestInfo = certInfoOf(parts, pubArea, extraData);
    const certInfo = parts.certInfo?.(honestInfo) ?? honestInfo;
    const extensions = [
      basicConstraints(false),
      keyUsage(0x80, 7),
      { type: "2.5.29.37", value: sequence(oid("2.23.133.8.3")) },
      { type: "2.5.29.17", critical: true, value: parts.alternativeName ?? directoryNames(...tpmAttributes) },
      aaguidExtension(aaguid),
    ];
    return new Map<string, unknown>([
      ["ver", parts.ver ?? "2.0"],
      ["alg", key.alg],
      ["x5c", chainOf(parts, { subject: name(), key }, extensions)],
      ["sig", key.sign(certInfo)],
      ["certInfo", certInfo],
      ["pubArea", pubArea],
    ]);
  },
});

/** The extension of an Android key, every part open. */
export interface AndroidParts extends Parts {
  readonly challenge?: Uint8Array;
  readonly software?: ReadonlyArray<Uint8Array>;
  readonly hardware?: ReadonlyArray<Uint8Array>;
  readonly fields?: (honest: ReadonlyArray<Uint8Array>) => ReadonlyArray<Uint8Array>;
}

export const purposes = (...values: ReadonlyArray<number>): Uint8Array => tagged(1, set(...values.map(integer)));
export const origin = (value: number): Uint8Array => tagged(702, integer(value));
export const allApplications = tagged(600, der(0x05));

/** Section 8.4. */
export const androidKey = (parts: AndroidParts = {}): AttestationFormat => ({
  format: "android-key",
  state: ({ authenticatorData, clientDataHash, secretKey }) => {
    const key = parts.signer ?? signerOf(secretKey);
    const fields = [
      der(0x02, Uint8Array.of(0x01, 0x2c)),
      der(0x0a, Uint8Array.of(1)),
      der(0x02, Uint8Array.of(0x01, 0x2c)),
      der(0x0a, Uint8Array.of(1)),
      octets(parts.challenge ?? clientDataHash),
      octets(new Uint8Array(0)),
      sequence(...(parts.software ?? [])),
      sequence(...(parts.hardware ?? [purposes(2, 3), origin(0)])),
    ];
    const description = { type: "1.3.6.1.4.1.11129.2.1.17", value: sequence(...(parts.fields?.(fields) ?? fields)) };
    return new Map<string, unknown>([
      ["alg", key.alg],
      ["sig", key.sign(concatBytes(authenticatorData, clientDataHash))],
      [
        "x5c",
        chainOf(parts, { subject: name(["2.5.4.3", "Android Keystore Key"]), key }, [keyUsage(0x80, 7), description]),
      ],
    ]);
  },
});

/** The extension of an Apple certificate. */
export interface AppleParts extends Parts {
  readonly nonce?: Uint8Array;
  readonly nonceExtension?: (honest: Uint8Array) => Uint8Array;
}

/** Section 8.8. */
export const apple = (parts: AppleParts = {}): AttestationFormat => ({
  format: "apple",
  state: ({ authenticatorData, clientDataHash, secretKey }) => {
    const nonce = parts.nonce ?? sha256(concatBytes(authenticatorData, clientDataHash));
    const honest = sequence(tagged(1, octets(nonce)));
    const value = parts.nonceExtension?.(honest) ?? honest;
    const extensions = [basicConstraints(false), { type: "1.2.840.113635.100.8.2", value }];
    const key = parts.signer ?? signerOf(secretKey);
    return new Map([["x5c", chainOf(parts, { subject: name(["2.5.4.3", "Apple of tests"]), key }, extensions)]]);
  },
});

/** Section 8.6: it verifies no user. */
export const fidoU2f: AttestationFormat = {
  format: "fido-u2f",
  state: ({ rpIdHash, clientDataHash, secretKey }: Signable): Statement =>
    new Map<string, unknown>([
      ["sig", batchKey.sign(concatBytes(Uint8Array.of(0), rpIdHash, clientDataHash, pointOf(secretKey)))],
      ["x5c", chainOf({}, { subject: packedSubject, key: batchKey }, [basicConstraints(false)])],
    ]),
};
