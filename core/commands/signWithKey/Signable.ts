/** Whether a key may sign what a request asks for, by the rows and settings of this peer: each member's own judgement. */
import { Either } from "effect";
import type { Digest } from "../../base/Digest.ts";
import { type BodyFault, type Rejection, rejection } from "../../base/Rejection.ts";
import type { StepContext } from "../../protocol/Event.ts";
import type { Step } from "../../protocol/Step.ts";
import { type Suite, suiteOf } from "../../threshold/Suite.ts";
import { isSolo } from "../keys/HeldShare.ts";
import { ARBITRARY } from "../keys/KeyId.ts";
import { authorityNotAttached, keyDestroyed, keyNotFound, keyUnshared } from "../keys/KeyRefusals.ts";
import { generationLock } from "../keys/KeyLocks.ts";
import type { Generation, Key } from "../keys/KeyRecord.ts";
import { generationKey, keyRows } from "../keys/Tables.ts";
import { artifactFaults, messageOf, type SigningRequest } from "./SigningRequest.ts";

export interface Signable {
  readonly key: Key;
  readonly generation: Generation;
  readonly suite: Suite;
  readonly message: Uint8Array;
  readonly messageDigest: Digest;
}

const invalidCommand = (fault: BodyFault): Rejection =>
  rejection(
    "INVALID_COMMAND",
    fault.detail,
    "Ask for the description of the authority: it says what a command looks like.",
    { faults: [fault] },
  );

const SIGNS = "Read the key: its active generation alone signs. Name that one, or none.";
const notActive = rejection(
  "GENERATION_MOVED",
  "The generation that the request names is not the active one at this peer.",
  SIGNS,
);
const noSuchGeneration = rejection("GENERATION_NOT_FOUND", "The key has no such generation.", SIGNS);

/** Where this peer may be behind: others have a generation only once it has prepared that, or lost its memory of it. */
const mayBeBehind = (step: Pick<Step, "mode" | "isLocked">, keyId: string): boolean =>
  step.mode !== "active" || step.isLocked(generationLock(keyId));

/** Whether the generation has the authority of this id, and this peer lets it be used. */
export const isAttached = (
  { arbitrary }: Pick<StepContext["settings"], "arbitrary">,
  { authorities }: Pick<Generation, "authorities">,
  authorityId: string,
): boolean => authorities.includes(authorityId) && (authorityId !== ARBITRARY || arbitrary);

/**
 * Left, in this order: 404 `KEY_NOT_FOUND`, 409 `KEY_DESTROYED`, 404 `GENERATION_NOT_FOUND` for a number that surely no
 * member has, 409 `GENERATION_MOVED` for any other that is not active, 404 `AUTHORITY_NOT_ATTACHED`, 409 `KEY_UNSHARED`,
 * 400 `UNSUPPORTED_ALGORITHM` and `INVALID_COMMAND`.
 */
export const signable = (
  step: Pick<Step, "context" | "membership" | "mode" | "isLocked">,
  request: SigningRequest,
): Either.Either<Signable, Rejection> => {
  const { context, membership } = step;
  const { view, settings, keyCrypto, crypto } = context;
  const rows = keyRows(view);
  const key = rows.get("custodyKeys", request.keyId);
  if (key === undefined) return Either.left(keyNotFound);
  if (key.status === "DESTROYED") return Either.left(keyDestroyed);
  const generation = rows.get("generations", generationKey(key.keyId, key.generation));
  const wanted = request.generation ?? key.generation;
  if (wanted > key.generation && !mayBeBehind(step, key.keyId)) return Either.left(noSuchGeneration);
  if (generation?.state !== "ACTIVE" || generation.generation !== wanted) return Either.left(notActive);
  if (!isAttached(settings, generation, request.authorityId)) return Either.left(authorityNotAttached);
  if (isSolo(generation) && membership.peerIds.length > 1) return Either.left(keyUnshared);
  const suite = suiteOf(keyCrypto, key.algorithm, key.scheme);
  if (suite === undefined)
    return Either.left(
      rejection("UNSUPPORTED_ALGORITHM", "This peer cannot sign with keys of this kind.", "Ask another peer."),
    );
  if (request.scheme !== key.scheme) return Either.left(invalidCommand(artifactFaults.scheme));
  const message = messageOf(request);
  const { messageBytes = message.length } = suite;
  if (message.length !== messageBytes) return Either.left(invalidCommand(artifactFaults.lengthOtherThan(messageBytes)));
  return Either.right({ key, generation, suite, message, messageDigest: crypto.sha256(message) });
};
