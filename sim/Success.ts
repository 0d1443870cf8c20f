/** What a caller may take a success for: it is about what was asked, and the token could carry it (S14, S30). */
import type { Rows } from "../core/Tables.ts";
import type { Answer } from "../core/Action.ts";
import type { Command, Replacement, TokenKind } from "./Commands.ts";
import type { Finish } from "./EnrollmentRequests.ts";
import { Violation } from "./Violation.ts";

/** The tokens that allow nothing, whatever the clock says. */
const allowsNothing: ReadonlySet<TokenKind> = new Set(["forbidden", "foreign", "forged"]);

export const assertAllowed = (requestId: string, token: TokenKind): void => {
  if (allowsNothing.has(token))
    throw new Violation("S30", `request ${requestId} carried a token that is ${token}`, "it was answered with success");
};

/** One registration as it was sent. */
export interface Attempt {
  readonly command: Pick<Command, "id" | "descriptor">;
  readonly token: TokenKind;
}

/** Throws {@link Violation} when a success speaks of another approver, or the token could not allow any. */
export const assertAskedFor = (
  requestId: string,
  { command, token }: Attempt,
  approver: Pick<Rows["approvers"], "id" | "descriptor" | "ref">,
): void => {
  if (approver.id !== command.id || approver.descriptor !== command.descriptor)
    throw new Violation(
      "S14",
      `request ${requestId} registers id ${command.id}`,
      `it was answered with approver ${approver.ref}`,
    );
  assertAllowed(requestId, token);
};

/** The same for an enrollment: an honest response, under whatever token is one at all. */
export const assertEnrolled = (
  requestId: string,
  { id, descriptor, isHonest, signCount }: Pick<Finish, "id" | "descriptor" | "isHonest" | "signCount">,
  token: TokenKind,
  { approver, observations }: Pick<Extract<Answer, { readonly _tag: "Registered" }>, "approver" | "observations">,
): void => {
  if (
    !isHonest ||
    approver.id !== id ||
    approver.descriptor !== descriptor ||
    observations === undefined ||
    observations.signCount < signCount
  )
    throw new Violation(
      "S14",
      `request ${requestId} brings ${isHonest ? "a" : "no honest"} response for id ${id}, with counter ${signCount}`,
      `it was answered with approver ${approver.ref} and counter ${observations?.signCount}`,
    );
  if (token !== "forbidden") assertAllowed(requestId, token);
};

/** The same for a replacement: it led from the revision it named to the next, with its own metadata. */
export const assertReplaced = (
  requestId: string,
  { ref, ifMatch, team }: Pick<Replacement, "ref" | "ifMatch" | "team">,
  token: TokenKind,
  approver: Pick<Rows["approvers"], "ref" | "revision" | "metadata">,
): void => {
  const metadata = team === undefined ? [] : [["team", team]];
  if (
    approver.ref !== ref ||
    ifMatch !== `"${approver.revision - 1}"` ||
    JSON.stringify(approver.metadata) !== JSON.stringify(metadata)
  )
    throw new Violation(
      "S14",
      `request ${requestId} gives ${ref} at ${ifMatch} the metadata ${JSON.stringify(metadata)}`,
      `it was answered with revision ${approver.revision} of ${approver.ref} and ${JSON.stringify(approver.metadata)}`,
    );
  assertAllowed(requestId, token);
};
