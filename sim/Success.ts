/** What a caller may take a success for: it is about what was asked, and the token could carry it (S14, S30). */
import type { Rows } from "../core/Tables.ts";
import type { Command, TokenKind } from "./Commands.ts";
import { Violation } from "./Violation.ts";

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
  if (token === "forbidden" || token === "foreign" || token === "forged")
    throw new Violation("S30", `request ${requestId} carried a token that is ${token}`, "it was answered with success");
};
