/** A public key as people keep it: PEM, DER or Base64. The service judges what it means. */
import { Either } from "effect";
import { algorithmOfSubjectPublicKeyInfo } from "../../core/credential/SubjectPublicKeyInfo.ts";

export interface PublicKeyFile {
  /** Standard padded Base64, as the service takes it. */
  readonly publicKey64: string;
  /** The algorithm the encoding names; undefined for a bare key. */
  readonly algorithm: string | undefined;
}

const privateKey = "holds a private key; keep it to yourself and give the public key (openssl pkey -in FILE -pubout)";

const fromBytes = (bytes: Uint8Array): PublicKeyFile => ({
  publicKey64: Buffer.from(bytes).toString("base64"),
  algorithm: algorithmOfSubjectPublicKeyInfo(bytes),
});

/** Standard Base64 in its canonical form, line breaks aside; undefined for anything else. */
const fromBase64 = (text: string): Uint8Array | undefined => {
  const compact = text.replace(/[\t ]*\r?\n[\t ]*/g, "");
  if (compact === "") return undefined;
  const bytes = Buffer.from(compact, "base64");
  return bytes.toString("base64") === compact ? bytes : undefined;
};

const pemPattern = /^-----BEGIN ([A-Z0-9 ]{1,64})-----\r?\n([A-Za-z0-9+/=\r\n]+)-----END \1-----$/;

const fromPem = (text: string): Either.Either<PublicKeyFile, string> => {
  const [, label, body] = pemPattern.exec(text) ?? [];
  if (label === undefined || body === undefined) {
    return Either.left("is not one PEM block (RFC 7468); give a file with nothing but BEGIN PUBLIC KEY to END");
  }
  if (label !== "PUBLIC KEY") return Either.left("is PEM, but not of a PUBLIC KEY; extract the public key from it");
  const bytes = fromBase64(body);
  return bytes === undefined
    ? Either.left("is PEM whose Base64 is damaged; export it again")
    : Either.right(fromBytes(bytes));
};

/** The length octets of a DER element and the place its content begins (X.690 section 8.1.3). */
const derContent = (bytes: Uint8Array): { readonly at: number; readonly length: number } => {
  const first = bytes[1] ?? 0;
  if (first < 0x80) return { at: 2, length: first };
  const octets = bytes.subarray(2, 2 + (first & 0x7f));
  return { at: 2 + octets.length, length: octets.reduce((length, octet) => length * 256 + octet, 0) };
};

/** PKCS #8 (RFC 5958), PKCS #1 and SEC 1 private keys all begin with a small version INTEGER inside the SEQUENCE. */
const looksPrivate = (bytes: Uint8Array): boolean => {
  const { at, length } = derContent(bytes);
  const versioned = bytes[at] === 0x02 && bytes[at + 1] === 0x01 && (bytes[at + 2] ?? 0xff) <= 1;
  return bytes[0] === 0x30 && at + length === bytes.length && versioned;
};

const ascii = (bytes: Uint8Array): string | undefined =>
  bytes.every((byte) => byte === 0x09 || byte === 0x0a || byte === 0x0d || (byte >= 0x20 && byte < 0x7f))
    ? Buffer.from(bytes).toString("latin1").trim()
    : undefined;

/**
 * Reads the content of a key file.
 *
 * @param content PEM with a SubjectPublicKeyInfo (RFC 7468 section 13), or Base64 or
 *   the bytes of either a SubjectPublicKeyInfo or a bare key
 * @returns the key; or "what is wrong; what to do", without any of the content. A
 *   private key is refused as such.
 */
export const parsePublicKeyFile = (content: Uint8Array): Either.Either<PublicKeyFile, string> => {
  if (content.length === 0) return Either.left("is empty; name the file with the public key");
  const text = ascii(content);
  if (text?.includes("PRIVATE KEY")) return Either.left(privateKey);
  if (text?.startsWith("-----")) return fromPem(text);
  const bytes = text === undefined ? content : fromBase64(text);
  if (bytes === undefined) return Either.left("is text, but neither PEM nor Base64; export the public key as PEM");
  return looksPrivate(bytes) ? Either.left(privateKey) : Either.right(fromBytes(bytes));
};
