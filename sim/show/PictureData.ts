/**
 * What the page gets to draw: plain JSON, the same on both sides of the script
 * tag. Rows are indices of {@link PictureData.moments}; values are indices of
 * {@link PictureData.pool}, where everything that occurs twice is kept once.
 */
import type { Tier } from "../base/Tier.ts";

/** A text, number or truth; or a list (-1 and its elements) or record (its shape and its values), of indices. */
export type PoolEntry = string | number | boolean | null | ReadonlyArray<number>;

/** How a peer is: what its lane looks like. */
export const modes = [
  "down",
  "blank",
  "sealed",
  "founding",
  "joining",
  "active",
  "restoring",
  "paused",
  "out",
] as const;
export type LaneMode = (typeof modes)[number];

export interface TopicData {
  readonly kind: "proposal" | "request" | "approver";
  /** Short, for people. */
  readonly name: string;
  /** In full, for searching. */
  readonly id: string;
}

export interface MomentData {
  /** Microseconds. */
  readonly at: number;
  /** Events of the world so far: what `--until` counts. */
  readonly event: number;
  readonly kind: string;
  /** 0 for the world. */
  readonly peer: number;
  /** What happened, in a line. */
  readonly text: string;
  /** One word for the picture. */
  readonly label: string;
  readonly about: ReadonlyArray<number>;
  /** The message that came in, and which of its copies. */
  readonly message?: number;
  readonly copy?: number;
  readonly sends?: ReadonlyArray<number>;
  readonly answers?: ReadonlyArray<{ readonly request: string; readonly text: string; readonly value: number }>;
  readonly marks?: ReadonlyArray<string>;
  /** The request that came in, or the rows that were flushed. */
  readonly value?: number;
  /** A flush begins here. */
  readonly flushes?: true;
  /** Something went wrong, or was made to. */
  readonly bad?: true;
}

export interface CopyData {
  /** When it arrives, whether or not a process runs there. */
  readonly at: number;
  /** The row of its arrival; absent where it did not arrive, or not yet. */
  readonly row?: number;
  readonly fate: "delivered" | "refused" | "nobody there" | "under way";
}

export interface MessageData {
  readonly type: string;
  readonly from: number;
  readonly to: number;
  readonly how: "sent" | "altered" | "replayed" | "forged";
  /** The row in which it was sent; -1 where that was before the first row. */
  readonly row: number;
  readonly text: string;
  readonly value: number;
  readonly about: ReadonlyArray<number>;
  /** The link was cut when it was sent. */
  readonly isCut?: true;
  /** None where the network lost it, two where it doubled it. */
  readonly copies: ReadonlyArray<CopyData>;
}

/** A line of a peer's state that appears, changes, or (with no value) goes: section, name, text, value. */
export type StateChange =
  | readonly [section: number, name: number, text: number, value: number]
  | readonly [number, number];

export interface LaneData {
  /** From which row on a peer is in a mode, with how many locks. */
  readonly modes: ReadonlyArray<readonly [row: number, mode: number, locks: number]>;
  readonly flushes: ReadonlyArray<readonly [from: number, to: number]>;
  /** What changed at which row; row -1 is what was there before the first. */
  readonly states: ReadonlyArray<readonly [row: number, changes: ReadonlyArray<StateChange>]>;
}

export interface CallData {
  readonly request: string;
  readonly peer: number;
  /** Which column of the callers' lane; a column is free again when its call has ended. */
  readonly column: number;
  readonly from: number;
  readonly to: number | null;
  readonly end: "answered" | "refused" | "silence" | "open";
}

export interface ConditionData {
  readonly from: number;
  readonly to: number | null;
  readonly text: string;
  readonly isCut: boolean;
  readonly column: number;
}

export interface RunData {
  readonly title: string;
  readonly seed: number;
  readonly schedule: string;
  readonly peers: number;
  readonly crypto: Tier;
  readonly hash: string;
  readonly events: number;
  readonly command: string;
  readonly notes: ReadonlyArray<string>;
  /** By peer: what kind of traitor it is, or null. */
  readonly treasons: ReadonlyArray<string | null>;
}

export interface PictureData {
  readonly run: RunData;
  readonly violation: { readonly id: string; readonly facts: readonly [string, string]; readonly row: number } | null;
  /** Moments before the first row that are left out. */
  readonly leftOut: number;
  /** The peer to begin with, or 0. */
  readonly peer: number;
  readonly modes: ReadonlyArray<string>;
  /** Sections of a state, in order. */
  readonly sections: ReadonlyArray<string>;
  readonly topics: ReadonlyArray<TopicData>;
  readonly moments: ReadonlyArray<MomentData>;
  readonly messages: ReadonlyArray<MessageData>;
  readonly lanes: ReadonlyArray<LaneData>;
  readonly calls: ReadonlyArray<CallData>;
  readonly conditions: ReadonlyArray<ConditionData>;
  readonly shapes: ReadonlyArray<ReadonlyArray<string>>;
  readonly pool: ReadonlyArray<PoolEntry>;
}
