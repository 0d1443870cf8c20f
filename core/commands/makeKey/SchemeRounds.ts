/** The rounds of a key generation and of a refresh as one, over what members say to each other. */
import { Either } from "effect";
import type { Secret } from "../../threshold/Secret.ts";
import type {
  Blame,
  Element,
  KeyAndShare,
  KeygenPackage,
  Parties,
  RefreshPackage,
  SecretsFor,
  ShareIndex,
  ThresholdScheme,
} from "../../threshold/ThresholdScheme.ts";
import type { SaidPackage } from "./KeygenMessages.ts";

/** Said without the key of the session. */
export type Part = Omit<SaidPackage, "boxKey">;

export interface Rounds {
  readonly package: (seed: Secret) => Part;
  readonly shares: (seed: Secret, others: ReadonlyArray<Part>) => Either.Either<SecretsFor, Blame>;
  readonly finish: (
    seed: Secret,
    others: ReadonlyArray<Part>,
    received: SecretsFor,
  ) => Either.Either<KeyAndShare, Blame>;
}

const asElements = (commitments: ReadonlyArray<string>): ReadonlyArray<Element> =>
  // Schemes read what others said, and blame whose word is no element.
  commitments as ReadonlyArray<Element>;

const keygenPackage = ({ index, commitments, proof }: Part): KeygenPackage => ({
  index,
  commitments: asElements(commitments),
  // No proof is none that holds.
  proof: proof ?? "",
});

const refreshPackage = ({ index, commitments }: Part): RefreshPackage => ({
  index,
  commitments: asElements(commitments),
});

const generation = (scheme: ThresholdScheme, me: ShareIndex, parties: Parties): Rounds => ({
  package: (seed) => scheme.keygenPackage(seed, me, parties),
  shares: (seed, others) => scheme.keygenShares(seed, me, parties, others.map(keygenPackage)),
  finish: (seed, others, received) => scheme.keygenFinish(seed, me, parties, others.map(keygenPackage), received),
});

const refresh = (scheme: ThresholdScheme, me: ShareIndex, parties: Parties, old: KeyAndShare): Rounds => ({
  package: (seed) => ({ ...scheme.refreshPackage(seed, me, parties), proof: undefined }),
  shares: (seed) => Either.right(scheme.refreshShares(seed, me, parties)),
  finish: (seed, others, received) => scheme.refreshFinish(seed, old, others.map(refreshPackage), received),
});

/** @param old what is refreshed; absent for a key that is generated */
export const roundsOf = (
  scheme: ThresholdScheme,
  me: ShareIndex,
  parties: Parties,
  old: KeyAndShare | undefined,
): Rounds => (old === undefined ? generation(scheme, me, parties) : refresh(scheme, me, parties, old));
