/** The rounds of a key generation, a refresh and a dealing as one, over what members say to each other. */
import { absurd, Either } from "effect";
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
  WholeKey,
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

const dealing = (scheme: ThresholdScheme, me: ShareIndex, parties: Parties, whole: WholeKey): Rounds => ({
  package: (seed) => ({ ...scheme.dealPackage(seed, whole, me, parties), proof: undefined }),
  shares: (seed) => Either.right(scheme.dealShares(seed, whole, me, parties)),
  finish: (seed, others, received) => scheme.dealFinish(seed, whole, me, parties, others.map(refreshPackage), received),
});

/** What new shares of a key are made of: this member's share, or a key that is whole at one member. */
export type Old =
  | { readonly _tag: "Held"; readonly held: KeyAndShare }
  | { readonly _tag: "Whole"; readonly whole: WholeKey };

/** Once nothing more is made of it. */
export const wipeOld = (old: Old | undefined): void =>
  (old?._tag === "Whole" ? old.whole.secret : old?.held.share.secret)?.wipe();

/** @param old absent for a key that is generated */
export const roundsOf = (scheme: ThresholdScheme, me: ShareIndex, parties: Parties, old: Old | undefined): Rounds => {
  switch (old?._tag) {
    case undefined:
      return generation(scheme, me, parties);
    case "Held":
      return refresh(scheme, me, parties, old.held);
    case "Whole":
      return dealing(scheme, me, parties, old.whole);
    default:
      return absurd(old);
  }
};
