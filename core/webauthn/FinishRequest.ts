/** The body of `POST /v1/custody/approvers/webauthn/registration/finish` (contract 4.1). */
import { Either } from "effect";
import { base64UrlFault, strictBase64Url } from "../codec/Base64Url.ts";
import { canonicalJson } from "../codec/CanonicalJson.ts";
import { text } from "../codec/Codec.ts";
import { memberPointer } from "../codec/JsonPointer.ts";
import type { JsonObject } from "../codec/StrictJson.ts";
import { utf8Length } from "../codec/Utf8.ts";
import { type Decoding, type Fields, readBody } from "../credential/RequestBody.ts";
import type { Crypto } from "../crypto/Crypto.ts";
import type { Digest } from "../base/Digest.ts";
import { Limits } from "../base/Limits.ts";
import type { Rejection } from "../base/Rejection.ts";
import { ceremonyChecks, type CeremonyRefusal, ceremonyRejection } from "./CeremonyRefusal.ts";
import type { SubmittedCredential } from "./SubmittedCredential.ts";

const FINISH_TAG = "CUSTODY_FINISH_V1";
const credentialCodec = text(Limits.requestBodyBytes);

const DISPLAY_NAME = `A display name has at most ${Limits.displayNameBytes} bytes of UTF-8.`;
const TRANSPORT = "A transport is a short word of lower-case letters, digits and hyphens.";

/** Members that a browser's `toJSON()` writes; no other is known. */
const CREDENTIAL = ["id", "rawId", "type", "response", "authenticatorAttachment", "clientExtensionResults"];
const RESPONSE = [
  "clientDataJSON",
  "attestationObject",
  "transports",
  "authenticatorData",
  "publicKey",
  "publicKeyAlgorithm",
];
/** The one extension that the options request, and its possible members (WebAuthn Level 3 section 10.1.3). */
const REQUESTED_EXTENSION = "credProps";
const CREDENTIAL_PROPERTIES = ["rk", "authenticatorDisplayName"];

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
  Either.flatMap(readFields(body), (read) => {
    const invitation = strictBase64Url(read.invitation, Limits.challengeBytes);
    const refusals: ReadonlyArray<CeremonyRefusal> = [
      ...(invitation?.length === Limits.challengeBytes ? [] : [notAnInvitation]),
      ...read.unrequested.map(unrequestedExtension),
    ];
    if (invitation === undefined || refusals.length > 0) return Either.left(ceremonyRejection(refusals));
    return Either.right({
      invitation,
      credential: read.credential,
      members: withoutNullAttachment(read.members),
    });
  });

const readFields = (body: Uint8Array): Either.Either<ReadRequest, Rejection> =>
  readBody(body, "a registration response", ["invitation", "credential"], readRequest);

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

interface ReadRequest {
  readonly invitation: string;
  readonly credential: SubmittedCredential;
  readonly members: JsonObject;
  readonly unrequested: ReadonlyArray<string>;
}

const readRequest = (root: Fields): ReadRequest => {
  const credential = root.object("credential", CREDENTIAL);
  const members = credential.members();
  credential.string("type", (type) => type === "public-key", 'The one type is "public-key".');
  if (members.get("authenticatorAttachment") !== null)
    credential.optionalString(
      "authenticatorAttachment",
      (attachment) => attachment === "platform" || attachment === "cross-platform",
      'This must be "platform", "cross-platform" or null.',
    );
  const extensions = credential.object("clientExtensionResults");
  const properties = extensions.optionalObject(REQUESTED_EXTENSION, CREDENTIAL_PROPERTIES);
  properties?.optionalBoolean("rk");
  properties?.optionalString("authenticatorDisplayName", isDisplayName, DISPLAY_NAME);
  const response = credential.object("response", RESPONSE);
  return {
    invitation: root.string("invitation"),
    // A binary field at fault has been noted and reads as empty.
    credential: {
      id: credential.decoded("id", credentialId) ?? NO_BYTES,
      rawId: credential.decoded("rawId", credentialId) ?? NO_BYTES,
      clientDataJson: response.decoded("clientDataJSON", clientData) ?? NO_BYTES,
      attestationObject: response.decoded("attestationObject", attestation) ?? NO_BYTES,
      transports: distinct(response.optionalList("transports", Limits.transports, isTransport, TRANSPORT)),
      reported: {
        authenticatorData: response.optionalDecoded("authenticatorData", attestation),
        publicKey: response.optionalDecoded("publicKey", publicKey),
        publicKeyAlgorithm: response.optionalInteger("publicKeyAlgorithm"),
      },
    },
    members,
    unrequested: extensions.names().filter((name) => name !== REQUESTED_EXTENSION),
  };
};

const NO_BYTES = new Uint8Array(0);

/** The decoder of a binary field of at most so many bytes. */
const bytesUpTo = (longest: number): Decoding<Uint8Array> => ({
  decode: (encoded) => strictBase64Url(encoded, longest),
  faultOf: (encoded) => base64UrlFault(encoded, longest),
});

/** The same for a field that must not be empty. */
const someBytesUpTo = (longest: number): Decoding<Uint8Array> => {
  const { decode, faultOf } = bytesUpTo(longest);
  return {
    decode: (encoded) => (encoded === "" ? undefined : decode(encoded)),
    faultOf: (encoded) => (encoded === "" ? "This must not be empty." : faultOf(encoded)),
  };
};

/** The ceremony bounds an id's length, because it knows the attested id; here the bound is its two octets of length. */
const credentialId = bytesUpTo(0xffff);
const clientData = someBytesUpTo(Limits.clientDataBytes);
const attestation = someBytesUpTo(Limits.attestationObjectBytes);
const publicKey = someBytesUpTo(Limits.publicKeyBytes);

const isDisplayName = (name: string): boolean =>
  (utf8Length(name) ?? Number.POSITIVE_INFINITY) <= Limits.displayNameBytes;

const isTransport = (word: string): boolean =>
  word.length <= Limits.transportCharacters && /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(word);

const distinct = (words: ReadonlyArray<string>): ReadonlyArray<string> => [...new Set(words)].toSorted();

/** Contract 4.1: null counts as absent there, so both are one response. */
const withoutNullAttachment = (credential: JsonObject): JsonObject =>
  credential.get("authenticatorAttachment") === null
    ? new Map([...credential].filter(([key]) => key !== "authenticatorAttachment"))
    : credential;
