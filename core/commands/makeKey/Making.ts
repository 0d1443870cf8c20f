/** The meaning of a request that makes a key or its next generation, as far as the call alone tells. */
import { Either } from "effect";
import { readBody } from "../../credential/RequestBody.ts";
import type { Crypto } from "../../crypto/Crypto.ts";
import type { Digest } from "../../base/Digest.ts";
import { memoized } from "../../base/Memo.ts";
import type { Rejection } from "../../base/Rejection.ts";
import type { Intent } from "../../protocol/Command.ts";
import { type Call, requestLineOf } from "../../protocol/Forward.ts";
import { requestLineCodec } from "../../protocol/Proposal.ts";
import { keyCreationShape, keyRenewalShape } from "../keys/KeyBodies.ts";
import {
  CREATE_PERMISSION,
  keyIdIn,
  keyPermission,
  KEYS_PATH,
  REFRESH_PERMISSION,
  ROTATE_PERMISSION,
} from "../keys/KeyId.ts";
import { generationLock } from "../keys/KeyLocks.ts";
import type { Making as Way } from "../keys/KeyRecord.ts";

export const KEYGEN = "KEYGEN";
const REQUEST_TAG = "CUSTODY_KEYGEN_REQUEST_V1";

export interface Making extends Intent {
  readonly kind: typeof KEYGEN;
  /** What it makes: the id of the key, and of a renewal the number of the generation behind it. */
  readonly ref: string;
  readonly keyId: string;
  readonly madeBy: Way;
  /** The generation that the new one follows; 0 of a new key. */
  readonly base: number;
  /** The request to the byte, whoever sends it: what is made for it serves no other. */
  readonly requestDigest: Digest;
  /** Of a new key only. */
  readonly algorithm: string | undefined;
  /** Of a new key only; its algorithm's first where it is left out. */
  readonly scheme: string | undefined;
  /** What is left out stays. */
  readonly authorities: ReadonlyArray<string> | undefined;
  readonly assetOwner: string | undefined;
}

type Asked = { readonly way: "CREATE" } | { readonly way: "ROTATE" | "REFRESH"; readonly keyId: string };

const askedIn = ({ method, path }: Pick<Call, "method" | "path">): Asked | undefined => {
  if (method !== "POST") return undefined;
  if (path === KEYS_PATH) return { way: "CREATE" };
  const rotated = keyIdIn(path, "rotate");
  if (rotated !== undefined) return { way: "ROTATE", keyId: rotated };
  const refreshed = keyIdIn(path, "refresh");
  return refreshed === undefined ? undefined : { way: "REFRESH", keyId: refreshed };
};

export const isMaking = (call: Call): boolean => askedIn(call) !== undefined;

export const makingPermissions = (call: Call): ReadonlyArray<string> => {
  const asked = askedIn(call);
  if (asked === undefined || asked.way === "CREATE") return [CREATE_PERMISSION];
  return asked.way === "ROTATE"
    ? [ROTATE_PERMISSION, keyPermission(asked.keyId, "rotate")]
    : [REFRESH_PERMISSION, keyPermission(asked.keyId, "refresh")];
};

type Fields = Omit<Making, "kind" | "ref" | "locks" | "deadline" | "requestDigest">;

const idsOf = (authorities: ReadonlyArray<{ readonly id: string }> | undefined): ReadonlyArray<string> | undefined =>
  authorities?.map(({ id }) => id);

const fieldsOf = (asked: Asked, rawBody: Uint8Array): Either.Either<Fields, Rejection> =>
  asked.way === "CREATE"
    ? Either.map(
        readBody(rawBody, "a key creation", keyCreationShape),
        ({ keyId, algorithm, scheme, authorities, assetOwner }) => ({
          madeBy: asked.way,
          keyId,
          base: 0,
          algorithm,
          scheme,
          authorities: idsOf(authorities),
          assetOwner,
        }),
      )
    : Either.map(
        readBody(rawBody, "a key renewal", keyRenewalShape),
        ({ baseGeneration, authorities, assetOwner }) => ({
          madeBy: asked.way,
          keyId: asked.keyId,
          base: baseGeneration,
          algorithm: undefined,
          scheme: undefined,
          authorities: idsOf(authorities),
          assetOwner,
        }),
      );

/** A key is made once; its later generations follow each other, and each is found by its own number. */
const nameOf = ({ keyId, madeBy, base }: Fields): string => (madeBy === "CREATE" ? keyId : `${keyId}/${base + 1}`);

/** The key of that name, and its generation where it is one of a renewal; ids of keys have no slash. */
export const madeUnder = (ref: string): { readonly keyId: string; readonly generation: number | undefined } => {
  const at = ref.lastIndexOf("/");
  return at < 0
    ? { keyId: ref, generation: undefined }
    : { keyId: ref.slice(0, at), generation: Number(ref.slice(at + 1)) };
};

/** Reads and validates a request that {@link isMaking}; the left side names every field at fault. */
export const makingOf = memoized(
  (call: Call, crypto: Crypto): Either.Either<Making, Rejection> =>
    Either.map(fieldsOf(askedIn(call) ?? { way: "CREATE" }, call.rawBody), (fields) => ({
      kind: KEYGEN,
      ref: nameOf(fields),
      locks: [generationLock(fields.keyId)],
      deadline: Number.POSITIVE_INFINITY,
      requestDigest: crypto.digest(REQUEST_TAG, requestLineCodec, requestLineOf(call, crypto)),
      ...fields,
    })),
);
