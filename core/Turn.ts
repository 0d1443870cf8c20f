/**
 * One event's work in progress. A handler reads the state, edits it, and says
 * what to write and send; nothing leaves a turn but the {@link Step} it ends in,
 * so `step` as a whole stays a pure function.
 */
import type { Action, Answer, Send, SetTimer } from "./Action.ts";
import { Changes } from "./Changes.ts";
import type { StepContext, TimerName } from "./Event.ts";
import { InvariantViolation } from "./Invariant.ts";
import { countersRow, draftOf, type PeerState, type StateDraft } from "./PeerState.ts";
import type { Message } from "./protocol/Message.ts";
import {
  BATCH_TAG,
  batchHash,
  batchHeaderCodec,
  batchTree,
  type SignedHeader,
  type SignedStatement,
  type Statement,
} from "./protocol/Statement.ts";
import type { Membership, PeerId } from "./protocol/Topology.ts";
import { numberKey, SELF, type Write } from "./Tables.ts";

/**
 * What a step decided. `sendNow` may leave before the flush, because it is made
 * only of statements that were flushed before; `thenSend` waits for the flush of
 * `writes`. Empty `writes` means: no transaction.
 */
export interface Step {
  readonly state: PeerState;
  readonly sendNow: ReadonlyArray<Action>;
  readonly writes: ReadonlyArray<Write>;
  readonly thenSend: ReadonlyArray<Action>;
}

/** A statement before it has a batch: topology and epoch are the turn's own. */
export type Draft = Pick<Statement, "kind" | "proposalId" | "seq" | "detail">;

/** What a peer counts its lives from; a declared restore takes a higher one. */
export const FIRST_INCARNATION = 1;

/** The fields of the state that are maps or sets. */
type Collection = {
  [K in keyof PeerState]: PeerState[K] extends ReadonlyMap<infer _K, infer _V> | ReadonlySet<infer _E> ? K : never;
}[keyof PeerState];
type Editable<T> =
  T extends ReadonlyMap<infer K, infer V> ? Map<K, V> : T extends ReadonlySet<infer E> ? Set<E> : never;

const NO_WRITES: ReadonlyArray<Write> = [];

export class Turn {
  readonly context: StepContext;
  readonly state: StateDraft;
  /** The state before this turn; it never changes. */
  readonly #before: PeerState;
  readonly #sendNow: Array<Action> = [];
  readonly #thenSend: Array<Action> = [];
  /** Absent until something is written: most turns only talk. */
  #changes: Changes | undefined;
  #others: ReadonlyArray<PeerId> | undefined;
  #drafts: Array<Draft> = [];
  #continuations: Array<{
    readonly from: number;
    readonly to: number;
    readonly run: (signed: ReadonlyArray<SignedStatement>) => void;
  }> = [];

  constructor(state: PeerState, context: StepContext) {
    this.#before = state;
    this.state = draftOf(state);
    this.context = context;
  }

  /** Wall time of this turn: for what is signed, stored or compared between peers. */
  get now(): number {
    return this.context.now;
  }

  /** Monotonic time of this turn: for how long something has been waiting. */
  get elapsed(): number {
    return this.context.elapsed;
  }

  /** The pinned topology; a handler that needs it runs only where there is one. */
  get membership(): Membership {
    const { membership } = this.state;
    if (membership === undefined)
      throw new InvariantViolation("S19", "a statement was asked for before a topology was pinned");
    return membership;
  }

  /** This peer's id; a handler that needs it runs only after initialization. */
  get self(): PeerId {
    const { peer } = this.state;
    if (peer === undefined) throw new InvariantViolation("S19", "a peer that was never initialized was asked to act");
    return peer.peerId;
  }

  get isWriter(): boolean {
    const { membership, peer } = this.state;
    return membership !== undefined && membership.writer === peer?.peerId;
  }

  get others(): ReadonlyArray<PeerId> {
    this.#others ??= this.membership.peerIds.filter((peerId) => peerId !== this.self);
    return this.#others;
  }

  /** A map or set of the state, copied before its first change in this turn. */
  edit<K extends Collection>(field: K): Editable<PeerState[K]> {
    const current = this.state[field];
    if (current !== this.#before[field]) return current as unknown as Editable<PeerState[K]>;
    const copy = current instanceof Map ? new Map(current) : new Set(current as ReadonlySet<unknown>);
    this.state[field] = copy as unknown as StateDraft[K];
    return copy as unknown as Editable<PeerState[K]>;
  }

  /** Records a row change; changes of one row within a turn become one. */
  write(write: Write): void {
    this.#changes ??= new Changes();
    this.#changes.add(write);
  }

  get #isWriting(): boolean {
    return this.#changes !== undefined && this.#changes.count > 0;
  }

  /** Sends after this turn's flush. */
  send(to: PeerId, message: Message): void {
    this.#thenSend.push({ _tag: "Send", to, message });
  }

  sendAll(message: Message, to: ReadonlyArray<PeerId> = this.others): void {
    for (const peerId of to) this.send(peerId, message);
  }

  /** Sends at once: only what consists of statements that were flushed in an earlier turn. */
  sendFlushed(message: Message, to: ReadonlyArray<PeerId>): void {
    for (const peerId of to) this.#sendNow.push({ _tag: "Send", to: peerId, message } satisfies Send);
  }

  /** Answers a caller after this turn's flush. */
  reply(requestId: string, answer: Answer): void {
    this.#thenSend.push({ _tag: "Reply", requestId, answer });
  }

  /** Answers a caller at once: only with what every member, this one included, has flushed. */
  replyFlushed(requestId: string, answer: Answer): void {
    this.#sendNow.push({ _tag: "Reply", requestId, answer });
  }

  /** Whether a statement of this peer was flushed before this turn began. */
  isFlushed(own: SignedStatement): boolean {
    return own.header.batchNo <= this.#before.chain.batchNo;
  }

  /** Sees to it that a timer fires after the delay at the latest. */
  arm(timer: TimerName, afterMillis: number): void {
    const due = this.elapsed + afterMillis;
    if ((this.state.timers.get(timer) ?? Number.POSITIVE_INFINITY) <= due) return;
    this.edit("timers").set(timer, due);
    this.#thenSend.push({ _tag: "SetTimer", timer, afterMillis } satisfies SetTimer);
  }

  /**
   * Asks for statements. They are signed together at the end of the turn, one
   * header for all, and handed to `run` in the order they were asked for.
   */
  sign(drafts: ReadonlyArray<Draft>, run: (signed: ReadonlyArray<SignedStatement>) => void): void {
    if (drafts.length === 0) return;
    const from = this.#drafts.length;
    this.#drafts.push(...drafts);
    this.#continuations.push({ from, to: this.#drafts.length, run });
  }

  /** Runs when all statements asked for so far are signed: at once if there are none. */
  whenSigned(run: () => void): void {
    const at = this.#drafts.length;
    if (at === 0) run();
    else this.#continuations.push({ from: at, to: at, run });
  }

  /** The incarnation of a member that this peer has on record. */
  recordedIncarnation(peerId: PeerId): number {
    return peerId === this.self
      ? this.state.chain.incarnation
      : (this.state.seen.get(peerId)?.incarnation ?? FIRST_INCARNATION);
  }

  /** Remembers the newest batch seen of another member; written with the next transaction. */
  noteSeen({ header, signature }: SignedHeader): void {
    const { peerId, incarnation, batchNo } = header;
    const known = this.state.seen.get(peerId);
    if (known === undefined || incarnation !== known.incarnation) return;
    if (known.newest !== undefined && batchNo <= known.newest.header.batchNo) return;
    this.edit("seen").set(peerId, { ...known, newest: { header, signature } });
  }

  /** Whether this process has not yet been shown by every other member that its memory is whole. */
  get isJoining(): boolean {
    return this.state.unproven.size > 0;
  }

  /** Stops all signing, for good: this peer's disk has gone back in time. */
  quarantine(reason: string): void {
    if (this.state.quarantine !== undefined) return;
    this.state.quarantine = reason;
    this.#writeCounters();
  }

  /** Binds a slot in memory; the receipt in hand proves that the writer used it. */
  noteSlot(seq: number, writerReceipt: SignedStatement): void {
    if (seq <= this.state.highSeq) return;
    this.state.highSeq = seq;
    this.state.highProof = writerReceipt;
  }

  /**
   * Signs what was asked for until nothing more is asked, and returns the step.
   * After each batch `advance` may start what the new statements made possible.
   */
  finish(advance: (turn: Turn) => void): Step {
    advance(this);
    while (this.#drafts.length > 0) {
      const drafts = this.#drafts;
      const continuations = this.#continuations;
      this.#drafts = [];
      this.#continuations = [];
      const signed = this.#signBatch(drafts);
      for (const { from, to, run } of continuations) run(signed.slice(from, to));
      advance(this);
    }
    if (this.#isWriting) {
      this.prune();
      this.#writeSeen();
    }
    if (this.#isWriting && this.state.membership !== undefined) this.#writeCounters();
    const writes = this.#changes?.toArray() ?? NO_WRITES;
    return { state: this.state, sendNow: this.#sendNow, writes, thenSend: this.#thenSend };
  }

  #signBatch(drafts: ReadonlyArray<Draft>): ReadonlyArray<SignedStatement> {
    const { crypto, signer, now } = this.context;
    const { chain, integrityFault, quarantine } = this.state;
    if (signer === undefined || integrityFault !== undefined || quarantine !== undefined)
      throw new InvariantViolation("S28", "a peer that must not sign was asked to");
    if (this.isJoining) throw new InvariantViolation("S22", "a peer that has not joined was asked to sign");
    if (this.state.recovery !== undefined && drafts.some(({ kind }) => kind !== "REFUSAL"))
      throw new InvariantViolation("S26", "a peer that is recovering was asked to vote for something");
    const { digest: topologyDigest, topology } = this.membership;
    const { epoch } = topology;
    const statements = drafts.map(({ kind, proposalId, seq, detail }) => ({
      kind,
      proposalId,
      epoch,
      seq,
      topologyDigest,
      detail,
    }));
    const tree = batchTree(crypto, statements);
    const header = {
      peerId: this.self,
      incarnation: chain.incarnation,
      batchNo: chain.batchNo + 1,
      prevBatchHash: chain.hash,
      size: statements.length,
      root: tree.root,
      signedAt: now,
    };
    const signature = signer.sign(BATCH_TAG, batchHeaderCodec, header);
    this.state.chain = {
      incarnation: chain.incarnation,
      batchNo: header.batchNo,
      hash: batchHash(crypto, header),
    };
    this.write({ op: "insert", table: "batches", key: numberKey(header.batchNo), row: { header, signature } });
    return statements.map((statement, index) => ({
      statement,
      index,
      proof: tree.proofs[index] ?? [],
      header,
      signature,
    }));
  }

  /** Removes the outbox rows that nobody needs any more; they go with any transaction that happens anyway. */
  prune(): void {
    if (this.state.prunable === 0) return;
    const outbox = this.edit("outbox");
    for (const { seq, isPrunable } of this.state.outbox.values()) {
      if (!isPrunable) continue;
      outbox.delete(seq);
      this.write({ op: "remove", table: "outbox", key: numberKey(seq) });
    }
    this.state.prunable = 0;
  }

  #writeSeen(): void {
    const { seen, seenWritten } = this.state;
    if (seen === seenWritten) return;
    for (const [peerId, row] of seen)
      if (row !== seenWritten.get(peerId)) this.write({ op: "replace", table: "seen", key: numberKey(peerId), row });
    this.state.seenWritten = seen;
  }

  #writeCounters(): void {
    this.write({ op: "replace", table: "counters", key: SELF, row: countersRow(this.state) });
  }
}
