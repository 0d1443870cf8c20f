/**
 * Judges a run of real peers: shows every durable transaction and everything callers saw, in the order of one clock, to
 * the checkers of the simulator, and lets them look at the databases as they were left.
 */
import { commands } from "../../core/commands/Commands.ts";
import { boot } from "../../core/protocol/Boot.ts";
import type { Crypto } from "../../core/crypto/Crypto.ts";
import { InvariantViolation } from "../../core/base/Invariant.ts";
import type { PeerState } from "../../core/protocol/PeerState.ts";
import type { Rows, RowView } from "../../core/Tables.ts";
import { IntegrityFailure } from "../../runtime/PeerStore.ts";
import type { Watched } from "../../sim/checkers/Checker.ts";
import { Checkers } from "../../sim/checkers/Checkers.ts";
import { Ghost, maskOf } from "../../sim/checkers/Ghost.ts";
import { Oracle } from "../../sim/oracle/Oracle.ts";
import type { Said } from "../../sim/requests/Said.ts";
import { keyUnrestOf } from "../../sim/run/KeysAtRest.ts";
import { unrestOf } from "../../sim/run/Rest.ts";
import { approverSubject } from "../../sim/models/approvers/ApproverSubject.ts";
import { production } from "../../sim/models/Models.ts";
import { isSuccess } from "../../sim/requests/Success.ts";
import { Violation } from "../../sim/base/Violation.ts";
import { Witness } from "../../sim/oracle/Witness.ts";
import type { FinalStore } from "./FinalStore.ts";
import { isOfKeys, type Moment } from "./History.ts";
import type { Transaction } from "./Journal.ts";
import { formsOf, Needles } from "./Needles.ts";
import { ReplayedRows } from "./ReplayedRows.ts";
import { assertSameRows } from "./SameRows.ts";
import { Truth } from "./Truth.ts";

/** One peer as it was left. */
export interface PeerEvidence {
  readonly slot: number;
  readonly transactions: ReadonlyArray<Transaction>;
  readonly final: FinalStore;
  /** Whether it said that it was unsealed, before it was stopped. */
  readonly unsealed: boolean;
}

export interface Evidence {
  readonly crypto: Crypto;
  readonly peers: ReadonlyArray<PeerEvidence>;
  readonly moments: ReadonlyArray<Moment>;
  readonly said: Said;
  /** How long enrollment sessions last by the configuration. */
  readonly sessionMillis: number;
  /** Secrets that must not be stored, answered or logged. */
  readonly secrets: ReadonlyArray<string>;
  /** Unpadded Base64url; each was told once, in an answer that is recorded without it. */
  readonly invitations: ReadonlyArray<string>;
  readonly logLines: ReadonlyArray<string>;
}

export interface Verdict {
  /** The ids of the invariants that were looked at. */
  readonly checked: ReadonlyArray<string>;
  readonly transactions: number;
  readonly violation: Violation | undefined;
}

/** An approver as far as a read over HTTP shows it, which leaves out the identity of its key. */
const shownSubject: typeof approverSubject = {
  ...approverSubject,
  changed: (first, now) => approverSubject.changed(first, { ...now, keyIdentity: first.keyIdentity }),
};

/** The part of a run of real peers that checkers can see; events inside a process are not in it. */
const shown = ["flushed", "replied", "read", "booted", "stopped", "traced", "swept", "stepped"] as const;

/**
 * {@link shown} has states only once all is over, and shows no moment of signing or of waiting in vain: successive
 * states (S18), repeated messages (S23), signatures (S28), clocks (S61), messages (S64, K22), paces (S65), sessions (K16) and unanswered callers (L10) are seen in part here, so these checkers judge nothing.
 */
const needInside: ReadonlySet<string> = new Set(["S18", "S23", "S28", "S61", "S64", "S65", "K16", "K22", "L10"]);

/**
 * Operators' acts are not written down here, so their rows would have no author; lists are judged in Lists.ts; whom a
 * refusal names would have to be held against what members said inside; and no vote is seen to leave.
 */
const unseen: ReadonlySet<string> = new Set(["S34", "S40", "S44", "S53", "S60", "S62"]);

/** What callers saw, by itself. */
const history = ["H1", "L10"];

const atRest = ["L1", "L2", "L3", "L4", "L5", "K8"];

class AuditedPeer implements Watched {
  readonly slot: number;
  honest = true;
  /** Until when its disk may have been old without anybody having said so, in microseconds. */
  ignorantUntil = Number.NEGATIVE_INFINITY;
  /** All that it has made durable, except what an older disk has undone. */
  made: Array<Transaction> = [];
  readonly replayed = new ReplayedRows();
  /** The rows as they were at the moment being judged. */
  store: RowView = this.replayed;
  readonly isIdle = true;
  readonly isDamaged = false;
  readonly harm = undefined;
  readonly isVerified = true;
  readonly misjudgesTokens = true;
  /** Its clock is not written down here, and nothing in a run is old enough to be removed. */
  readonly lastReading = Number.POSITIVE_INFINITY;
  readonly decidedAt = 0;
  readonly settings = undefined;
  process = 0;
  state: PeerState | undefined;
  readonly opened: NonNullable<Watched["opened"]>;

  constructor(slot: number, opened: NonNullable<Watched["opened"]>) {
    this.slot = slot;
    this.opened = opened;
  }

  /**
   * Every row of an approver that a question sent at this time may have found, newest first: the one before, and each
   * that was written meanwhile. Of the transactions begun by then the last may not have been flushed yet.
   */
  foundSince(ref: string, from: number): ReadonlyArray<Rows["approvers"] | undefined> {
    const found: Array<Rows["approvers"] | undefined> = [];
    let isBefore = false;
    for (const { stamp, writes } of this.made.toReversed()) {
      for (const write of writes.toReversed()) {
        if (write.table !== "approvers" || write.key !== ref) continue;
        found.push(write.op === "remove" ? undefined : write.row);
        if (isBefore) return found;
      }
      if (stamp <= from) isBefore = true;
    }
    return [...found, undefined];
  }
}

type Step =
  | { readonly at: number; readonly peer: AuditedPeer; readonly transaction: Transaction }
  | { readonly at: number; readonly moment: Moment };

class Audit {
  readonly #evidence: Evidence;
  readonly #peers: ReadonlyArray<AuditedPeer>;
  readonly #ghost: Ghost;
  readonly #checkers: Checkers;
  readonly #truth: Truth;
  readonly #witness = new Witness();

  constructor(evidence: Evidence) {
    const { crypto, peers, said, secrets, sessionMillis } = evidence;
    this.#evidence = evidence;
    this.#ghost = new Ghost(crypto, peers.length);
    this.#peers = peers.map(
      ({ slot, final }) =>
        new AuditedPeer(slot, ({ keyId, generation, transcript }, verifyingShare, box) => {
          const clusterId = this.#ghost.membership?.topology.clusterId;
          if (clusterId === undefined) return undefined;
          const place = { clusterId, peerId: slot, keyId, generation, transcript, verifyingShare };
          return final.shareVault?.open(place, box);
        }),
    );
    this.#checkers = new Checkers(
      this.#ghost,
      new Oracle(crypto, said, peers.length, sessionMillis),
      undefined,
      secrets,
      unseen,
    );
    this.#truth = new Truth();
  }

  get checked(): ReadonlyArray<string> {
    return [...this.#checkers.heeding(shown).filter((id) => !needInside.has(id)), ...history, ...atRest];
  }

  /** Throws {@link Violation}. */
  run(): void {
    for (const step of this.#steps()) {
      if ("moment" in step) this.#moment(step.moment);
      else this.#transaction(step.peer, step.transaction);
    }
    for (const line of this.#evidence.logLines) for (const hook of this.#checkers.hooks("traced")) hook(line);
    this.#invitations();
    this.#end();
  }

  /** Each differs, so they have no common mark that the checker of secrets could look for. */
  #invitations(): void {
    const { invitations, logLines, moments, peers } = this.#evidence;
    const needles = new Needles(invitations.flatMap(formsOf));
    const look = (hay: Uint8Array | string, where: () => string): void => {
      if (needles.isIn(hay)) throw new Violation("S29", "an invitation is told once, and never stored", where());
    };
    for (const { slot, transactions } of peers)
      for (const { rows } of transactions)
        for (const [table, key, row] of rows) {
          look(key, () => `peer ${slot} stored one as a key of ${table}`);
          if (row !== undefined) look(row, () => `peer ${slot} stored one at ${table}/${key}`);
        }
    for (const line of logLines) look(line, () => "one is in a log");
    for (const moment of moments)
      if ("body" in moment) look(moment.body, () => `one is in an answer (${moment._tag}, ${moment.at} µs)`);
  }

  #peer(slot: number): AuditedPeer {
    const peer = this.#peers[slot - 1];
    if (peer === undefined) throw new RangeError(`there is no peer ${slot}`);
    return peer;
  }

  /** All that depends on a transaction began after it was flushed, and its stamp is from before that. */
  #steps(): ReadonlyArray<Step> {
    const { peers, moments } = this.#evidence;
    const steps: ReadonlyArray<Step> = [
      ...peers.flatMap(({ slot, transactions }) =>
        transactions.map((transaction) => ({ at: transaction.stamp, peer: this.#peer(slot), transaction })),
      ),
      ...moments.map((moment) => ({ at: moment.at, moment })),
    ];
    return steps.toSorted((left, right) => left.at - right.at);
  }

  #transaction(peer: AuditedPeer, transaction: Transaction): void {
    const { process, writes } = transaction;
    peer.process = process;
    peer.made.push(transaction);
    peer.replayed.apply(writes);
    for (const write of writes)
      if (write.table === "restore" && write.op !== "remove") {
        if (write.row.recovering) {
          this.#witness.restored(peer.slot);
          peer.ignorantUntil = transaction.stamp;
        }
        peer.honest = !write.row.recovering;
      }
    this.#ghost.flushed(peer, writes);
    this.#checkers.flushed(peer, writes);
    this.#truth.stored(writes);
  }

  #moment(moment: Moment): void {
    switch (moment._tag) {
      case "Up":
        for (const hook of this.#checkers.hooks("booted")) hook(this.#peer(moment.slot));
        return;
      case "Down":
        for (const hook of this.#checkers.hooks("stopped")) hook(this.#peer(moment.slot), moment.at);
        return;
      case "PutBack":
        return this.#putBack(this.#peer(moment.slot), moment);
      case "Unanswered":
        return this.#assertExcused(moment);
      case "Asked":
        return this.#witness.asked(moment.asked.requestId, moment.at, moment.asked.said);
      case "Replied": {
        const { at, asked, answer, body } = moment;
        const { requestId, said, token } = asked;
        if (isSuccess(answer)) production.modelOf(said).assertMeant(requestId, said, token, answer);
        // It is unknown here what has held a real peer up.
        const reply = {
          requestId,
          answer,
          askedAt: asked.at,
          asked: isOfKeys(said) ? said : undefined,
          undisturbedSince: undefined,
          repliedAt: at,
        };
        for (const hook of this.#checkers.hooks("replied")) hook(this.#peer(asked.slot), reply);
        this.#truth.replied(asked, answer, body);
        return this.#witness.answered(requestId, at, answer, true);
      }
      case "Read": {
        const { slot, from, ref, found, body } = moment;
        // No process can know that its disk is old: until it is told, or has found out, it shows the rows of that.
        const peer = this.#peer(slot);
        if (from <= peer.ignorantUntil) return;
        // An answer may be from before what its peer wrote while it was under way.
        const [, ...earlier] = peer.foundSince(ref, from);
        if (!earlier.some((row) => row?.revision === found?.revision))
          for (const hook of this.#checkers.hooks("read"))
            hook(peer, { subject: shownSubject, ref, found, transactions: 0 });
        if (found !== undefined) this.#truth.read(slot, found, body);
        return this.#witness.read(slot, from, ref, found && approverSubject.seen(found));
      }
    }
  }

  /** The machine of a peer got an older disk. */
  #putBack(peer: AuditedPeer, { how, transactions }: Extract<Moment, { readonly _tag: "PutBack" }>): void {
    peer.made = peer.made.filter(({ number }) => number <= transactions);
    peer.replayed.goBackTo(peer.made);
    peer.honest = false;
    peer.ignorantUntil = Number.POSITIVE_INFINITY;
    const own = maskOf(peer.slot);
    this.#ghost.away |= own;
    this.#ghost.recovering &= ~own;
    if (how === "declared") return;
    this.#ghost.forgetful |= own;
    this.#ghost.wentBack(peer.slot, (table, key) => peer.store.get(table, key) !== undefined);
  }

  /** L10: a peer that was asked and stays up answers in time. */
  #assertExcused({ at, from, slot, what }: Extract<Moment, { readonly _tag: "Unanswered" }>): void {
    const isExcused = this.#evidence.moments.some(
      (each) => (each._tag === "Down" || each._tag === "Up") && each.slot === slot && each.at > from && each.at < at,
    );
    if (!isExcused && !this.#standsStill(slot, from))
      throw new Violation("L10", `peer ${slot} was asked (${what}) and went on`, "it did not answer in time");
  }

  /** Whether its process stood still, or was not running, at that time. */
  #standsStill(slot: number, at: number): boolean {
    const before = this.#evidence.moments.findLast(
      (each) => (each._tag === "Down" || each._tag === "Up") && each.slot === slot && each.at <= at,
    );
    return before?._tag === "Down";
  }

  /** Everything has come to rest: the databases are compared with the transactions and with each other. */
  #end(): void {
    const { crypto, peers } = this.#evidence;
    for (const { slot, final, unsealed } of peers) {
      if (final.fault !== undefined)
        throw new Violation("STORE", `peer ${slot} was never tampered with`, `its rows do not hold: ${final.fault}`);
      const peer = this.#peer(slot);
      peer.store = final.store;
      const state = boot(final.store, crypto, commands, 0);
      peer.state = { ...state, fitness: { ...state.fitness, unsealed } };
    }
    for (const { slot, transactions, final } of peers) assertSameRows(slot, transactions, final.tables);
    for (const peer of this.#peers) for (const hook of this.#checkers.hooks("stepped")) hook(peer);
    for (const hook of this.#checkers.hooks("swept")) hook(this.#peers);
    // The last of the peers were started again less than a minute before this.
    const unrest = unrestOf(this.#ghost, this.#peers) ?? keyUnrestOf(this.#ghost, this.#peers, true);
    if (unrest !== undefined) throw new Violation(...unrest);
  }
}

const violationOf = (thrown: unknown): Violation => {
  if (thrown instanceof Violation) return thrown;
  if (thrown instanceof InvariantViolation) return new Violation(thrown.id, "a peer's rows were read", thrown.message);
  if (thrown instanceof IntegrityFailure)
    return new Violation("STORE", "no row was ever tampered with", thrown.message);
  throw thrown;
};

/** Judges what a run left behind. Never throws for a fault of the peers. */
export const audit = (evidence: Evidence): Verdict => {
  const judge = new Audit(evidence);
  const transactions = evidence.peers.reduce((sum, peer) => sum + peer.transactions.length, 0);
  try {
    judge.run();
    return { checked: judge.checked, transactions, violation: undefined };
  } catch (thrown) {
    return { checked: judge.checked, transactions, violation: violationOf(thrown) };
  }
};
