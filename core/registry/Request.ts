/** What callers can ask a peer for: a change of the registry, or a session to enroll a passkey in. */
import { Either } from "effect";
import type { Response } from "../enrollment/Completion.ts";
import { type Enrollment, enrollmentOf, isOptions } from "../enrollment/Enrollment.ts";
import { isFinish, responseIn } from "../enrollment/Finish.ts";
import type { Call } from "../protocol/Forward.ts";
import type { Rejection } from "../Rejection.ts";
import { METADATA_PERMISSION, REGISTER_PERMISSION } from "./Authorization.ts";
import { type Mutation, mutationOf } from "./Mutation.ts";
import type { Place } from "./Place.ts";
import { type Means, registrationOf } from "./Registration.ts";
import { isReplacement, replacementOf } from "./Replacement.ts";

export type Request = Mutation | Enrollment;

/**
 * What a request is about: the approver, the revision it builds on, which only a replacement has one of, and the
 * response it brings, which only a finish does.
 */
export type Target = Pick<Request, "kind" | "ref" | "baseRevision"> & { readonly response?: Response };

/** What the bearer of the request must be allowed to; a finish needs the invitation instead of a permission. */
export const permissionOf = (call: Call): string | undefined => {
  if (isFinish(call)) return undefined;
  return isReplacement(call) ? METADATA_PERMISSION : REGISTER_PERMISSION;
};

/** Reads and validates a request; the left side names every field at fault. */
export const requestOf = (place: Place, call: Call): Either.Either<Request, Rejection> =>
  isOptions(call) ? enrollmentOf(place.context.settings, call) : mutationOf(place, call);

/** What the call alone says of that, without any row: a finish does not say which approver it is for. */
export const targetIn = (means: Means, call: Call): Target | undefined => {
  if (isOptions(call)) return { kind: "OPTIONS", ref: undefined, baseRevision: undefined };
  if (isFinish(call)) return { kind: "FINISH", ref: undefined, baseRevision: undefined };
  const asked: Either.Either<Target, Rejection> = isReplacement(call)
    ? replacementOf(call)
    : registrationOf(means, call);
  return Either.getOrUndefined(asked);
};

/** What a request is about, whoever asks and whether or not it can be done; undefined where it cannot be understood. */
export const targetOf = (place: Place, call: Call): Target | undefined => {
  if (!isFinish(call)) return Either.getOrUndefined(requestOf(place, call));
  // Which approver it is for would take a verified response; its session tells enough.
  const response = responseIn(place.context.crypto, call);
  return response && { kind: "FINISH", ref: undefined, baseRevision: undefined, response };
};
