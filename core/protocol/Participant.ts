/**
 * A member's vote. It trusts nothing the writer computed: from the evidence it
 * derives actor, command and effects again, compares bytes, looks at its own
 * registry and locks, and only then reserves and signs (contract 5.6).
 */
import { Either } from "effect";
import type { Digest } from "../base/Digest.ts";
import type { ActorCheck } from "../auth/ActorCheck.ts";
import { Limits } from "../base/Limits.ts";
import { authorize } from "../auth/Authorization.ts";
import { sameBytes } from "../codec/Bytes.ts";
import { type Rows, slotKey } from "./Tables.ts";
import type { Turn } from "./Turn.ts";
import { isAboutProposal } from "./Abort.ts";
import { isOverdue, markStable } from "./Delivery.ts";
import { type Command, commandFor, type Intent, unrecognized } from "./Command.ts";
import { isAttested, isSameRequest, requestLineOf } from "./Forward.ts";
import { inquire } from "./Inquiry.ts";
import type { MessageOf, PrepareItem } from "./Message.ts";
import { hold, type Refusing, type Reservation } from "./Lifecycle.ts";
import { reserve } from "./Preparations.ts";
import { isSameActor, isSameLine, type Proposal, proposalId } from "./Proposal.ts";
import { hasDenied } from "./OwnRequest.ts";
import { refuse } from "./Refusals.ts";
import type { SignedStatement } from "./Statement.ts";
import type { PeerId } from "./Topology.ts";
import { isSpoken } from "./Versions.ts";

/** The code of the check that failed, or the empty string for a receipt. */
type Verdict = string;
const RECEIPT: Verdict = "";

interface Candidate {
  readonly id: Digest;
  readonly item: PrepareItem;
  readonly actor: ActorCheck;
}

/** What came before this vote: the stored statement for a proposal that was judged already. */
const earlierVote = (turn: Turn, id: Digest, slot: Rows["slots"] | undefined): SignedStatement | undefined => {
  const prepared = turn.state.undecided.preparations.get(id);
  if (prepared !== undefined) return prepared.pledge ?? prepared.own;
  const refused = turn.state.undecided.refused.get(id);
  if (refused !== undefined) return refused.votes.get(turn.self);
  if (slot === undefined) return undefined;
  return slot.proposalId === id ? slot.ack : turn.context.view.get("strays", id)?.ack;
};

/** Whether the message may be answered with a statement at all: right sender, topology, slot and writer's receipt. */
const deservesVote = (turn: Turn, from: PeerId, { id, item }: Candidate): boolean =>
  from === turn.membership.writer &&
  item.proposal.seq >= 1 &&
  item.proposal.seq <= turn.state.undecided.decidedSeq + Limits.slotWindow &&
  isAboutProposal(turn, id, item);

/** Deadlines and clocks, by this member's one sample of time. */
const timeFault = (turn: Turn, { proposedAt, expiresAt }: Proposal): Verdict => {
  if (proposedAt > turn.now + Limits.clockSkewMillis) return "CLOCK_SKEW";
  if (expiresAt > proposedAt + Limits.proposalMillis || turn.now > expiresAt) return "EXPIRED";
  return RECEIPT;
};

/** Actor, attestation and command, each recomputed from the evidence; then what the command means here. */
const evidenceFault = (turn: Turn, candidate: Candidate, accepted: number): Verdict => {
  const { item, actor } = candidate;
  const { proposal, evidence } = item;
  const { crypto } = turn.context;
  const command = commandFor(turn.context.commands, evidence.call);
  const authorized = authorize(turn.context, actor, command?.permission);
  if (Either.isLeft(authorized)) return authorized.left.code;
  if (!isSameActor(proposal.actor, authorized.right)) return "WRONG_ACTOR";
  if (proposal.expiresAt > authorized.right.expiresAt) return "EXPIRED";
  if (!isSameRequest(proposal, evidence) || !isAttested(crypto, turn.membership, evidence)) return "NOT_ATTESTED";
  // Its caller has heard that nothing was done, and nothing will be.
  if (hasDenied(turn, evidence)) return "DENIED";
  if (Math.abs(proposal.proposedAt - evidence.receivedAt) > Limits.proposalMillis) return "STALE_REQUEST";
  if (!isSameLine(requestLineOf(evidence.call, crypto), proposal.request)) return "WRONG_REQUEST";
  if (command === undefined) return unrecognized.code;
  const intent = command.parse(turn, evidence.call);
  if (Either.isLeft(intent)) return intent.left.code;
  return rowsFault(turn, candidate, command, intent.right, accepted);
};

/** This member's own rows, the effects that follow from them, and its locks and capacity. */
const rowsFault = (turn: Turn, { item }: Candidate, command: Command, intent: Intent, accepted: number): Verdict => {
  const { proposal } = item;
  // No member signs for what its own deadline would overtake.
  if (proposal.expiresAt > intent.deadline) return "EXPIRED";
  const standing = command.check(turn, intent);
  if (standing._tag === "Done") return "ALREADY_REGISTERED";
  if (standing._tag === "Impossible") return standing.rejection.code;
  // What this member makes of the request itself must be the same, to the byte.
  const effects = standing.effectsAt(proposal);
  const isSame = effects === proposal.effects || sameBytes(effects, proposal.effects);
  if (proposal.kind !== command.kind || !isSame) return "WRONG_EFFECTS";
  if (intent.locks.some((lock) => turn.isLocked(lock))) return "LOCKED";
  if (turn.state.undecided.preparations.size + accepted >= Limits.preparations) return "PREPARATION_CAPACITY";
  if (isOverdue(turn)) return "UNACKNOWLEDGED";
  return RECEIPT;
};

const judge = (turn: Turn, candidate: Candidate, bindsSlot: boolean, accepted: number): Verdict => {
  const { proposal } = candidate.item;
  if (!bindsSlot) return "SLOT_TAKEN";
  // What it does would have to be derived by the rules of that version.
  if (!isSpoken(turn.context.commands.versions, proposal)) return "VERSION_NOT_SPOKEN";
  if (proposal.configDigest !== turn.context.settings.configDigest) return "CONFIGURATION_DIFFERS";
  if (!turn.isCurrent(proposal.incarnations)) return "WRONG_INCARNATION";
  return timeFault(turn, proposal) || evidenceFault(turn, candidate, accepted);
};

/** Votes on every proposal of a batch by itself; all votes are signed and flushed together. */
export const onPrepare = (
  turn: Turn,
  from: PeerId,
  { items, stableSeq }: MessageOf<"Prepare">,
  actors: ReadonlyArray<ActorCheck>,
): void => {
  if (turn.mode === "recovering") return answerRecovering(turn, from, items);
  const earlier: Array<SignedStatement> = [];
  const accepted: Array<Reservation> = [];
  const refused: Array<Refusing> = [];
  const judged = new Set<Digest>();
  const taken = new Set<number>();
  items.forEach((item, index) => {
    const id = proposalId(turn.context.crypto, item.proposal);
    const candidate: Candidate = { id, item, actor: actors[index] ?? { _tag: "Unavailable" } };
    if (judged.has(id) || !deservesVote(turn, from, candidate)) return;
    judged.add(id);
    const slot = turn.context.view.get("slots", slotKey(item.proposal.epoch, item.proposal.seq));
    const known = earlierVote(turn, id, slot);
    if (known !== undefined) return void earlier.push(known);
    // Applied while joining and not acknowledged yet: it has been judged, only not aloud.
    if (slot?.proposalId === id) return;
    // Nothing follows from keys that could not be had: the writer asks again, until the deadline decides.
    if (candidate.actor._tag === "Unavailable" && turn.now <= item.proposal.expiresAt) return;
    const bindsSlot = slot === undefined && !taken.has(item.proposal.seq);
    const verdict = judge(turn, candidate, bindsSlot, accepted.length);
    taken.add(item.proposal.seq);
    if (verdict === RECEIPT) {
      turn.noteSeen(item.receipt);
      hold(turn, id, item.proposal);
      accepted.push({ id, proposal: item.proposal, writerReceipt: item.receipt });
    } else if (turn.state.undecided.refused.size + refused.length < Limits.refusals) {
      refused.push({ id, proposal: item.proposal, writerReceipt: item.receipt, code: verdict, bindsSlot });
    }
  });
  vote(turn, from, earlier, accepted, refused);
  if (from === turn.membership.writer) markStable(turn, stableSeq);
};

/** Who is recovering votes for nothing; what is open ends the sooner, and the others can offer their registry. */
const answerRecovering = (turn: Turn, from: PeerId, items: ReadonlyArray<PrepareItem>): void => {
  const earlier: Array<SignedStatement> = [];
  const unknown = new Map<Digest, PrepareItem>();
  for (const item of items) {
    const id = proposalId(turn.context.crypto, item.proposal);
    if (!isAboutProposal(turn, id, item)) continue;
    const known = turn.state.undecided.refused.get(id)?.votes.get(turn.self);
    if (known === undefined) unknown.set(id, item);
    else earlier.push(known);
  }
  inquire(turn, unknown);
  vote(turn, from, earlier, [], []);
};

const vote = (
  turn: Turn,
  writer: PeerId,
  earlier: ReadonlyArray<SignedStatement>,
  accepted: ReadonlyArray<Reservation>,
  refused: ReadonlyArray<Refusing>,
): void => {
  const statements = [...earlier];
  reserve(turn, accepted, (receipts) => statements.push(...receipts));
  refuse(turn, refused, (refusals) => statements.push(...refusals));
  turn.whenSigned(() => {
    if (statements.length > 0) turn.send(writer, { _tag: "Votes", statements });
  });
};
