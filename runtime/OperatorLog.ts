/**
 * Operators' acts at this peer, on their way into the audit. While the peer is
 * unsealed an act is written with the change it made, or in a transaction of its
 * own. A sealed peer has no key to seal rows with: its acts wait in a journal
 * beside the rows, each flushed before its caller is answered, and the
 * transaction of the next unseal takes them over, each once, by their numbers.
 */
import { modeOf } from "../core/protocol/Mode.ts";
import { eventHandling } from "../core/protocol/ModeTable.ts";
import { isRefusal, type NumberedAct, type OperatorAct } from "../core/protocol/OperatorAct.ts";
import type { PeerState } from "../core/protocol/PeerState.ts";

/** An act in the journal, with its number. */
export interface KeptAct {
  readonly no: number;
  readonly act: OperatorAct;
}

/** This many acts that are all in the audit may stay in the journal. */
const MOST_LEFT = 16;

/**
 * This many acts that the journal did not take wait in memory alone. They were carried out before anybody tried to
 * record them, since a full journal must not keep a peer from being unsealed: their callers are told that the audit
 * cannot be written, and the next unseal may still record them.
 */
const MOST_UNRECORDED = 16;

/** Where acts wait while there is no key. */
export interface OperatorJournal {
  /** The acts that the last process left in it, in the order of the numbers; never empty again after the first. */
  readonly acts: ReadonlyArray<KeptAct>;
  /**
   * Adds an act behind all others, flushes and then calls `done` once. With `isFirst` everything before it is in the
   * audit and is dropped. With a failure nobody knows whether it is there.
   */
  readonly append: (kept: KeptAct, isFirst: boolean, done: (failure?: Error) => void) => void;
}

export interface OperatorLogPorts {
  readonly journal: OperatorJournal;
  /** The published state of the peer. */
  readonly state: () => PeerState;
  /**
   * Has the peer write acts into its audit. `done` is told whether they are there, flushed; undefined if there is no
   * answer in time.
   */
  readonly audit: (acts: ReadonlyArray<NumberedAct>, done: (isAudited: boolean | undefined) => void) => void;
}

const canAudit = (state: PeerState): boolean => eventHandling.Operated[modeOf(state)] === "runs";

export class OperatorLog {
  readonly #ports: OperatorLogPorts;
  #kept: Array<KeptAct>;
  /** Numbers of those among them that the journal did not take. */
  #unrecorded: ReadonlyArray<number> = [];
  #last: number;

  constructor(ports: OperatorLogPorts) {
    this.#ports = ports;
    this.#kept = [...ports.journal.acts];
    this.#last = Math.max(this.#kept.at(-1)?.no ?? 0, ports.state().signed.audit.keptNo);
  }

  /** Acts that are kept and not in the audit yet, by the published state. */
  get #waiting(): ReadonlyArray<KeptAct> {
    const { keptNo } = this.#ports.state().signed.audit;
    return this.#kept.filter(({ no }) => no > keptNo);
  }

  /**
   * Whether the published number is reliable: this process has written to the audit, so its rows were verified. Before,
   * it may come from a transaction that is there in part, and is removed when the rows are repaired.
   */
  get #isVerified(): boolean {
    return this.#ports.state().signed.audit.lastNo > 0;
  }

  /** An act, behind all that wait, for the event whose transaction it belongs to; hand that event in at once. */
  withWaiting(act: OperatorAct): ReadonlyArray<NumberedAct> {
    return [...this.#waitingActs(), { no: this.#next(), isKept: false, act }];
  }

  /** Whether the event that these acts were made for has written them, now that its state is published. */
  hasWritten(acts: ReadonlyArray<NumberedAct>): boolean {
    return (acts.at(-1)?.no ?? 0) <= this.#ports.state().signed.audit.lastNo;
  }

  /** Records an act that has no transaction of its own, or whose event wrote nothing. */
  record(act: OperatorAct, done: (failure?: Error) => void): void {
    if (!canAudit(this.#ports.state())) return this.#keep(act, done);
    this.#ports.audit(this.withWaiting(act), (isAudited) => {
      if (isAudited === true) return done();
      if (isAudited === undefined) return done(new Error("the audit was not written in time"));
      this.#keep(act, done);
    });
  }

  /** The peer is unsealed: acts kept since its event was handed in follow. */
  handOver(): void {
    const acts = this.#waitingActs();
    if (acts.length === 0) this.#shorten();
    else if (canAudit(this.#ports.state())) this.#ports.audit(acts, () => undefined);
  }

  /** Of a journal that is all in the audit only the last act stays, for its number. */
  #shorten(): void {
    const last = this.#kept.at(-1);
    if (last === undefined || this.#kept.length <= MOST_LEFT || !this.#isVerified) return;
    this.#kept = [last];
    this.#ports.journal.append(last, true, () => undefined);
  }

  #waitingActs(): ReadonlyArray<NumberedAct> {
    return this.#waiting.map(({ no, act }) => ({ no, isKept: true, act }));
  }

  #next(): number {
    this.#last += 1;
    return this.#last;
  }

  #keep(act: OperatorAct, done: (failure?: Error) => void): void {
    const kept = { no: this.#next(), act };
    const isFirst = this.#isVerified && this.#waiting.length === 0;
    if (isFirst) this.#kept = [];
    this.#kept.push(kept);
    this.#ports.journal.append(kept, isFirst, (failure) => {
      if (failure === undefined) this.handOver();
      else this.#notTaken(kept);
      done(failure);
    });
  }

  /** A refusal changed nothing, and stands in the log; of what was done only a little waits here, however long. */
  #notTaken(kept: KeptAct): void {
    const { keptNo } = this.#ports.state().signed.audit;
    this.#unrecorded = this.#unrecorded.filter((no) => no > keptNo);
    if (!isRefusal(kept.act) && this.#unrecorded.length < MOST_UNRECORDED)
      this.#unrecorded = [...this.#unrecorded, kept.no];
    else this.#kept = this.#kept.filter(({ no }) => no !== kept.no);
  }
}
