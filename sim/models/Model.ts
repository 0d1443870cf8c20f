/**
 * A command as the simulator sees it from outside: what callers ask, what a naive registry makes of it, what success
 * shows, and how it is told. Peers and checkers of a world know commands by these and by nothing else (Models.ts).
 */
import type { RejectionCode } from "../../core/base/Rejection.ts";
import type { Proposal } from "../../core/protocol/Proposal.ts";
import type { Unit } from "../base/Choices.ts";
import type { Commands, TokenKind } from "../requests/Commands.ts";
import type { WorkloadPlan } from "../base/Plan.ts";
import type { Success } from "../requests/Success.ts";
import type { Asked, Meant, Permission } from "../requests/Asked.ts";
import type { Meaning } from "./Meaning.ts";
import type { Basis, NaiveRegistry } from "./NaiveRegistry.ts";
import type { Change, Subject } from "./Subject.ts";

/** A look at a subject, through any peer. */
export interface Look {
  readonly subject: Subject;
  readonly ref: string;
}

/** Something that callers do now and then. */
export interface Deed {
  readonly name: string;
  /** How often, beside the weights of the plan. */
  readonly weight: number;
  readonly draw: (unit: Unit) => Asked | Look;
}

/** A subject that a caller was told of: the name that its history is kept under, and its owner. */
export type Known = (ref: string) => { readonly key: string; readonly id: string } | undefined;

type Lie = (proposal: Proposal) => Proposal;

/** The command, for requests that end in proposals. */
export interface Changing {
  /** Its name in the audit, and the generation that it is told of there; undefined where it changes an approver. */
  auditOf(proposal: Pick<Proposal, "effects">): { readonly event: string; readonly generation?: number | undefined };
  readonly registry: (basis: Basis) => NaiveRegistry;
  /** Throws for a proposal that no member would prepare. */
  changeOf(proposal: Pick<Proposal, "kind" | "effects">): Change;
  /** The locks that it must hold, by the protocol's words. */
  locksOf(proposal: Proposal): ReadonlyArray<string>;
  /** What it is about, in a word or two. */
  nameOf(proposal: Pick<Proposal, "kind" | "effects">): string;
  /** The request that has led to it, as its caller meant it; undefined where asking again tells nothing. */
  askedOf(commands: Commands, proposal: Proposal): Asked | undefined;
  /**
   * The same proposal with effects that do not follow from its request, one lie each; the first is about another subject.
   * As it is where its effects cannot be read.
   */
  readonly lies: readonly [Lie, ...ReadonlyArray<Lie>];
  /** The same change, proposed at another time. */
  restamped(proposal: Proposal, proposedAt: number): Proposal;
}

// Methods: a model of narrower requests is one, too.
export interface Model<A extends Meant = Meant> {
  readonly kind: string;
  readonly permission: Permission;
  /** What its callers do beside what the plan says of all callers; this begins anew with every run. */
  deeds(commands: Commands, plan: WorkloadPlan): ReadonlyArray<Deed>;
  /** The request of a caller who contradicts this one, or the same. */
  rewritten(commands: Commands, asked: A): Asked;
  /** Throws a Violation unless a success is about what was asked for, and the token could carry it (S14, S30). */
  assertMeant(requestId: string, asked: A, token: TokenKind, answer: Success): void;
  /** The meaning of a request for the history; undefined where it has none. */
  meaning(asked: A, known: Known): Meaning | undefined;
  /** What a certain refusal tells its caller, beside that nothing was done. */
  refusedAs(code: RejectionCode): "no" | "taken" | "stale";
  readonly changes: Changing | undefined;
}
