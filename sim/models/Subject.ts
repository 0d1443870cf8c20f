/**
 * What commands change, as a naive registry sees it: rows of one table, one for each subject, under its ref and in
 * revisions that rise one by one from 1. Checkers compare what peers store and say with it.
 */
import type { Answer } from "../../core/Action.ts";
import type { SetAccumulator } from "../../core/base/Digest.ts";
import type { Crypto } from "../../core/crypto/Crypto.ts";
import type { Seen } from "./Meaning.ts";

/** A subject as a success shows it. */
export interface Shown<R extends object = object> {
  readonly ref: string;
  readonly row: R;
  /** Whether it was this request that made it. */
  readonly created: boolean;
  /** The revision that every member has by then; the one shown may still be on its way to others. */
  readonly promised: number;
  /** What no other request may be told that it made. */
  readonly own: string | undefined;
}

// Methods: a subject of narrower rows is one, too.
export interface Subject<R extends object = object> {
  readonly table: string;
  /** In one word, for people. */
  readonly name: string;
  /** Whether it is one of those that the registry counts. */
  readonly isCounted: boolean;
  revisionOf(row: R): number;
  /** The set that the registry root is over, with this one in it (S13). */
  addTo(crypto: Crypto, set: SetAccumulator, row: R): SetAccumulator;
  /** What differs between two rows that must never differ (S12). */
  changed(first: R, now: R): string | undefined;
  /** What differs between two rows of the same revision (S11, S14). */
  differs(left: R, right: R): string | undefined;
  /** Undefined where an answer shows none of these. */
  shownIn(answer: Answer): Shown<R> | undefined;
  /** As a caller sees it who reads it, or is told of it (H1). */
  seen(row: R): Seen;
}

/** Rows that the registry root is over, and that are no subjects. */
// A method: one of narrower rows is one, too.
export interface Covered<R extends object = object> {
  readonly table: string;
  addTo(crypto: Crypto, set: SetAccumulator, row: R): SetAccumulator;
}

/** What a proposal makes of a subject. */
export interface Change {
  readonly subject: Subject;
  readonly ref: string;
  readonly revision: number;
  /** Its state from then on. */
  readonly row: object;
}
