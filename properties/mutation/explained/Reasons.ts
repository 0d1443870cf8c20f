/** Why nobody has to notice a change, and what is said of many. */

/** By file, and for each reason the changes it holds for: the code as it is, and what it is changed to. */
export interface ExplainedFiles {
  readonly [file: string]: { readonly [why: string]: ReadonlyArray<readonly [original: string, replacement: string]> };
}

/** Nothing but the type checker asks, since it does not know what the code knows. */
export const FOR_TYPES = "What is asked for is always there; the condition tells the type checker.";

/** Of what is kept beside what it was made of. */
export const REMEMBERED = "Found out anew, it is the same; what is remembered saves the work.";
