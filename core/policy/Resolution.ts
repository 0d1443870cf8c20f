/** What each entry of a policy comes to in the local registry (contract 7, 9.3). It fails closed. */
import { Either } from "effect";
import type { Digest } from "../base/Digest.ts";
import type { Rejection, RejectionCode } from "../base/Rejection.ts";
import { approverRef } from "../credential/ApproverRef.ts";
import { refDigest } from "../credential/SignatureCredential.ts";
import { approvingBy, type PasskeyApproving, type SignatureApproving } from "./Descriptor.ts";
import type { Entry } from "./Entry.ts";
import { listedIn, type Policy, policyDigest } from "./Policy.ts";
import type { PolicyMeans } from "./PolicyRequest.ts";

/** A registered approver, as far as a pin needs it. */
export interface Registered {
  readonly id: string;
  readonly ref: string;
  readonly descriptor: string;
  readonly keyIdentity: Digest;
}

/**
 * Reads this peer's own row by complete ref, its integrity verified. Left `APPROVER_NOT_FOUND` or `INTEGRITY_FAILURE` is
 * about the pin; any other ends the resolution.
 */
export type Lookup = (ref: string) => Either.Either<Registered, Rejection>;

export type UnresolvedCode =
  | "approver_not_found"
  | "integrity_failure"
  /** Registered with a credential or algorithm whose approvals this program cannot verify. */
  | "unsupported_credential"
  /** The key is that of an earlier entry. */
  | "duplicate_key";

export interface Unresolved {
  readonly code: UnresolvedCode;
  readonly detail: string;
  /** The pointer of the earlier entry with the same key. */
  readonly duplicateOf?: string;
}

/** Whose key it is; `id` is that of a pinned approver. */
export type Resolved = (SignatureApproving | PasskeyApproving) & { readonly id?: string };

export interface ResolvedEntry {
  readonly pointer: string;
  /** As it stands in the policy; undefined for an inline key. */
  readonly ref: string | undefined;
  readonly outcome: Either.Either<Resolved, Unresolved>;
}

export interface Resolution {
  readonly entries: ReadonlyArray<ResolvedEntry>;
  /** Undefined unless every entry is resolved: there is nothing to sign then. */
  readonly policyDigest: Digest | undefined;
}

const unresolved = (code: UnresolvedCode, detail: string): Either.Either<never, Unresolved> =>
  Either.left({ code, detail });

const notFound = unresolved("approver_not_found", "No approver of this ref is registered here.");
const damaged = unresolved("integrity_failure", "The stored approver of this ref does not hold.");
const unsupported = unresolved("unsupported_credential", "Approvals of this credential cannot be verified here.");

const ofThePin: Partial<Record<RejectionCode, Either.Either<never, Unresolved>>> = {
  APPROVER_NOT_FOUND: notFound,
  INTEGRITY_FAILURE: damaged,
};

/** The row is the one that the ref names, and its key the one that its descriptor holds. */
const resolvedRow = (means: PolicyMeans, ref: string, row: Registered): Either.Either<Resolved, Unresolved> => {
  const { id, descriptor, keyIdentity } = row;
  const named = approverRef(id, refDigest(means.crypto.sha256OfText, descriptor));
  if (row.ref !== ref || named !== ref) return damaged;
  const approving = approvingBy(means, descriptor);
  if (approving === undefined) return unsupported;
  return approving.keyIdentity === keyIdentity ? Either.right({ ...approving, id }) : damaged;
};

/** Left where the registry as a whole cannot be read. */
const outcomeOf = (
  means: PolicyMeans,
  lookup: Lookup,
  entry: Entry,
): Either.Either<ResolvedEntry["outcome"], Rejection> => {
  if (entry._tag === "Inline") {
    const { credential, keyIdentity } = entry;
    return Either.right(Either.right({ type: credential.type, algorithm: credential.algorithm, keyIdentity }));
  }
  return Either.match(lookup(entry.ref), {
    onLeft: (rejected) => {
      const own = ofThePin[rejected.code];
      return own === undefined ? Either.left(rejected) : Either.right(own);
    },
    onRight: (row) => Either.right(resolvedRow(means, entry.ref, row)),
  });
};

/**
 * Resolves every entry, those that no group names too, and compares their keys after that: the same key twice is a
 * duplicate whether it is pinned or inline, under two ids, or as a P256 key and a passkey (contract 2.2.6, 2.3). It
 * pauses before each lookup.
 *
 * @returns all entries in the order of the policy; or the refusal of a lookup that is not about its pin
 */
export function* resolvePolicy(
  means: PolicyMeans,
  lookup: Lookup,
  policy: Policy,
): Generator<undefined, Either.Either<Resolution, Rejection>> {
  const owners = new Map<Digest, string>();
  const entries: Array<ResolvedEntry> = [];
  for (const { pointer, entry } of listedIn(policy)) {
    if (entry._tag === "Pin") yield;
    const found = outcomeOf(means, lookup, entry);
    if (Either.isLeft(found)) return Either.left(found.left);
    const outcome = Either.flatMap(found.right, (resolved): Either.Either<Resolved, Unresolved> => {
      const duplicateOf = owners.get(resolved.keyIdentity);
      if (duplicateOf === undefined) owners.set(resolved.keyIdentity, pointer);
      return duplicateOf === undefined
        ? Either.right(resolved)
        : Either.left({ code: "duplicate_key", detail: "The key is that of an earlier entry.", duplicateOf });
    });
    entries.push({ pointer, ref: entry._tag === "Pin" ? entry.ref : undefined, outcome });
  }
  const isWhole = entries.every(({ outcome }) => Either.isRight(outcome));
  return Either.right({ entries, policyDigest: isWhole ? policyDigest(means.crypto, policy) : undefined });
}
