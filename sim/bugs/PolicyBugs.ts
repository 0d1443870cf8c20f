/** Bugs of what refs name and of what policies come to. */
import { Either } from "effect";
import { policyDigest } from "../../core/policy/Policy.ts";
import { readPolicy } from "../../core/policy/PolicyRequest.ts";
import type { resolutionOf } from "../../runtime/PolicyReads.ts";
import type { PlantedBug } from "./PlantedBug.ts";

/** What does not hold of an entry does not matter: there is a digest all the same. */
const failingOpen = (real: typeof resolutionOf): typeof resolutionOf =>
  function* resolved(means, lookup, body) {
    const policy = yield* readPolicy(means, body);
    const resolution = yield* real(means, lookup, body);
    if (Either.isLeft(policy)) return resolution;
    return Either.map(resolution, (each) => ({ ...each, policyDigest: policyDigest(means.crypto, policy.right) }));
  };

/** Keys are compared by the ref that names them. */
const twinsCount = (real: typeof resolutionOf): typeof resolutionOf =>
  function* resolved(means, lookup, body) {
    const policy = yield* readPolicy(means, body);
    const resolution = yield* real(means, lookup, body);
    if (Either.isLeft(policy) || Either.isLeft(resolution)) return resolution;
    const own = resolution.right.entries.map((entry) =>
      Either.isLeft(entry.outcome) && entry.outcome.left.code === "duplicate_key"
        ? {
            ...entry,
            outcome: Either.right({
              type: "SIGNATURE" as const,
              algorithm: "P256",
              keyIdentity: entry.pointer as never,
            }),
          }
        : entry,
    );
    const isWhole = own.every(({ outcome }) => Either.isRight(outcome));
    return Either.right({ entries: own, policyDigest: isWhole ? policyDigest(means.crypto, policy.right) : undefined });
  };

export const policyBugs: ReadonlyArray<PlantedBug> = [
  {
    name: "ref-as-meant",
    changes: "a read takes a ref with white space behind it for the ref",
    finds: "S49",
    tampering: () => ({ got: (real) => (ports, actor, ref) => real(ports, actor, ref.trim()) }),
  },
  {
    name: "policy-fails-open",
    changes: "a policy of which an entry is not resolved has a digest",
    finds: "S49",
    tampering: () => ({ resolved: failingOpen }),
  },
  {
    name: "one-key-approves-twice",
    changes: "the same key under two refs of a policy counts as two",
    finds: "S49",
    tampering: () => ({ resolved: twinsCount }),
  },
];
