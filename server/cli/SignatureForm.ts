/** Signatures as files have them: as the service gives them, or of ECDSA in DER, as OpenSSL has them. */
import * as Options from "@effect/cli/Options";
import { Either } from "effect";
import { ecdsaSignature } from "../../core/webauthn/EcdsaSignature.ts";
import { type CliFailure, usageFailure } from "./CliFailure.ts";

/** `r` and `s` of the two curves. */
const ECDSA_BYTES = 64;
const HALF = ECDSA_BYTES / 2;

export type SignatureForm = "raw" | "der";

export const formOption = Options.choice("format", ["raw", "der"]).pipe(
  Options.withDescription("raw as the service has it; der for ECDSA, as OpenSSL has it. Default: raw."),
  Options.withDefault<SignatureForm>("raw"),
);

const derOnly = usageFailure("--format der is for ECDSA; other signatures have one form");

/** DER of a positive integer (X.690 section 8.3). */
const integerOf = (digits: Uint8Array): ReadonlyArray<number> => {
  const first = digits.findIndex((each) => each !== 0);
  const shortest = first === -1 ? [0] : [...digits.subarray(first)];
  const content = (shortest[0] ?? 0) < 0x80 ? shortest : [0, ...shortest];
  return [0x02, content.length, ...content];
};

/** A signature in the form that is wanted (RFC 3279 section 2.2.3). */
export const inForm = (
  form: SignatureForm,
  scheme: string,
  signature: Uint8Array,
): Either.Either<Uint8Array, CliFailure> => {
  if (form === "raw") return Either.right(signature);
  if (scheme !== "ECDSA" || signature.length !== ECDSA_BYTES) return Either.left(derOnly);
  const content = [...integerOf(signature.subarray(0, HALF)), ...integerOf(signature.subarray(HALF))];
  return Either.right(Uint8Array.of(0x30, content.length, ...content));
};

/** The signature in a file of this form, as the service takes it. */
export const fromForm = (
  form: SignatureForm,
  scheme: string,
  content: Uint8Array,
): Either.Either<Uint8Array, CliFailure> => {
  if (form === "raw") return Either.right(content);
  if (scheme !== "ECDSA") return Either.left(derOnly);
  // Both curves have fields of this length.
  const signature = ecdsaSignature("P-256", content);
  return signature === undefined
    ? Either.left(usageFailure("--signature: the file is no DER signature; leave --format out for a raw one"))
    : Either.right(signature);
};
