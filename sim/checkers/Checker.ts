/**
 * What a checker is told. Each hook is called at the moment its name says and
 * throws a {@link Violation} when something contradicts what came before; it
 * looks only at what changed. Hooks run after {@link Ghost} has taken note.
 */
import type { Answer } from "../../core/Action.ts";
import type { Settings } from "../../core/protocol/Event.ts";
import type { PeerState } from "../../core/protocol/PeerState.ts";
import type { OperatorAct } from "../../core/protocol/OperatorAct.ts";
import type { PromotionPlan } from "../../core/protocol/PromotionPlan.ts";
import type { Message } from "../../core/Message.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import type { Secret } from "../../core/threshold/Secret.ts";
import type { Rows, RowView, TableName, Write, WriteTo } from "../../core/Tables.ts";
import type { DropReason, ExchangeEnd, LinkLimits } from "../../runtime/transport/Link.ts";
import type { Letter } from "../network/Letter.ts";
import type { Asked } from "../requests/Asked.ts";
import type { Promoter } from "../requests/Promoter.ts";
import type { Subject } from "../models/Subject.ts";
import type { PageAsked, PageOutcome } from "../oracle/ListRequests.ts";
import type { KeyReadAnswer, KeyReadAsked } from "../oracle/KeyReads.ts";
import type { LookupAnswer, LookupAsked } from "../oracle/LookupRequests.ts";

/** A peer as checkers see it. */
export interface Watched {
  /** Its place in the world, from 1; its peer id unless a schedule initialized it wrongly. */
  readonly slot: number;
  /** False once the schedule wiped it, until it founds a cluster anew, or gave it a wrong id: it makes no promises. */
  readonly honest: boolean;
  /** The published state; undefined while no process runs. */
  readonly state: PeerState | undefined;
  /** Committed rows. */
  readonly store: RowView;
  /** The share of a generation in a box of its own; undefined where it does not open, the function where nobody can. */
  readonly opened?: (generation: Rows["generations"], verifyingShare: string, box: Uint8Array) => Secret | undefined;
  /** Which process of this peer runs, from 1. */
  readonly process: number;
  /** What its clock showed when its process looked last, in Unix milliseconds; zero before that. */
  readonly lastReading: number;
  /** Microseconds: when the step began whose actions are carried out, or were last; a flush may lie in between. */
  readonly decidedAt: number;
  /** Microseconds: until when it was, or will be, held up by a pause or a long flush; undefined where nobody knows. */
  readonly heldUpUntil?: number;
  /** A process runs, no flush is under way and no event waits. */
  readonly isIdle: boolean;
  /** Some row does not hold just now, so that sweeping it would throw. */
  readonly isDamaged: boolean;
  /** Its rows were verified since its keys came into memory last. */
  readonly isVerified: boolean;
  /** It has not known the keys of some token that were in use: it may have taken a good one for a bad one. */
  readonly misjudgesTokens: boolean;
  /** The configuration that its process was started with; undefined where nobody knows. */
  readonly settings: Pick<Settings, "configDigest" | "answerMillis"> | undefined;
  /** What had been done to its rows when this process was unsealed, by the world's own record. */
  readonly harm: string | undefined;
  /** A row that somebody has altered, and that a read gave its process all the same; undefined where nobody can tell. */
  readonly alteredRow?: string | undefined;
}

/** An answer on its way to a caller. */
export interface Reply {
  readonly requestId: string;
  readonly answer: Answer;
  /** What was asked for; absent for requests of the world's own making. */
  readonly asked: Asked | undefined;
  /** Microseconds; absent for requests of the world's own making. */
  readonly askedAt: number | undefined;
  /** Microseconds: when its peer took the request up, if nothing has held that peer up since. */
  readonly undisturbedSince: number | undefined;
  readonly repliedAt: number;
}

/** A promotion that somebody asks a peer for. */
export interface PromotionAsked {
  readonly requestId: string;
  readonly plan: PromotionPlan;
  readonly who: Promoter;
  /** Wants to know only what would come of it. */
  readonly dryRun: boolean;
}

/** A read of one subject by its ref, and the row that it gave. */
export interface ReadSeen {
  readonly subject: Subject;
  readonly ref: string;
  readonly found: object | undefined;
  readonly transactions: number;
}

/** What a link says once an exchange has ended. */
export interface LinkSaid {
  readonly isReachable: boolean | undefined;
  /** Why the message did not get through; undefined where it did. */
  readonly dropped: DropReason | undefined;
}

/**
 * What happens to a request between its caller and the driver: it came, was handed in, was done with, was answered by the
 * driver; its caller was told something. What an operator wants is handed in as it is asked.
 */
export interface DeskAct {
  readonly what: "came" | "asked" | "entered" | "left" | "answered" | "told";
  readonly requestId: string;
  /** Whose it is, told as it comes; all whose tokens show nobody are one. */
  readonly caller: string;
  readonly answer: Answer | undefined;
  /** Microseconds: when, and within how many its peer has promised to answer. */
  readonly at: number;
  readonly promised: number;
}

export type LinkAct = "sent" | "departs" | "over";

/** By table: called for each row change of a transaction that has become durable. */
export type RowHooks = {
  readonly [T in TableName]?: (peer: Watched, write: WriteTo<T>, writes: ReadonlyArray<Write>) => void;
};

/** What a peer did in one event: transactions, and messages that it said at once. */
export interface Done {
  readonly transactions: number;
  readonly said: number;
}

export interface Checker {
  readonly id: string;
  /** A process of this peer came up and read its store. */
  readonly booted?: (peer: Watched) => void;
  /** A process of this peer ended, `at` microseconds. */
  readonly stopped?: (peer: Watched, at: number) => void;
  /** The peer's signer is about to be used. */
  readonly signed?: (peer: Watched, tag: string) => void;
  /**
   * The row changes of a transaction of this peer that has become durable, one
   * after the other, to the hooks for their table; then the transaction.
   */
  readonly written?: RowHooks;
  readonly flushed?: (peer: Watched, writes: ReadonlyArray<Write>) => void;
  /** A message leaves a peer for another, `at` microseconds. */
  readonly sent?: (peer: Watched, message: Message, to: PeerId, at: number) => void;
  /** The link to a peer takes a message, puts it on its way (again), or is told that it got there or not. */
  readonly linked?: (
    peer: Watched,
    to: PeerId,
    what: LinkAct,
    letter: Letter,
    isAgain: boolean,
    limits: LinkLimits,
  ) => void;
  /** An exchange on the link to a peer has ended for good: what the link makes of it. */
  readonly ended?: (peer: Watched, to: PeerId, how: ExchangeEnd, said: LinkSaid) => void;
  /** A link drops a message for want of room; at most so many are to wait in each lane. */
  readonly droppedUnsent?: (peer: Watched, letter: Letter, most: number) => void;
  /** A peer answers what `asker` has sent with a message; whether it is the first answer. */
  readonly answering?: (peer: Watched, asker: PeerId, answer: Letter, isFirst: boolean) => void;
  /**
   * A peer takes a message for the `expected`th of a session's other end: whether it was sealed for this end, and which
   * of its direction it is.
   */
  readonly takenInSession?: (peer: Watched, isItsOwn: boolean, place: number, expected: number) => void;
  readonly atDesk?: (peer: Watched, act: DeskAct) => void;
  readonly replied?: (peer: Watched, reply: Reply) => void;
  /** A caller gives up at `now`, when this peer should have answered it; both times in microseconds. */
  readonly unanswered?: (peer: Watched, requestId: string, askedAt: number, now: number) => void;
  /** The published state has changed. */
  readonly stepped?: (peer: Watched) => void;
  /** A message that this peer had handled came again, and led to so many transactions, the last with these changes. */
  readonly redelivered?: (peer: Watched, message: Message, transactions: number, writes: ReadonlyArray<Write>) => void;
  /** A message is about to be handled by a peer, `at` microseconds. */
  readonly delivered?: (peer: Watched, message: Message, from: PeerId, at: number) => void;
  /** An idle peer has handled a message: its state before, and what it did. */
  readonly handled?: (peer: Watched, from: PeerId, message: Message, before: PeerState, done: Done) => void;
  /** An operator does something to a peer, or has been answered. */
  readonly operated?: (peer: Watched, act: OperatorAct, isAnswered: boolean) => void;
  /** Somebody is about to ask a peer for its promotion. */
  readonly promoting?: (peer: Watched, asked: PromotionAsked) => void;
  readonly read?: (peer: Watched, read: ReadSeen) => void;
  /** A peer is about to look for a page. */
  readonly listing?: (peer: Watched, asked: PageAsked) => void;
  /** What came of it, and in how many transactions. */
  readonly listed?: (peer: Watched, asked: PageAsked, outcome: PageOutcome, transactions: number) => void;
  /** What a peer has said of a ref or a policy, and in how many transactions. */
  readonly looked?: (peer: Watched, asked: LookupAsked, answer: LookupAnswer, transactions: number) => void;
  /** What a peer has said to somebody who reads something of keys, and in how many transactions. */
  readonly keysLooked?: (peer: Watched, asked: KeyReadAsked, answer: KeyReadAnswer, transactions: number) => void;
  /** A text is about to be in the trace for the first time. */
  readonly traced?: (text: string) => void;
  /** Now and then, and at the end: look at everything. */
  readonly swept?: (peers: ReadonlyArray<Watched>) => void;
}
