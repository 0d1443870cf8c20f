/** How a run may be made to misbehave on purpose (PlantedBugs.ts). */
import type { Answer } from "../../core/Action.ts";
import type { ActorCheck } from "../../core/auth/ActorCheck.ts";
import type { Event } from "../../core/protocol/Event.ts";
import type { PeerState } from "../../core/protocol/PeerState.ts";
import type { Message } from "../../core/Message.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import type { Rows, TableName, Write } from "../../core/Tables.ts";
import type { CommandGate, GateLimits } from "../../runtime/CommandGate.ts";
import type { Replies, ReplyPorts } from "../../runtime/Replies.ts";
import type { Later, Time } from "../../runtime/Time.ts";
import type { FrameReader, FrameSink } from "../../runtime/transport/Frames.ts";
import type { HeldAnswers } from "../../runtime/transport/HeldAnswers.ts";
import type { Link, LinkLimits, LinkPorts } from "../../runtime/transport/Link.ts";
import type { Session, SessionPorts, Side } from "../../runtime/transport/Session.ts";
import type { approverPage } from "../../runtime/ApproverPages.ts";
import type { parseListQuery } from "../../runtime/ListQuery.ts";
import type { readAudit } from "../../runtime/AuditReads.ts";
import type { identityPage } from "../../runtime/IdentityCatalog.ts";
import type { keyCursorIn } from "../../runtime/KeyPages.ts";
import type { resolutionOf } from "../../runtime/PolicyReads.ts";
import type { readApprover } from "../../runtime/Reads.ts";
import type { Cryptography } from "../crypto/Cryptography.ts";
import type { Ghost } from "../checkers/Ghost.ts";
import type { Letter } from "../network/Letter.ts";
import type { Packet } from "../network/Wire.ts";
import type { FlushEnd } from "../disks/LayeredDisk.ts";
import type { Plan } from "../base/Plan.ts";
import type { SimPeer } from "./SimPeer.ts";

/** What a bug may know and use of its world. */
export interface TamperedWorld {
  readonly plan: Plan;
  readonly ghost: Ghost;
  readonly cryptography: Cryptography;
  readonly peers: ReadonlyArray<SimPeer>;
  readonly healed: boolean;
  /** Milliseconds since the epoch by a perfect clock. */
  readonly realMillis: number;
  readonly mail: {
    /** A peer says something under its own name that its driver did not ask for. */
    readonly utter: (peer: SimPeer, to: PeerId, message: Message) => void;
  };
}

/** A caller's request, as a peer takes it in. */
export type Asking = Extract<Event, { readonly _tag: "Command" }>;
export type Promoting = Extract<Event, { readonly _tag: "Promote" }>;

/** Each replaces the right behavior. */
export interface Tampering {
  /** How a flush ends. */
  readonly flushEnd?: (peer: SimPeer) => FlushEnd | undefined;
  /** A message as a peer's driver says it, or undefined where it keeps it to itself; the checkers see this one. */
  readonly said?: (peer: SimPeer, message: Message) => Message | undefined;
  /** The message that a peer handles; the checkers see the real one. */
  readonly delivered?: (world: TamperedWorld, peer: SimPeer, message: Message, from: PeerId) => Message;
  /** Whom a peer takes for the sender of a message. */
  readonly sender?: (peer: SimPeer, from: PeerId, message: Message) => PeerId;
  /** A request as it enters through a peer. */
  readonly asked?: (peer: SimPeer, request: Asking) => Asking;
  /** What a peer is asked to be promoted by. */
  readonly promoted?: (asked: Promoting) => Promoting;
  /** What a peer believes of a token, of its own caller or in a message. */
  readonly judged?: (world: TamperedWorld, peer: SimPeer, check: ActorCheck, isEvidence: boolean) => ActorCheck;
  /** A row as a peer's core finds it. */
  readonly found?: <T extends TableName>(peer: SimPeer, table: T, row: Rows[T] | undefined) => Rows[T] | undefined;
  /** The rows that reach a disk. */
  readonly written?: (world: TamperedWorld, peer: SimPeer, writes: ReadonlyArray<Write>) => ReadonlyArray<Write>;
  readonly cryptography?: (cryptography: Cryptography) => Cryptography;
  /** The answer a caller gets. */
  readonly answered?: (world: TamperedWorld, answer: Answer) => Answer;
  /** Edits a published state in place. */
  readonly stepped?: (world: TamperedWorld, peer: SimPeer, state: PeerState) => void;
  /** What becomes of an answer between a peer and its caller, where only callers could notice. */
  readonly told?: (world: TamperedWorld, requestId: string, answer: Answer) => Answer;
  /** The same for a read. */
  readonly shown?: (found: Rows["approvers"] | undefined) => Rows["approvers"] | undefined;
  /** What a read gives. */
  readonly read?: (found: Rows["approvers"] | undefined) => Rows["approvers"] | undefined;
  /** How pages of lists are made. */
  readonly pages?: (real: typeof approverPage) => typeof approverPage;
  /** How queries of lists are read. */
  readonly query?: (real: typeof parseListQuery) => typeof parseListQuery;
  /** How one version is read by its ref. */
  readonly got?: (real: typeof readApprover) => typeof readApprover;
  /** How policies are resolved. */
  readonly resolved?: (real: typeof resolutionOf) => typeof resolutionOf;
  /** How an audit is read. */
  readonly audited?: (real: typeof readAudit) => typeof readAudit;
  /** How it is listed what somebody may sign with. */
  readonly identities?: (real: typeof identityPage) => typeof identityPage;
  /** How cursors of lists of keys are read. */
  readonly keyCursor?: (real: typeof keyCursorIn) => typeof keyCursorIn;
  /** What a peer takes its clock to show, in Unix milliseconds. */
  readonly clock?: (peer: SimPeer, reading: number) => number;
  /** A step reads the clock whenever it needs the time, not once. */
  readonly readsAnew?: boolean;
  /** A peer takes its clock for right as soon as it is set. */
  readonly trustsClock?: boolean;
  /** Whether a peer believes that it has the keys that tokens are signed with. */
  readonly judges?: (real: boolean) => boolean;
  /** The link from one process to another peer. */
  readonly link?: (ports: LinkPorts<Letter>, limits: LinkLimits) => Link<Letter>;
  /** One end of a session. */
  readonly session?: (side: Side, ports: SessionPorts<Packet>) => Session<Packet>;
  /** How what comes on a stream is cut into frames. */
  readonly frames?: (sink: FrameSink) => FrameReader;
  /** The answers that a process keeps open. */
  readonly held?: (time: Time, most: number) => HeldAnswers<Letter>;
  /** The callers that wait at a process. */
  readonly replies?: (ports: ReplyPorts) => Replies;
  /** The way of their requests to its driver. */
  readonly gate?: (later: Later, limits: GateLimits) => CommandGate;
  /** How timers of the protocol are waited for. */
  readonly later?: (real: Later) => Later;
  /** A peer that finds its rows damaged does not tell its core. */
  readonly ignoresDamage?: boolean;
  /** A peer takes a missing row for one that never was. */
  readonly missesNothing?: boolean;
  /** A peer in quarantine serves reads. */
  readonly showsOutdated?: boolean;
  /** A peer uses its keys before its rows are verified. */
  readonly signsUnverified?: boolean;
  /** A peer does not remember, when its rows are verified, what it read at its start. */
  readonly forgetsStart?: boolean;
  /** Operators of a sealed peer are answered before what they did is flushed. */
  readonly hastyJournal?: boolean;
}
