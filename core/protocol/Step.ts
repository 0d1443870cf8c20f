/**
 * One event's work in progress. A handler reads the state, edits it, and says
 * what to write and send; nothing takes effect before the step ends, so `step`
 * as a whole stays a pure function.
 */
import type { Action } from "./Action.ts";
import type { Answer } from "./Answer.ts";
import type { Capacities } from "../base/Capacities.ts";
import { Changes } from "./Changes.ts";
import { EditedState } from "./EditedState.ts";
import type { StepContext, TimerName } from "./Event.ts";
import { InvariantViolation } from "../base/Invariant.ts";
import { countersRow, type PeerState } from "./PeerState.ts";
import { type Command, commandOf } from "./Command.ts";
import { prune } from "./Lifecycle.ts";
import type { Message } from "./Message.ts";
import { type Mode, modeOf } from "./Mode.ts";
import type { Moment } from "./Moment.ts";
import type { Proposal } from "./Proposal.ts";
import { FIRST_INCARNATION } from "./SignedState.ts";
import { type Draft as StatementDraft, signBatch } from "./SignedBatch.ts";
import type { SignedHeader, SignedStatement } from "./Statement.ts";
import type { Membership, PeerId } from "./Topology.ts";
import { versionForAll } from "./Versions.ts";
import {
  numberKey,
  type Rows,
  SELF,
  type TableName,
  type Write,
  type RowsOf,
  type Tables,
  type View,
  type WriteOf,
} from "./Tables.ts";

/** A step's decisions as agreement sees them: the root of the core knows the types of modules (core/Action.ts). */
export interface Decided {
  readonly state: PeerState;
  readonly sendNow: ReadonlyArray<Action>;
  readonly writes: ReadonlyArray<Write>;
  readonly thenSend: ReadonlyArray<Action>;
}

const NO_WRITES: ReadonlyArray<Write> = [];
const NO_ACTIONS: ReadonlyArray<Action> = [];
const NOBODY: ReadonlyArray<PeerId> = [];
const NO_DRAFTS: ReadonlyArray<StatementDraft> = [];

/** Statements to be signed with the step's next batch, and who waits for them. */
interface SigningRequest {
  readonly drafts: ReadonlyArray<StatementDraft>;
  readonly run: (signed: ReadonlyArray<SignedStatement>) => void;
}

const draftsOf = (requests: ReadonlyArray<SigningRequest>): ReadonlyArray<StatementDraft> => {
  const [first] = requests;
  if (first !== undefined && requests.length === 1) return first.drafts;
  const all: Array<StatementDraft> = [];
  for (const { drafts } of requests) all.push(...drafts);
  return all;
};

/** The rows of a module's own tables. */
interface ModuleRows<R> {
  readonly view: View<R>;
  current<T extends keyof R & string>(table: T, key: string): R[T] | undefined;
  isChanged(table: keyof R & string, key: string): boolean;
  write(write: WriteOf<R>): void;
  put<T extends keyof R & string>(table: T, key: string, row: R[T]): void;
}

export class Step extends EditedState {
  readonly context: StepContext;
  // Absent until needed: most steps do one thing of one kind.
  #sendNow: Array<Action> | undefined;
  #thenSend: Array<Action> | undefined;
  #changes: Changes | undefined;
  #requests: Array<SigningRequest> | undefined;

  constructor(state: PeerState, context: StepContext) {
    super(state);
    this.context = context;
  }

  /** Wall time of this step: for times that are signed, stored or compared between peers. */
  get now(): number {
    return this.context.now;
  }

  /** Monotonic time of this step: for measuring how long something has been waiting. */
  get elapsed(): number {
    return this.context.elapsed;
  }

  /** Now, by the clock of this process; a handler that needs it runs only at a peer that was unsealed. */
  get moment(): Moment {
    const {
      fitness: { process },
    } = this.state;
    if (process === undefined) throw new InvariantViolation("S19", "a peer that was never unsealed was asked to act");
    return { process, at: this.elapsed };
  }

  get capacities(): Capacities {
    return this.context.settings.capacities;
  }

  /** The pinned topology; a handler that needs it runs only where there is one. */
  get membership(): Membership {
    const {
      cluster: { membership },
    } = this.state;
    if (membership === undefined)
      throw new InvariantViolation("S19", "a statement was asked for before a topology was pinned");
    return membership;
  }

  /** This peer's id; a handler that needs it runs only after initialization. */
  get self(): PeerId {
    const {
      cluster: { peer },
    } = this.state;
    if (peer === undefined) throw new InvariantViolation("S19", "a peer that was never initialized was asked to act");
    return peer.peerId;
  }

  get isWriter(): boolean {
    const {
      cluster: { membership, peer },
    } = this.state;
    return membership !== undefined && membership.writer === peer?.peerId;
  }

  get others(): ReadonlyArray<PeerId> {
    return this.membership.othersOf.get(this.self) ?? NOBODY;
  }

  /** Records a row change; changes of one row within a step become one. */
  write(write: Write): void {
    this.#changes ??= new Changes();
    this.#changes.add(write);
  }

  /** The committed rows. */
  get view(): StepContext["view"] {
    return this.context.view;
  }

  /** The same for the tables of a module: committed rows, and changes of them. */
  rows<C extends Tables>(_tables: C): ModuleRows<RowsOf<C>> {
    // All tables are in one store and one transaction.
    return this as unknown as ModuleRows<RowsOf<C>>;
  }

  /** A row as this step leaves it. */
  current<T extends TableName>(table: T, key: string): Rows[T] | undefined {
    const change = this.#changes?.of(table, key);
    if (change === undefined) return this.context.view.get(table, key);
    // The change is one of that table.
    return change.op === "remove" ? undefined : (change.row as Rows[T]);
  }

  /** Whether this step changes a row, so that the committed one says nothing of the next step. */
  isChanged(table: TableName, key: string): boolean {
    return this.#changes?.of(table, key) !== undefined;
  }

  /** Inserts or replaces a row, whichever fits the committed row and this step's own changes. */
  put<T extends TableName>(table: T, key: string, row: Rows[T]): void {
    const isThere = this.#changes?.leaves(table, key) ?? this.context.view.get(table, key) !== undefined;
    const op = isThere ? "replace" : "insert";
    this.write({ op, table, key, row } as Write);
  }

  // A list of one is made as such: a push to an empty one allocates room for 17.

  #atOnce(action: Action): void {
    if (this.#sendNow === undefined) this.#sendNow = [action];
    else this.#sendNow.push(action);
  }

  #afterFlush(action: Action): void {
    if (this.#thenSend === undefined) this.#thenSend = [action];
    else this.#thenSend.push(action);
  }

  #whenSigned(request: SigningRequest): void {
    if (this.#requests === undefined) this.#requests = [request];
    else this.#requests.push(request);
  }

  /** Sends after this step's flush. */
  send(to: PeerId, message: Message): void {
    this.#afterFlush({ _tag: "Send", to, message });
  }

  sendAll(message: Message, to: ReadonlyArray<PeerId> = this.others): void {
    for (const peerId of to) this.send(peerId, message);
  }

  /** Sends at once: only statements that were flushed in an earlier step. */
  sendFlushed(message: Message, to: ReadonlyArray<PeerId>): void {
    for (const peerId of to) this.#atOnce({ _tag: "Send", to: peerId, message });
  }

  /** Answers a caller after this step's flush. */
  reply(requestId: string, answer: Answer): void {
    this.#afterFlush({ _tag: "Reply", requestId, answer });
  }

  /** Answers a caller at once: only with results that every member, this one included, has flushed. */
  replyFlushed(requestId: string, answer: Answer): void {
    this.#atOnce({ _tag: "Reply", requestId, answer });
  }

  /** Whether a statement of this peer was flushed before this step began. */
  isFlushed(own: SignedStatement): boolean {
    return own.header.batchNo <= this.before.signed.chain.batchNo;
  }

  /** Makes sure that a timer fires after the delay at the latest. */
  arm(timer: TimerName, afterMillis: number): void {
    const due = this.elapsed + afterMillis;
    if ((this.state.timers.get(timer) ?? Number.POSITIVE_INFINITY) <= due) return;
    this.timers.set(timer, due);
    this.#afterFlush({ _tag: "SetTimer", timer, afterMillis });
  }

  /** Monotonic milliseconds: when a timer that fires in this step was due. Much may have come since that waits. */
  dueAt(timer: TimerName): number {
    return Math.min(this.elapsed, this.before.timers.get(timer) ?? this.elapsed);
  }

  /**
   * Asks for statements. They are signed together at the end of the step, one
   * header for all, and handed to `run` in the order they were asked for.
   */
  sign(drafts: ReadonlyArray<StatementDraft>, run: (signed: ReadonlyArray<SignedStatement>) => void): void {
    if (drafts.length > 0) this.#whenSigned({ drafts, run });
  }

  /** Runs when all statements asked for so far are signed: at once if there are none. */
  whenSigned(run: () => void): void {
    if (this.#requests === undefined) run();
    else this.#whenSigned({ drafts: NO_DRAFTS, run });
  }

  /** The newest version that all members are known to speak: messages and proposals for all are made in it. */
  get version(): number {
    return versionForAll(this.context.commands.versions, this.others, this.state.cluster.spoken);
  }

  /** The incarnation of a member that this peer has on record. */
  recordedIncarnation(peerId: PeerId): number {
    return peerId === this.self
      ? this.state.signed.chain.incarnation
      : (this.state.signed.seen.get(peerId)?.incarnation ?? FIRST_INCARNATION);
  }

  /** Whether every member, in member order, is in the pinned incarnation. */
  isCurrent(incarnations: ReadonlyArray<number>): boolean {
    const { peerIds } = this.membership;
    return (
      incarnations.length === peerIds.length &&
      peerIds.every((peerId, index) => incarnations[index] === this.recordedIncarnation(peerId))
    );
  }

  /** Whether an undecided proposal holds a lock of this name here. */
  isLocked(lock: string): boolean {
    return this.state.undecided.locks.has(lock);
  }

  /** The command of a kind. */
  command(of: Pick<Proposal, "kind">): Command {
    return commandOf(this.context.commands, of);
  }

  /** Remembers the newest batch seen of another member; written with the next transaction. */
  noteSeen({ header, signature }: SignedHeader): void {
    const { peerId, incarnation, batchNo } = header;
    const known = this.state.signed.seen.get(peerId);
    if (known === undefined || incarnation !== known.incarnation) return;
    if (known.newest !== undefined && batchNo <= known.newest.header.batchNo) return;
    const { restored } = known;
    this.edit("signed", "seen").set(peerId, { peerId, incarnation, newest: { header, signature }, restored });
  }

  /** This peer's mode, by its state as far as this step has brought it. */
  get mode(): Mode {
    return modeOf(this.state);
  }

  /** Stops all signing, for good: this peer's disk has gone back in time. */
  quarantine(reason: string): void {
    if (this.state.fitness.quarantine !== undefined) return;
    this.draft("fitness").quarantine = reason;
    this.#writeCounters();
  }

  /** Whether this peer has found out in this very step that it must not sign. */
  get #isOut(): boolean {
    return this.state.fitness.quarantine !== undefined && this.before.fitness.quarantine === undefined;
  }

  /**
   * Signs the requested statements until no more are requested, and returns the step. After each batch `advance` may
   * start what the new statements made possible.
   *
   * Where the same step puts this peer in quarantine, only that remains of it: the statements it would have signed were
   * decided from a disk that has gone back in time, and the event is lost, as a message may be.
   */
  finish(advance: (step: Step) => void): Decided {
    advance(this);
    while (this.#requests !== undefined) {
      if (this.#isOut) return this.#onlyQuarantine(advance);
      const requests = this.#requests;
      this.#requests = undefined;
      const signed = signBatch(this, draftsOf(requests));
      let from = 0;
      for (const { drafts, run } of requests) {
        const to = from + drafts.length;
        run(drafts.length === signed.length ? signed : signed.slice(from, to));
        from = to;
      }
      advance(this);
      if (this.#isOut) return this.#onlyQuarantine(advance);
    }
    const { state } = this;
    if (this.#changes !== undefined && this.#changes.count > 0) {
      prune(this);
      this.#writeSeen();
    }
    if (this.#changes !== undefined && this.#changes.count > 0 && state.cluster.membership !== undefined)
      this.#writeCounters();
    return {
      state,
      sendNow: this.#sendNow ?? NO_ACTIONS,
      writes: this.#changes?.toArray() ?? NO_WRITES,
      thenSend: this.#thenSend ?? NO_ACTIONS,
    };
  }

  #onlyQuarantine(advance: (step: Step) => void): Decided {
    const step = new Step(this.before, this.context);
    step.quarantine(this.state.fitness.quarantine ?? "");
    return step.finish(advance);
  }

  #writeSeen(): void {
    const {
      signed: { seen, seenWritten },
    } = this.state;
    if (seen === seenWritten) return;
    for (const [peerId, row] of seen)
      if (row !== seenWritten.get(peerId)) this.write({ op: "replace", table: "seen", key: numberKey(peerId), row });
    this.draft("signed").seenWritten = seen;
  }

  #writeCounters(): void {
    this.write({ op: "replace", table: "counters", key: SELF, row: countersRow(this.state) });
  }
}
