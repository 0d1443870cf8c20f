/** What a caller may take a success for: it is about what was asked, and the token could carry it (S14, S30). */
import type { Rows } from "../core/Tables.ts";
import type { Answer } from "../core/Action.ts";
import type { Command, Replacement, TokenKind } from "./Commands.ts";
import type { Finish, Invite } from "./EnrollmentRequests.ts";
import { Violation } from "./Violation.ts";

/** The tokens that allow nothing, whatever the clock says. */
const allowsNothing: ReadonlySet<TokenKind> = new Set(["forbidden", "foreign", "forged"]);

const assertAllowed = (requestId: string, token: TokenKind): void => {
  if (allowsNothing.has(token))
    throw new Violation("S30", `request ${requestId} carried a token that is ${token}`, "it was answered with success");
};

/** One registration as it was sent. */
interface Attempt {
  readonly command: Pick<Command, "id" | "descriptor">;
  readonly token: TokenKind;
}

/** Throws {@link Violation} when a success speaks of another approver, or the token could not allow any. */
const assertAskedFor = (
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
const assertEnrolled = (
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
const assertReplaced = (
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

/** What a caller asked for, as far as an answer is held against it. */
export type Meant =
  | Pick<Command, "kind" | "id" | "descriptor">
  | Pick<Replacement, "kind" | "ref" | "ifMatch" | "team">
  | Pick<Invite, "kind" | "id">
  | Pick<Finish, "kind" | "id" | "descriptor" | "isHonest" | "signCount">;

/** The answers that say that something was done. */
export type Success = Extract<Answer, { readonly _tag: "Registered" | "Replaced" | "Offered" }>;

export const isSuccess = (answer: Answer): answer is Success =>
  answer._tag === "Registered" || answer._tag === "Replaced" || answer._tag === "Offered";

/** Throws {@link Violation} when a success is none of what was asked for, or the token could not allow it. */
export const assertMeant = (requestId: string, asked: Meant, token: TokenKind, answer: Success): void => {
  if (asked.kind === "REGISTER" && answer._tag === "Registered")
    return assertAskedFor(requestId, { command: asked, token }, answer.approver);
  if (asked.kind === "FINISH" && answer._tag === "Registered") return assertEnrolled(requestId, asked, token, answer);
  if (asked.kind === "METADATA" && answer._tag === "Replaced")
    return assertReplaced(requestId, asked, token, answer.approver);
  if (asked.kind === "OPTIONS" && answer._tag === "Offered" && answer.offer.publicKey.user.name === asked.id)
    return assertAllowed(requestId, token);
  throw new Violation("S14", `request ${requestId} is a ${asked.kind}`, `it was answered ${answer._tag}`);
};
