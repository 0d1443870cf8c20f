/** The meaning of a request that destroys a generation of a key, or the whole key. */
import { Either } from "effect";
import { readBody } from "../../credential/RequestBody.ts";
import { memoized } from "../../base/Memo.ts";
import { type Rejection, rejection } from "../../base/Rejection.ts";
import type { Intent } from "../../protocol/Command.ts";
import type { Call } from "../../protocol/Forward.ts";
import { keyDestructionShape } from "../keys/KeyBodies.ts";
import { keyIdIn, keyPermission } from "../keys/KeyId.ts";
import { generationLock } from "../keys/KeyLocks.ts";

export const DESTROY = "DESTROY";

export interface Destruction extends Intent {
  readonly kind: typeof DESTROY;
  readonly keyId: string;
  /** The key's newest generation, as its caller knows it. */
  readonly base: number;
  /** What is destroyed. */
  readonly generation: number;
  /** Whether the whole key is destroyed with it. */
  readonly isFinal: boolean;
}

const keyIdOf = ({ method, path }: Pick<Call, "method" | "path">): string | undefined =>
  method === "POST" ? keyIdIn(path, "destroy") : undefined;

export const isDestruction = (call: Call): boolean => keyIdOf(call) !== undefined;

export const destructionPermissions = (call: Call): ReadonlyArray<string> => [
  keyPermission(keyIdOf(call) ?? "", "destroy"),
];

/** A destruction's result is found under the name of what it destroys. */
export const destroyedName = (keyId: string, generation: number): string => `${keyId}/${generation}`;

/** What is under that name. */
export const namedBy = (ref: string): { readonly keyId: string; readonly generation: number } => {
  const at = ref.lastIndexOf("/");
  return { keyId: ref.slice(0, at), generation: Number(ref.slice(at + 1)) };
};

const notActive = rejection(
  "INVALID_REQUEST_BODY",
  "The request body is not a key destruction.",
  "Correct what the errors point at and send the request again; nothing was changed.",
  {
    faults: [
      {
        pointer: "/generation",
        code: "invalid_value",
        detail: "With final this is the active generation, as in baseGeneration.",
      },
    ],
  },
);

/** Reads and validates a request that {@link isDestruction}; the left side names every field at fault. */
export const destructionOf = memoized((call: Call): Either.Either<Destruction, Rejection> => {
  const keyId = keyIdOf(call) ?? "";
  return Either.flatMap(
    readBody(call.rawBody, "a key destruction", keyDestructionShape),
    ({ baseGeneration: base, generation, final }) =>
      final === true && generation !== base
        ? Either.left(notActive)
        : Either.right({
            kind: DESTROY,
            ref: destroyedName(keyId, generation),
            locks: [generationLock(keyId)],
            deadline: Number.POSITIVE_INFINITY,
            keyId,
            base,
            generation,
            isFinal: final === true,
          }),
  );
});
