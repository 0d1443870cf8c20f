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

/** What is known of a subject once somebody was told of it: what its history is kept under, and whose it is. */
export type Known = (ref: string) => { readonly key: string; readonly id: string } | undefined;

type Lie = (proposal: Proposal) => Proposal;

/** What of it ends in proposals. */
export interface Changing {
  /** What audits call it. */
  readonly event: string;
  readonly registry: (basis: Basis) => NaiveRegistry;
  /** Throws for what no member would prepare. */
  changeOf(proposal: Pick<Proposal, "kind" | "effects">): Change;
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

// Methods: a model of narrower requests is one.
export interface Model<A extends Meant = Meant> {
  readonly kind: string;
  readonly permission: Permission;
  /** What its callers do beside what the plan says of everybody; they begin anew with every run. */
  deeds(commands: Commands, plan: WorkloadPlan): ReadonlyArray<Deed>;
  /** What somebody asks for who contradicts this request, or the same. */
  rewritten(commands: Commands, asked: A): Asked;
  /** Throws a Violation unless a success is about what was asked for, and the token could carry it (S14, S30). */
  assertMeant(requestId: string, asked: A, token: TokenKind, answer: Success): void;
  /** What history is to make of a request; undefined where it has nothing to say of it. */
  meaning(asked: A, known: Known): Meaning | undefined;
  /** What a refusal for certain says to its caller, beside that nothing was done. */
  refusedAs(code: RejectionCode): "no" | "taken" | "stale";
  readonly changes: Changing | undefined;
}
