/** The body of `POST /v1/custody/approvers/webauthn/registration/finish` (contract 4.1). */
import { Either } from "effect";
import { BASE64URL_PATTERN, base64UrlFault, base64UrlLength, strictBase64Url } from "../codec/Base64Url.ts";
import { canonicalJson } from "../codec/CanonicalJson.ts";
import { text } from "../codec/Codec.ts";
import { memberPointer } from "../codec/JsonPointer.ts";
import {
  decoded,
  type Decoding,
  described,
  integer,
  list,
  named,
  nullable,
  object,
  optional,
  type Shape,
  text as bounded,
  truth,
  type ValueOf,
  withSource,
  word,
} from "../codec/Shape.ts";
import type { JsonObject } from "../codec/StrictJson.ts";
import { utf8Length } from "../codec/Utf8.ts";
import { readBody } from "../credential/RequestBody.ts";
import type { Crypto } from "../crypto/Crypto.ts";
import type { Digest } from "../base/Digest.ts";
import { Limits } from "../base/Limits.ts";
import type { Rejection } from "../base/Rejection.ts";
import { ceremonyChecks, type CeremonyRefusal, ceremonyRejection } from "./CeremonyRefusal.ts";
import type { SubmittedCredential } from "./SubmittedCredential.ts";

const FINISH_TAG = "CUSTODY_FINISH_V1";
const credentialCodec = text(Limits.requestBodyBytes);

const DISPLAY_NAME = `A display name has at most ${Limits.displayNameBytes} bytes of UTF-8.`;

/** The one extension that the options request, and its possible members (WebAuthn Level 3 section 10.1.3). */
const REQUESTED_EXTENSION = "credProps";

/** A finish as submitted. */
export interface FinishRequest {
  /** The 32 bytes of the bearer secret; never stored. */
  readonly invitation: Uint8Array;
  readonly credential: SubmittedCredential;
  /** `credential` as it was read, without an `authenticatorAttachment` that is null. */
  readonly members: JsonObject;
}

/**
 * Reads a finish request.
 *
 * @param body the raw request body
 * @returns the request; `INVALID_REQUEST_BODY` with every fault; or `INVALID_CEREMONY`, by name, for a malformed
 *   invitation (`invitation`) or the output of a client extension that nobody requested (`client_extension`)
 */
export const parseFinishRequest = (body: Uint8Array): Either.Either<FinishRequest, Rejection> =>
  Either.flatMap(readBody(body, "a registration response", finishShape), ({ invitation: sent, credential }) => {
    const invitation = strictBase64Url(sent, Limits.challengeBytes);
    const { read, source } = credential;
    const refusals: ReadonlyArray<CeremonyRefusal> = [
      ...(invitation?.length === Limits.challengeBytes ? [] : [notAnInvitation]),
      ...unrequested(source).map(unrequestedExtension),
    ];
    if (invitation === undefined || refusals.length > 0) return Either.left(ceremonyRejection(refusals));
    return Either.right({ invitation, credential: submittedOf(read), members: withoutNullAttachment(source) });
  });

/** The digest, over canonical JSON, of one response: the only response that may still finish the session. */
export const responseDigest = (crypto: Pick<Crypto, "digest">, { members }: Pick<FinishRequest, "members">): Digest =>
  crypto.digest(FINISH_TAG, credentialCodec, canonicalJson(members));

const notAnInvitation: CeremonyRefusal = {
  check: "invitation",
  pointer: ceremonyChecks.invitation,
  detail: `An invitation is ${Limits.challengeBytes} bytes in unpadded Base64url.`,
};

const unrequestedExtension = (name: string): CeremonyRefusal => ({
  check: "client_extension",
  pointer: memberPointer(ceremonyChecks.client_extension, name),
  detail: "This extension was not requested, so that the client may not answer it.",
});

/** The decoder of a binary field of at most so many bytes. */
const bytesUpTo = (longest: number): Decoding<Uint8Array> => ({
  decode: (encoded) => strictBase64Url(encoded, longest),
  faultOf: (encoded) => base64UrlFault(encoded, longest),
  schema: { maxLength: base64UrlLength(longest), pattern: BASE64URL_PATTERN },
});

/** The same for a field that must not be empty. */
const someBytesUpTo = (longest: number): Shape<Uint8Array> => {
  const { decode, faultOf, schema } = bytesUpTo(longest);
  return decoded({
    decode: (encoded) => (encoded === "" ? undefined : decode(encoded)),
    faultOf: (encoded) => (encoded === "" ? "This must not be empty." : faultOf(encoded)),
    schema: { minLength: 1, ...schema },
  });
};

/** The ceremony bounds an id's length, because it knows the attested id; here the bound is its two octets of length. */
const credentialId = decoded(bytesUpTo(0xffff));
const clientData = someBytesUpTo(Limits.clientDataBytes);
const attestation = someBytesUpTo(Limits.attestationObjectBytes);
const publicKey = someBytesUpTo(Limits.publicKeyBytes);

const displayName = decoded({
  decode: (name) => ((utf8Length(name) ?? Number.POSITIVE_INFINITY) <= Limits.displayNameBytes ? name : undefined),
  faultOf: () => DISPLAY_NAME,
  // At least as many bytes as characters.
  schema: { maxLength: Limits.displayNameBytes, description: DISPLAY_NAME },
});

const transport = bounded({
  longest: Limits.transportCharacters,
  pattern: /^[a-z0-9]+(?:-[a-z0-9]+)*$/,
  rule: "A transport is a short word of lower-case letters, digits and hyphens.",
});

/** What a browser's `toJSON()` writes; no other member is known. */
const credentialShape = object({
  type: word(["public-key"], 'The one type is "public-key".'),
  authenticatorAttachment: optional(
    nullable(word(["platform", "cross-platform"], 'This must be "platform", "cross-platform" or null.')),
  ),
  // Further ones are refused by name.
  clientExtensionResults: object(
    {
      [REQUESTED_EXTENSION]: optional(object({ rk: optional(truth), authenticatorDisplayName: optional(displayName) })),
    },
    "elsewhere",
  ),
  id: credentialId,
  rawId: credentialId,
  response: object({
    clientDataJSON: clientData,
    attestationObject: attestation,
    transports: optional(list(transport, { most: Limits.transports })),
    authenticatorData: optional(attestation),
    publicKey: optional(publicKey),
    publicKeyAlgorithm: optional(integer()),
  }),
});

/** Its form is judged as a check of the ceremony. */
const invitationShape: Shape<string> = {
  ...bounded(),
  schema: {
    type: "string",
    minLength: base64UrlLength(Limits.challengeBytes),
    maxLength: base64UrlLength(Limits.challengeBytes),
    pattern: BASE64URL_PATTERN,
  },
};

/** What is submitted: an invitation and the response of a browser to it. */
export const finishShape = named(
  "EnrollmentResponse",
  object({
    invitation: described(
      `${Limits.challengeBytes} bytes in unpadded Base64url, as the options told them.`,
      invitationShape,
    ),
    credential: described("The browser's `PublicKeyCredential.toJSON()`.", withSource(credentialShape)),
  }),
);

type SentCredential = ValueOf<typeof credentialShape>;

const submittedOf = ({ id, rawId, response }: SentCredential): SubmittedCredential => ({
  id,
  rawId,
  clientDataJson: response.clientDataJSON,
  attestationObject: response.attestationObject,
  transports: distinct(response.transports ?? []),
  reported: {
    authenticatorData: response.authenticatorData,
    publicKey: response.publicKey,
    publicKeyAlgorithm: response.publicKeyAlgorithm,
  },
});

const distinct = (words: ReadonlyArray<string>): ReadonlyArray<string> => [...new Set(words)].toSorted();

/** The extensions with results that nobody asked for. */
const unrequested = (credential: JsonObject): ReadonlyArray<string> => {
  const results = credential.get("clientExtensionResults");
  return results instanceof Map ? [...results.keys()].filter((name) => name !== REQUESTED_EXTENSION) : [];
};

/** Contract 4.1: null counts as absent there, so both are one response. */
const withoutNullAttachment = (credential: JsonObject): JsonObject =>
  credential.get("authenticatorAttachment") === null
    ? new Map([...credential].filter(([key]) => key !== "authenticatorAttachment"))
    : credential;
