/** What a caller may take for a success: it is about what was asked, and the token could carry it (S14, S30). */
import type { Answer } from "../../core/Action.ts";
import type { ProtocolAnswer } from "../../core/protocol/Answer.ts";
import type { TokenKind } from "./Commands.ts";
import { Violation } from "../base/Violation.ts";

/** The answers that say that something was done for a caller: those of all commands and modules. */
export type Success = Exclude<Answer, ProtocolAnswer>;

const others: { readonly [T in ProtocolAnswer["_tag"]]: true } = {
  Initialized: true,
  Rotated: true,
  Rekeyed: true,
  Audited: true,
  Restoring: true,
  Promotion: true,
  Readiness: true,
  Rejected: true,
};

export const isSuccess = (answer: Answer): answer is Success => !Object.hasOwn(others, answer._tag);

/** The tokens that allow nothing, whatever the clock says. */
const allowsNothing: ReadonlySet<TokenKind> = new Set(["forbidden", "foreign", "forged"]);

/** Throws {@link Violation} where a token could not carry what was done. */
export const assertAllowed = (requestId: string, token: TokenKind): void => {
  if (allowsNothing.has(token))
    throw new Violation("S30", `request ${requestId} carried a token that is ${token}`, "it was answered with success");
};

/** A success of another kind than asked for. */
export const unasked = (requestId: string, kind: string, { _tag }: Success): Violation =>
  new Violation("S14", `request ${requestId} is a ${kind}`, `it was answered ${_tag}`);
