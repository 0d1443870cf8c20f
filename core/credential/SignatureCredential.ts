/** A public key as an approver credential, and the digest that names it (contract 2.1 and 2.2). */
import { base64 } from "@scure/base";
import { Either } from "effect";
import { canonicalJson } from "../codec/CanonicalJson.ts";
import { Limits } from "../base/Limits.ts";
import { type Rejection, rejection } from "../base/Rejection.ts";
import type { SignatureProvider } from "./SignatureProvider.ts";

/** The `credential` of a SIGNATURE record. */
export interface SignatureCredential {
  readonly type: "SIGNATURE";
  /** Canonical algorithm name. */
  readonly algorithm: string;
  /** The normal form of the key in standard padded Base64. */
  readonly publicKey64: string;
}

export interface NormalizedCredential {
  readonly credential: SignatureCredential;
  /** The bytes of `publicKey64`; with the algorithm they are the identity of the key (contract 2.2.6). */
  readonly keyBytes: Uint8Array;
}

/** Base64 characters of the longest key that is examined. */
const LONGEST_KEY64 = 4 * Math.ceil(Limits.publicKeyBytes / 3);

/** The tag and separator before every descriptor. */
const REF_PREFIX = "SERVICE_APPROVER_V1\u0000";

/**
 * Checks a submitted key with the provider of its algorithm and brings it into normal form.
 *
 * @param providers the installed providers by canonical name
 * @param algorithm the submitted algorithm name, matched exactly
 * @param publicKey64 the submitted key: standard Base64 (RFC 4648 section 4) with its
 *   padding, of at most {@link Limits.publicKeyBytes} bytes
 * @returns the credential; or `UNSUPPORTED_ALGORITHM`, or `INVALID_PUBLIC_KEY` for bad
 *   Base64, a key that is too long and a key that the provider refuses
 */
export const normalizeCredential = (
  providers: ReadonlyMap<string, SignatureProvider>,
  algorithm: string,
  publicKey64: string,
): Either.Either<NormalizedCredential, Rejection> => {
  const provider = providers.get(algorithm);
  if (provider === undefined) return Either.left(unsupported(providers));
  const encoded = strictBase64(publicKey64);
  if (Either.isLeft(encoded)) return Either.left(invalidKey(encoded.left.code, encoded.left.detail));
  const normalized = provider.normalize(encoded.right);
  if (Either.isLeft(normalized)) return Either.left(invalidKey("invalid_key", normalized.left));
  const keyBytes = normalized.right;
  const credential: SignatureCredential = {
    type: "SIGNATURE",
    algorithm: provider.algorithm,
    publicKey64: keyBytes === encoded.right ? publicKey64 : base64.encode(keyBytes),
  };
  return Either.right({ credential, keyBytes });
};

/** Standard Base64 in its one canonical form: no white space, full padding, unused bits zero. Bounded beforehand. */
const strictBase64 = (text: string): Either.Either<Uint8Array, { readonly code: string; readonly detail: string }> => {
  const tooLong = { code: "too_long", detail: `A public key takes at most ${Limits.publicKeyBytes} bytes.` };
  if (text.length > LONGEST_KEY64) return Either.left(tooLong);
  return Either.try({
    try: () => base64.decode(text),
    catch: () => ({ code: "invalid_base64", detail: "The key is not in standard padded Base64." }),
  }).pipe(
    Either.filterOrLeft(
      (bytes) => bytes.length <= Limits.publicKeyBytes,
      () => tooLong,
    ),
  );
};

const unsupported = (providers: ReadonlyMap<string, SignatureProvider>): Rejection =>
  rejection(
    "UNSUPPORTED_ALGORITHM",
    "No signature provider of this name is installed.",
    `Use one of ${[...providers.keys()].join(", ")}; names are case-sensitive.`,
    {
      faults: [
        { pointer: "/credential/algorithm", code: "unsupported_algorithm", detail: "No such algorithm is installed." },
      ],
    },
  );

const invalidKey = (code: string, detail: string): Rejection =>
  rejection(
    "INVALID_PUBLIC_KEY",
    "The public key is refused.",
    "Send the Base64 of the raw key, of the SEC 1 point or of the DER SubjectPublicKeyInfo, and the algorithm it belongs to.",
    { faults: [{ pointer: "/credential/publicKey64", code, detail }] },
  );

/** The canonical JSON of the normalized credential (contract 2.2, steps 1 and 2). */
export const descriptorJson = ({ type, algorithm, publicKey64 }: SignatureCredential): string =>
  canonicalJson({ version: 1, type, algorithm, publicKey64 });

/**
 * The digest part of a ref (contract 2.2, step 3).
 *
 * @param sha256OfText SHA-256 of the UTF-8 form of a text, as hexadecimal text
 * @param descriptor the canonical JSON of a descriptor, of either credential type
 * @returns 64 lower-case hexadecimal characters
 */
export const refDigest = (sha256OfText: (text: string) => string, descriptor: string): string =>
  sha256OfText(REF_PREFIX + descriptor);
