/** A peer's memory of proposals that are not settled at every member. */
import type { Digest } from "../base/Digest.ts";
import type { Certificate } from "./Certificate.ts";
import type { Forward } from "./Forward.ts";
import type { Proposal } from "./Proposal.ts";
import type { Caller, Queued } from "./Requests.ts";
import type { SignedStatement } from "./Statement.ts";
import type { PeerId } from "./Topology.ts";

/** A proposal that this peer has prepared and not yet seen decided. */
export interface Preparation {
  readonly id: Digest;
  readonly proposal: Proposal;
  readonly writerReceipt: SignedStatement;
  readonly own: SignedStatement;
  readonly receipts: ReadonlyMap<PeerId, SignedStatement>;
  /** The first refusal of another member: this peer neither assembles nor applies, and pledges in the same step. */
  readonly refusal: SignedStatement | undefined;
  readonly pledge: SignedStatement | undefined;
  /** Abort votes by signer, this peer's own among them. */
  readonly votes: ReadonlyMap<PeerId, SignedStatement>;
  /** Monotonic milliseconds: when it was prepared (or loaded), and when the others were last asked about it. */
  readonly preparedAt: number;
  readonly askedAt: number;
}

/** A proposal that this peer has refused and not yet seen aborted; the rest of it is in its row. */
export interface RefusedProposal {
  readonly id: Digest;
  readonly proposal: Pick<Proposal, "epoch" | "seq">;
  readonly bindsSlot: boolean;
  readonly writerReceipt: SignedStatement;
  /** Abort votes by signer, this peer's own refusal among them. */
  readonly votes: ReadonlyMap<PeerId, SignedStatement>;
  /** Monotonic milliseconds: when it was refused (or loaded), and when the others were last asked about it. */
  readonly preparedAt: number;
  readonly askedAt: number;
}

/** At the writer: an aborted proposal that not every member is known to have aborted. */
export interface Aborting {
  readonly id: Digest;
  readonly proposal: Proposal;
  readonly writerReceipt: SignedStatement;
  /** The abort votes of all members. */
  readonly votes: ReadonlyArray<SignedStatement>;
  readonly acks: ReadonlyMap<PeerId, SignedStatement>;
  /** Monotonic milliseconds: when it was aborted (or loaded), and when the others were last told. */
  readonly preparedAt: number;
  readonly askedAt: number;
}

/** A committed proposal that not every member is known to have applied. */
export interface Delivery {
  readonly id: Digest;
  readonly seq: number;
  readonly proposal: Proposal;
  readonly acks: ReadonlyMap<PeerId, SignedStatement>;
  /** Monotonic milliseconds: when it is sent again to members that have not acknowledged it. */
  readonly dueAt: number;
  /** Acknowledged by all, so that its row may go with the next transaction. */
  readonly isPrunable: boolean;
}

/** The writer's memory of a proposal it made in this process. */
export interface Round {
  readonly id: Digest;
  /** What members need to judge it; dropped when all have voted or one has refused, or after the deadline. */
  readonly evidence: Forward | undefined;
  /** The first refusal by a member; the callers are told of it when the proposal is aborted. */
  readonly refusal: SignedStatement | undefined;
  /** Present once every member's receipt is here. */
  readonly certificate: Certificate | undefined;
  /** The request that made it, until it is answered. */
  readonly creator: Caller | undefined;
  /** Requests for the same approver that came while it was under way; if it is refused, they queue again. */
  readonly coalesced: ReadonlyArray<Queued>;
}

// Records changed by every registration are copied field by field: in a spread with a field of its own V8 defines that
// field anew, in its runtime, and a dozen of these cost a registration one part in twenty-five.

/** The same preparation with other receipts. */
export const withReceipts = (preparation: Preparation, receipts: Preparation["receipts"]): Preparation => ({
  id: preparation.id,
  proposal: preparation.proposal,
  writerReceipt: preparation.writerReceipt,
  own: preparation.own,
  receipts,
  refusal: preparation.refusal,
  pledge: preparation.pledge,
  votes: preparation.votes,
  preparedAt: preparation.preparedAt,
  askedAt: preparation.askedAt,
});

/** The same delivery with other acknowledgements. */
export const withAcks = (delivery: Delivery, acks: Delivery["acks"]): Delivery => ({
  id: delivery.id,
  seq: delivery.seq,
  proposal: delivery.proposal,
  acks,
  dueAt: delivery.dueAt,
  isPrunable: delivery.isPrunable,
});

/** The same delivery, acknowledged by all. */
export const concluded = (delivery: Delivery): Delivery => ({
  id: delivery.id,
  seq: delivery.seq,
  proposal: delivery.proposal,
  acks: delivery.acks,
  dueAt: delivery.dueAt,
  isPrunable: true,
});

/** The same round with its certificate: the evidence is no longer needed, and its token leaves memory. */
export const certified = (round: Round, certificate: Certificate): Round => ({
  id: round.id,
  evidence: undefined,
  refusal: round.refusal,
  certificate,
  creator: round.creator,
  coalesced: round.coalesced,
});

/** Every proposal that is not settled, in its phase; Lifecycle.ts alone changes it. */
export interface Undecided {
  readonly preparations: ReadonlyMap<Digest, Preparation>;
  readonly refused: ReadonlyMap<Digest, RefusedProposal>;
  readonly aborting: ReadonlyMap<Digest, Aborting>;
  /** Lock name to the proposal that holds it; not stored, but derived from rows. */
  readonly locks: ReadonlyMap<string, Digest>;
  readonly outbox: ReadonlyMap<number, Delivery>;
  /** How many outbox rows are prunable. */
  readonly prunable: number;
  readonly rounds: ReadonlyMap<Digest, Round>;
  /** Those of the newest `Prepare` that are still short of a receipt. */
  readonly collecting: ReadonlySet<Digest>;
  /** The highest slot bound here with the writer's receipt for it, and the highest one decided. */
  readonly highSeq: number;
  readonly highProof: SignedStatement | undefined;
  readonly decidedSeq: number;
  /** Monotonic milliseconds: when all room for aborts is back (AbortPace.ts); at the writer, the same of actors. */
  readonly abortsUntil: number;
  readonly abortsOfActors: ReadonlyMap<string, number>;
}

export const nothingUndecided = (): Undecided => ({
  preparations: new Map(),
  refused: new Map(),
  aborting: new Map(),
  locks: new Map(),
  outbox: new Map(),
  prunable: 0,
  rounds: new Map(),
  collecting: new Set(),
  highSeq: 0,
  highProof: undefined,
  decidedSeq: 0,
  abortsUntil: 0,
  abortsOfActors: new Map(),
});
