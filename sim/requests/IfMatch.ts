/** What callers put into If-Match when they replace metadata. */
import { absurd } from "effect";

/** The first is the revision last heard of. */
export const guesses = ["that", "the one before", "the one after", "weak", "a wildcard", "a list", "nothing"] as const;
export type Guess = (typeof guesses)[number];

/** The header for a guess about an approver of which a revision was last heard; undefined for none. */
export const ifMatchOf = (guess: Guess, revision: number): string | undefined => {
  switch (guess) {
    case "that":
      return `"${revision}"`;
    case "the one before":
      return `"${revision - 1}"`;
    case "the one after":
      return `"${revision + 1}"`;
    case "weak":
      return `W/"${revision}"`;
    case "a wildcard":
      return "*";
    case "a list":
      return `"${revision}", "${revision + 1}"`;
    case "nothing":
      return undefined;
    default:
      return absurd(guess);
  }
};
