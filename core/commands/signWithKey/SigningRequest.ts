/** What a caller asks to have signed: the body of `POST /v1/custody/keys/{keyId}/sign`, and what it comes to. */
import { keccak_256 } from "@noble/hashes/sha3.js";
import { sha256, sha512 } from "@noble/hashes/sha2.js";
import { absurd, Either } from "effect";
import { Limits } from "../../base/Limits.ts";
import type { BodyFault, Rejection } from "../../base/Rejection.ts";
import { base64 } from "../../codec/Base64.ts";
import { type CanonicalValue, canonicalJson } from "../../codec/CanonicalJson.ts";
import { utf8Bytes } from "../../codec/Utf8.ts";
import { bodyRefusal, readDraft } from "../../credential/RequestBody.ts";
import type { Call } from "../../protocol/Forward.ts";
import { type Hash, signingShape } from "../keys/KeyBodies.ts";
import { keyIdIn } from "../keys/KeyId.ts";

export interface SigningRequest {
  readonly keyId: string;
  readonly type: string;
  readonly authorityId: string;
  readonly scheme: string;
  readonly hash: Hash;
  readonly data: Uint8Array;
  /** The generation that the caller names; undefined where it wants the active one, whichever that is. */
  readonly generation: number | undefined;
}

export const isSigning = ({ method, path }: Pick<Call, "method" | "path">): boolean =>
  method === "POST" && keyIdIn(path, "sign") !== undefined;

/** Reads the request; left is 400 `INVALID_REQUEST_BODY` with every fault. */
export const readSigning = (keyId: string, rawBody: Uint8Array): Either.Either<SigningRequest, Rejection> => {
  const { read, faults } = readDraft(rawBody, signingShape, Limits.signingBodyBytes);
  if (read === undefined || faults.length > 0) return Either.left(bodyRefusal("a command to sign", faults));
  const {
    command: { type, authorityId, artifact },
    generation,
  } = read;
  const { scheme, hash = "NONE", data64: data } = artifact;
  return Either.right({ keyId, type, authorityId, scheme, hash, data, generation });
};

/** What is signed: the data, hashed as the caller wants it. */
export const messageOf = ({ hash, data }: Pick<SigningRequest, "hash" | "data">): Uint8Array => {
  switch (hash) {
    case "NONE":
      return data;
    case "SHA256":
      return sha256(data);
    case "SHA512":
      return sha512(data);
    case "KECCAK256":
      return keccak_256(data);
    default:
      return absurd(hash);
  }
};

/** What is wrong with a command for a key of some scheme, in the body of a signing and of a verification. */
export const artifactFaults = {
  scheme: {
    pointer: "/command/artifact/scheme",
    code: "invalid_value",
    detail: "The scheme is not that of the key.",
  },
  lengthOtherThan: (messageBytes: number): BodyFault => ({
    pointer: "/command/artifact/data64",
    code: "wrong_length",
    detail: `Keys of this scheme sign ${messageBytes} bytes; hash the data, or have it hashed by the request.`,
  }),
} as const;

/**
 * The body as this peer holds it and other members judge it. Space and escapes make one of ten mebibytes of what takes
 * one and a half: whoever sends that takes no more room, of memory and of ways between members, than anybody else.
 *
 * @param request what was read of the body
 */
export const carriedBody = (rawBody: Uint8Array, request: SigningRequest): Uint8Array =>
  rawBody.length <= Limits.carriedBodyBytes
    ? rawBody
    : utf8Bytes(
        canonicalJson({
          command: commandOf(request),
          ...(request.generation === undefined ? {} : { generation: request.generation }),
        }),
      );

/** The command with everything written out. */
export const commandOf = (request: SigningRequest): CanonicalValue => ({
  type: request.type,
  authorityId: request.authorityId,
  artifact: { scheme: request.scheme, hash: request.hash, data64: base64(request.data) },
});
