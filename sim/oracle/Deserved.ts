/**
 * Whether a refusal had a reason: what a member may have against a proposal of an honest writer, by what callers sent,
 * what the token said, and what the member had. The opposite of {@link Oracle}, which says what it must have.
 */
import type { Proposal } from "../../core/protocol/Proposal.ts";
import type { SignedStatement } from "../../core/protocol/Statement.ts";
import type { Said } from "../requests/Said.ts";

/** By how much clocks of issuers and members may differ. */
const TOKEN_SKEW_MILLIS = 15_000;

/** What a member had when it refused. */
export interface Having {
  /** Why it should not have signed, by its rows and those of callers' requests; undefined where it could. */
  readonly fault: string | undefined;
  /** The proposal that its slot was bound to, if any. */
  readonly bound: string | undefined;
  readonly isExcluded: boolean;
  readonly reserved: number;
}

/** What is known of the member itself. */
export interface Refuser {
  /** It may take good tokens for bad ones. */
  readonly misjudgesTokens: boolean;
  /** Its configuration; undefined where nobody knows. */
  readonly configDigest: string | undefined;
  /** How many preparations it may have. */
  readonly preparations: number;
}

/** Checks about the state of the member, the world or a message, by what neither requests nor rows tell. */
const unjudged: ReadonlySet<string> = new Set([
  "VERSION_NOT_SPOKEN",
  "CLOCK_IN_DOUBT",
  "STALE_REQUEST",
  "UNACKNOWLEDGED",
  "DENIED",
  "WRONG_INCARNATION",
  "ABANDONED",
  "REFUSED_BY_ANOTHER",
  "RECOVERING",
]);

/** What an honest writer and an honest entry peer never give reason for. */
const neverHonest: ReadonlySet<string> = new Set(["WRONG_ACTOR", "NOT_ATTESTED", "WRONG_REQUEST"]);

const tokenReason = (said: Said, { actor }: Proposal, signedAt: number, misjudges: boolean): boolean => {
  const token = said.tokenOf(actor.jti);
  if (token === undefined || misjudges) return true;
  const { claims, kind } = token;
  if (kind === "forged" || kind === "foreign") return true;
  const issuedAt = claims.issuedAt ?? signedAt;
  return signedAt >= claims.expiresAt || issuedAt > signedAt + TOKEN_SKEW_MILLIS;
};

/** A refusal and all that it is judged by. */
interface Case {
  readonly said: Said;
  readonly proposal: Proposal;
  readonly signed: SignedStatement;
  readonly having: Having;
  readonly refuser: Refuser;
}

/** By check: why its refusal was not deserved, or undefined. */
const reasons: ReadonlyMap<string, (refused: Case) => string | undefined> = new Map([
  [
    "SLOT_TAKEN",
    ({ proposal, signed, having: { bound } }) =>
      bound !== undefined && bound !== signed.statement.proposalId
        ? undefined
        : `slot ${proposal.seq} was bound to nothing else`,
  ],
  [
    "CONFIGURATION_DIFFERS",
    // Between its answer that it was ready and the proposal it may have been started with another.
    ({ proposal, refuser }) =>
      refuser.configDigest === proposal.configDigest ? "its configuration is that of the proposal" : undefined,
  ],
  [
    "CLOCK_SKEW",
    ({ proposal: { proposedAt }, signed }) =>
      proposedAt > signed.header.signedAt
        ? undefined
        : `it was proposed at ${proposedAt}, before ${signed.header.signedAt}`,
  ],
  [
    "EXPIRED",
    ({ proposal: { expiresAt }, signed }) =>
      signed.header.signedAt > expiresAt
        ? undefined
        : `it was refused at ${signed.header.signedAt}, and lasts until ${expiresAt}`,
  ],
  [
    "UNAUTHENTICATED",
    ({ said, proposal, signed, refuser }) =>
      tokenReason(said, proposal, signed.header.signedAt, refuser.misjudgesTokens) ? undefined : "its token was good",
  ],
  [
    "ACCESS_DENIED",
    ({ said, proposal }) => (said.tokenOf(proposal.actor.jti)?.kind === "good" ? "its token permits it" : undefined),
  ],
  ["LOCKED", ({ having }) => (having.isExcluded ? undefined : "nothing that this member had prepared excludes it")],
  [
    "PREPARATION_CAPACITY",
    ({ having: { reserved }, refuser }) =>
      reserved >= refuser.preparations ? undefined : `this member had prepared ${reserved}`,
  ],
]);

/** Why a refusal was not deserved, or undefined. */
export const undeserved = (
  said: Said,
  proposal: Proposal,
  signed: SignedStatement,
  having: Having,
  refuser: Refuser,
): string | undefined => {
  const { detail } = signed.statement;
  if (unjudged.has(detail)) return undefined;
  if (neverHonest.has(detail)) return "its writer and its entry peer are honest";
  const reason = reasons.get(detail);
  if (reason !== undefined) return reason({ said, proposal, signed, having, refuser });
  return having.fault === undefined ? "by its rows this member could sign it" : undefined;
};
