/**
 * The changes of the registry that callers can ask for. What differs between
 * them is here and in the file of each; queue, votes, delivery and settlement
 * are the same for all. Everything is computed from the call and one peer's own
 * rows, so that every member can compute it again and compare bytes.
 */
import { absurd, Either } from "effect";
import type { Call } from "../protocol/Forward.ts";
import { type Finish, finishOf, finishStanding, isFinish } from "../enrollment/Finish.ts";
import type { Rejection } from "../Rejection.ts";
import type { Place } from "./Place.ts";
import { type Means, type Registration, registrationOf, registrationStanding } from "./Registration.ts";
import { isReplacement, type Replacement, replacementOf, replacementStanding } from "./Replacement.ts";
import type { Standing } from "./Standing.ts";

export type Mutation = Registration | Replacement | Finish;

/** Calls understood before, by these means: a request is judged where it enters and again by each vote on it. */
const understood = new WeakMap<Call, Means & { readonly meaning: Either.Either<Mutation, Rejection> }>();

/** Reads and validates a mutation; the left side names every field at fault. */
export const mutationOf = (place: Place, call: Call): Either.Either<Mutation, Rejection> => {
  // The one mutation that means nothing without rows of this peer's own.
  if (isFinish(call)) return finishOf(place, call);
  const { crypto, providers } = place.context;
  const known = understood.get(call);
  if (known !== undefined && known.crypto === crypto && known.providers === providers) return known.meaning;
  const meaning = isReplacement(call) ? replacementOf(call) : registrationOf({ crypto, providers }, call);
  understood.set(call, { crypto, providers, meaning });
  return meaning;
};

/** How a mutation stands against a peer's registry. */
export const standingOf = (place: Place, mutation: Mutation): Standing => {
  switch (mutation.kind) {
    case "REGISTER":
      return registrationStanding(place.context.view, mutation);
    case "METADATA":
      return replacementStanding(place.context.view, mutation);
    case "FINISH":
      return finishStanding(place, mutation);
    default:
      return absurd(mutation);
  }
};
