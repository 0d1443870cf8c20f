/**
 * Who has told the writer that it is ready, and when the writer asked: by the messages that went between them. While a
 * member is missing nothing is reserved (S42, contract 10.1), and what a member said counts for a second (S43).
 */
import type { Digest } from "../../core/base/Digest.ts";
import type { MessageOf } from "../../core/protocol/Message.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import type { Write } from "../../core/Tables.ts";
import type { SimPeer } from "./SimPeer.ts";
import type { Scheduler } from "./Scheduler.ts";
import { Violation } from "../base/Violation.ts";

type Ready = MessageOf<"Ready">;

/** What a member has said counts for so long (protocol.md 3.3). */
const COUNTS_MILLIS = 1_000;

/** Questions to one member that may still be answered. */
const KEPT = 4;

interface Question {
  readonly nonce: Digest;
  /** Microseconds. */
  readonly askedAt: number;
  answer: Ready | undefined;
}

/** What a process that asks has heard. */
interface Asker {
  readonly process: number;
  /** By member, the newest first. */
  readonly questions: Map<PeerId, Array<Question>>;
  /** When an answer last came, or a copy of one, in microseconds. */
  heardAt: number;
  /** An answer has come since it last had nothing to do: it may just have read that. */
  isUnread: boolean;
  /** When it had read an answer at the latest, in microseconds: what comes while it is busy waits. */
  readAt: number;
}

const millis = (micros: number): number => Math.floor(micros / 1_000);

/** What a member lacks by its own word; undefined where it can take part. */
const lacks = ({ state, settings }: SimPeer, ready: Ready): string | undefined => {
  if (ready.sealed || ready.mode !== "active") return `it was ${ready.sealed ? "sealed" : ready.mode}`;
  if (!ready.integrityOk) return "its rows did not hold";
  if (!ready.judgesTokens) return "it could judge no token";
  if (ready.topologyDigest !== state?.cluster.membership?.digest) return "it was in another cluster";
  return ready.configDigest === settings.configDigest ? undefined : "it had another configuration";
};

export class Attendance {
  readonly #scheduler: Scheduler;
  readonly #askers: Array<Asker | undefined> = [];

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  #askerOf({ slot, process }: SimPeer): Asker {
    const known = this.#askers[slot];
    if (known?.process === process) return known;
    const asker = { process, questions: new Map(), heardAt: 0, isUnread: false, readAt: 0 };
    this.#askers[slot] = asker;
    return asker;
  }

  /** A peer asks a member whether it is ready, for the first time or again. */
  asked(peer: SimPeer, member: PeerId, nonce: Digest): void {
    const { questions } = this.#askerOf(peer);
    const all = questions.get(member) ?? [];
    if (all.some((each) => each.nonce === nonce)) return;
    questions.set(member, [{ nonce, askedAt: this.#scheduler.now, answer: undefined }, ...all.slice(0, KEPT - 1)]);
  }

  /** A member's answer reaches a peer. */
  answered(peer: SimPeer, member: PeerId, ready: Ready): void {
    // Of a liar that answers in another's name nobody has heard that it is ready.
    if (ready.peerId !== member) return;
    const asker = this.#askerOf(peer);
    const question = asker.questions.get(member)?.find(({ nonce }) => nonce === ready.nonce);
    if (question === undefined) return;
    asker.heardAt = this.#scheduler.now;
    asker.isUnread = true;
    question.answer ??= ready;
  }

  /** A peer has nothing to do. */
  idle(peer: SimPeer): void {
    const asker = this.#askers[peer.slot];
    if (asker === undefined) return;
    if (asker.isUnread) asker.readAt = this.#scheduler.now;
    asker.isUnread = false;
  }

  /** S42, S43: a peer is about to store these rows. */
  assertAll(peer: SimPeer, writes: ReadonlyArray<Write>): void {
    const { state, peerId, honest } = peer;
    const membership = state?.cluster.membership;
    if (!honest || membership?.writer !== peerId) return;
    if (!writes.some(({ table, op }) => table === "preparations" && op === "insert")) return;
    const asker = this.#askerOf(peer);
    for (const member of membership.peerIds) if (member !== peerId) this.#assertReady(peer, asker, member);
  }

  #assertReady(peer: SimPeer, asker: Asker, member: PeerId): void {
    const first = `the writer, peer ${peer.slot}, reserved a change at ${this.#scheduler.now} µs`;
    const answered = (asker.questions.get(member) ?? []).filter(({ answer }) => answer !== undefined);
    const [newest] = answered;
    if (newest === undefined)
      throw new Violation("S42", first, `peer ${member} has not told this process of it that it is ready`);
    const ready = answered.filter(({ answer }) => answer !== undefined && lacks(peer, answer) === undefined);
    if (ready.length === 0)
      throw new Violation(
        "S42",
        first,
        `peer ${member} could not take part: ${newest.answer && lacks(peer, newest.answer)}`,
      );
    if (!ready.some(({ askedAt }) => this.#isYoung(askedAt)) && !this.#hasJustHeard(asker))
      throw new Violation(
        "S43",
        first,
        `peer ${member} said that it was ready when asked at ${newest.askedAt} µs, which counts for ${COUNTS_MILLIS} ms`,
      );
  }

  #isYoung(askedAt: number): boolean {
    return millis(this.#scheduler.now) - millis(askedAt) <= COUNTS_MILLIS;
  }

  /** Whether the last answer came or was read in this very millisecond, or the peer has been busy ever since it came. */
  #hasJustHeard({ heardAt, isUnread, readAt }: Asker): boolean {
    return isUnread || [heardAt, readAt].some((at) => millis(at) === millis(this.#scheduler.now));
  }
}
