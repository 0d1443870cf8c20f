/** What callers ask of lists (contract 4.1.1), and what they are answered. */
import type { RejectionCode } from "../../core/base/Rejection.ts";
import type { ApproverFilter } from "../../core/commands/approvers/Terms.ts";
import type { ListEdge } from "../requests/ListQueries.ts";
import type { Walk } from "./Listing.ts";

/** One page, as its caller asks for it; the same object from its question to its answer. */
export interface PageAsked {
  /** The pages that are asked for one after the other, this one among them. */
  readonly walk: Walk;
  readonly filter: ApproverFilter;
  /** From 1. */
  readonly limit: number;
  /** Absent for the first page. */
  readonly cursor: string | undefined;
  /** All this as its caller writes it. */
  readonly query: string;
  /** The rule that the query just keeps, or just breaks; absent for most. */
  readonly edge?: ListEdge;
}

/** What the service says to it. */
export type PageAnswer =
  | {
      readonly _tag: "Page";
      readonly refs: ReadonlyArray<string>;
      /** The cursor of the next page; undefined on the last one. */
      readonly next: string | undefined;
    }
  | { readonly _tag: "Refused"; readonly code: RejectionCode }
  | { readonly _tag: "QueryRefused" }
  | { readonly _tag: "CursorRefused" };

/** The answer, or nothing where no process was there, or it ended in the middle. */
export type PageOutcome = PageAnswer | "gone";
