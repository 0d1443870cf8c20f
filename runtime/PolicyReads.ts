/** A policy as a request brings it, against what this peer has (contract 2.6, 7). */
import { Either } from "effect";
import type { Rejection } from "../core/base/Rejection.ts";
import { type PolicyMeans, readPolicy } from "../core/policy/PolicyRequest.ts";
import { type Lookup, type Resolution, resolvePolicy } from "../core/policy/Resolution.ts";

/**
 * Reads the policy in a body and resolves its entries, pausing between any two of them.
 *
 * Left: `INVALID_REQUEST_BODY`, or the refusal of a lookup that is not about its pin.
 */
export function* resolutionOf(
  means: PolicyMeans,
  lookup: Lookup,
  body: Uint8Array,
): Generator<undefined, Either.Either<Resolution, Rejection>> {
  const policy = yield* readPolicy(means, body);
  return Either.isLeft(policy) ? Either.left(policy.left) : yield* resolvePolicy(means, lookup, policy.right);
}
