/** A peer's disk as the world handles it: a store for the driver, and the ways in which disks fail. */
import { SELF } from "../../core/protocol/Tables.ts";
import type { RowView, TableName } from "../../core/Tables.ts";
import { IntegrityFailure, type KeyView, type PeerStore } from "../../runtime/PeerStore.ts";
import type { IntegrityKey } from "../../runtime/RowSeal.ts";
import type { FlushEnd } from "./LayeredDisk.ts";

/** What somebody without keys makes of a row: a bit of it is another, it has a proof of its own, or it is another row. */
export const alterations = ["a bit flipped", "a proof forged", "another row in its place"] as const;
export type Alteration = (typeof alterations)[number];

export interface PeerDisk extends PeerStore, KeyView {
  readonly flushing: boolean;
  /** Whether an open would find content that is not durable yet. */
  readonly isVolatile: boolean;
  readonly endFlush: (how: FlushEnd) => void;
  /** The process ends; whether the commit under way is visible to the next open. */
  readonly crash: (visible: boolean) => void;
  /** The process ends and everything volatile vanishes. */
  readonly losePower: () => void;
  /** Makes what was recovered durable. */
  readonly open: () => void;
  /** Brings the integrity key into use, or takes it away. */
  readonly useKey: (present: boolean) => void;
  /** Brings a later integrity key into memory. */
  readonly addKey: (integrity: IntegrityKey) => void;
  /** Rows as they lie there, for those who watch: a read of the peer itself proves them first. */
  readonly watched: RowView;
  /** Where the rows do not hold that its start has read, or undefined; what a peer asks itself when it is unsealed. */
  readonly verify: () => string | undefined;
  /** Whether rows are left to be verified after an unseal. */
  readonly verifiesLater: boolean;
  /** Whether none are. */
  readonly isWhole: boolean;
  /** Looks at some more of its rows: where they do not hold, whether that were the last, or that there are more. */
  readonly verifyMore: () => "more" | "whole" | { readonly fault: string };
  /**
   * What was done to its rows before it was unsealed, and what the peer took for its own all the same, by the world's
   * own record; or undefined.
   */
  readonly believed: string | undefined;
  /** What was done to its rows and not undone, by the world's own record, whatever the store thinks; or undefined. */
  readonly harm: string | undefined;
  /** Whether something was done to its rows, and all of it before it was unsealed: then no page of them goes unproven. */
  readonly isHarmedBefore: boolean;
  /** A row that somebody has altered, and that a read gave all the same, by the world's own record; or undefined. */
  readonly alteredRow: string | undefined;
  /** Whether rows have seals, so that it matters how they are altered. */
  readonly hasSeals: boolean;
  /** The seal of a transaction that no row needs any more, where none should be left by now; or undefined. */
  readonly unneededSeal?: string | undefined;
  /** Whether anything lies under a key, by the world's own record: no seal is opened. */
  readonly holds: (table: TableName, key: string) => boolean;
  /**
   * Alters one row so that its seal does not hold: flips one bit of the byte `at` (from 0, modulo the stored length), or
   * puts there row `at` of its table (modulo their number).
   */
  readonly damage: (table: TableName, key: string, at: number, how?: Alteration) => void;
  /**
   * After a power loss this share (in thousandths) of the changes of the transaction under way stays on the disk;
   * false where it cannot be torn. {@link repair} takes them back.
   */
  readonly tear: (share: number) => boolean;
  /** Takes one row away without the peer's knowledge. */
  readonly remove: (table: TableName, key: string) => void;
  /** Puts one row back as it was before its last change, number `at` of those there are; false where there is none. */
  readonly putOlder: (at: number) => boolean;
  /**
   * Puts all rows of one range back as they were some transactions ago, number `at` of those that have changed,
   * and what is stored of the range as well; false where there is none.
   */
  readonly putOlderRange: (at: number) => boolean;
  /** Brings every damaged or deleted row back as it was. */
  readonly repair: () => void;
  readonly wipe: () => void;
  /** Keeps the content as it is now; what it returns brings all of it back, as an old snapshot would. */
  readonly photograph: () => () => void;
}

/** Whether nobody has initialized a peer on it. */
export const isBlank = (disk: PeerStore): boolean => {
  try {
    return disk.get("peer", SELF) === undefined;
  } catch (fault) {
    if (fault instanceof IntegrityFailure) return false;
    throw fault;
  }
};
