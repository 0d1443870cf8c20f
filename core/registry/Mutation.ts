/**
 * The changes of the registry that callers can ask for. What differs between
 * them is here and in the file of each; queue, votes, delivery and settlement
 * are the same for all. Everything is computed from the call and one peer's own
 * rows, so that every member can compute it again and compare bytes.
 */
import { Either } from "effect";
import type { Call } from "../protocol/Forward.ts";
import type { Rejection } from "../Rejection.ts";
import type { RowView } from "../Tables.ts";
import { METADATA_PERMISSION, REGISTER_PERMISSION } from "./Authorization.ts";
import { type Means, type Registration, registrationOf, registrationStanding } from "./Registration.ts";
import { isReplacement, type Replacement, replacementOf, replacementStanding } from "./Replacement.ts";
import type { Standing } from "./Standing.ts";

export type Mutation = Registration | Replacement;

/** What a mutation is about: the approver, and the revision it builds on, which a registration has none of. */
export type Target = Pick<Mutation, "ref" | "baseRevision">;

/** What the bearer of the request must be allowed to. */
export const permissionOf = (call: Call): string => (isReplacement(call) ? METADATA_PERMISSION : REGISTER_PERMISSION);

/** Calls understood before, by these means: a request is judged where it enters and again by each vote on it. */
const understood = new WeakMap<Call, Means & { readonly meaning: Either.Either<Mutation, Rejection> }>();

/** Reads and validates a mutation; the left side names every field at fault. */
export const mutationOf = ({ crypto, providers }: Means, call: Call): Either.Either<Mutation, Rejection> => {
  const known = understood.get(call);
  if (known !== undefined && known.crypto === crypto && known.providers === providers) return known.meaning;
  const meaning = isReplacement(call) ? replacementOf(call) : registrationOf({ crypto, providers }, call);
  understood.set(call, { crypto, providers, meaning });
  return meaning;
};

/** How a mutation stands against a peer's registry. */
export const standingOf = (view: RowView, mutation: Mutation): Standing =>
  mutation.kind === "METADATA" ? replacementStanding(view, mutation) : registrationStanding(view, mutation);
