/**
 * A member's vote. It trusts nothing the writer computed: it derives actor,
 * command and effects again from the evidence, compares bytes, checks its own
 * registry and locks, and only then reserves and signs (contract 5.6).
 */
import { Either } from "effect";
import type { Digest } from "../base/Digest.ts";
import type { ActorCheck } from "../auth/ActorCheck.ts";
import { Limits } from "../base/Limits.ts";
import { authorize } from "../auth/Authorization.ts";
import { sameBytes } from "../codec/Bytes.ts";
import { type Rows, slotKey } from "./Tables.ts";
import type { Step } from "./Step.ts";
import { isAboutProposal, showProven } from "./Abort.ts";
import { hasRoomToPrepare } from "./AbortPace.ts";
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
import { remindOfRecord, WRONG_INCARNATION } from "./Reminders.ts";
import type { SignedStatement } from "./Statement.ts";
import type { PeerId } from "./Topology.ts";
import { isSpoken } from "./Versions.ts";

/** The code of the check that failed, or the empty string for a receipt. */
type CheckCode = string;
const RECEIPT: CheckCode = "";

interface Candidate {
  readonly id: Digest;
  readonly item: PrepareItem;
  readonly actor: ActorCheck;
}

/** The statement made before this vote, if any: the stored one of a proposal that was judged already. */
const earlierVote = (step: Step, id: Digest, slot: Rows["slots"] | undefined): SignedStatement | undefined => {
  const prepared = step.state.undecided.preparations.get(id);
  if (prepared !== undefined) return prepared.pledge ?? prepared.own;
  const refused = step.state.undecided.refused.get(id);
  if (refused !== undefined) return refused.votes.get(step.self);
  if (slot === undefined) return undefined;
  return slot.proposalId === id ? slot.ack : step.context.view.get("strays", id)?.ack;
};

/** Whether the message may be answered with a statement at all: right sender, topology, slot and writer's receipt. */
const deservesVote = (step: Step, from: PeerId, { id, item }: Candidate): boolean =>
  from === step.membership.writer &&
  item.proposal.seq >= 1 &&
  item.proposal.seq <= step.state.undecided.decidedSeq + step.capacities.slotWindow &&
  isAboutProposal(step, id, item);

/** Deadlines and clocks, by this member's one sample of time. */
const timeFault = (step: Step, { proposedAt, expiresAt }: Proposal): CheckCode => {
  if (proposedAt > step.now + Limits.clockSkewMillis) return "CLOCK_SKEW";
  if (expiresAt > proposedAt + Limits.proposalMillis || step.now > expiresAt) return "EXPIRED";
  return RECEIPT;
};

/** Actor, attestation and command, each recomputed from the evidence; then the meaning of the command here. */
const evidenceFault = (step: Step, candidate: Candidate, accepted: number): CheckCode => {
  const { item, actor } = candidate;
  const { proposal, evidence } = item;
  const { crypto } = step.context;
  const command = commandFor(step.context.commands, evidence.call);
  const authorized = authorize(step.context, actor, command?.permissionsOf(evidence.call) ?? []);
  if (Either.isLeft(authorized)) return authorized.left.code;
  if (!isSameActor(proposal.actor, authorized.right)) return "WRONG_ACTOR";
  if (proposal.expiresAt > authorized.right.expiresAt) return "EXPIRED";
  if (!isSameRequest(proposal, evidence) || !isAttested(crypto, step.membership, evidence)) return "NOT_ATTESTED";
  // Its caller was told that nothing was done, and nothing will be.
  if (hasDenied(step, evidence)) return "DENIED";
  if (Math.abs(proposal.proposedAt - evidence.receivedAt) > Limits.proposalMillis) return "STALE_REQUEST";
  if (!isSameLine(requestLineOf(evidence.call, crypto), proposal.request)) return "WRONG_REQUEST";
  if (command === undefined) return unrecognized.code;
  if (proposal.version < command.since) return "VERSION_NOT_SPOKEN";
  const intent = command.parse(step, evidence.call);
  if (Either.isLeft(intent)) return intent.left.code;
  return rowsFault(step, candidate, command, intent.right, accepted);
};

/** This member's own rows, the effects that follow from them, and its locks and capacity. */
const rowsFault = (step: Step, { item }: Candidate, command: Command, intent: Intent, accepted: number): CheckCode => {
  const { proposal } = item;
  // No member signs a proposal that its own deadline would overtake.
  if (proposal.expiresAt > intent.deadline) return "EXPIRED";
  const standing = command.check(step, intent);
  if (standing._tag === "Done") return "ALREADY_REGISTERED";
  if (standing._tag === "Impossible") return standing.rejection.code;
  if (standing._tag === "NotYet") return "NOT_MADE";
  // The effects that this member derives from the request must be the same, to the byte.
  const effects = standing.effectsAt(proposal);
  const isSame = effects === proposal.effects || sameBytes(effects, proposal.effects);
  if (proposal.kind !== command.kind || !isSame) return "WRONG_EFFECTS";
  if (intent.locks.some((lock) => step.isLocked(lock))) return "LOCKED";
  if (step.state.undecided.preparations.size + accepted >= step.capacities.preparations) return "PREPARATION_CAPACITY";
  if (isOverdue(step)) return "UNACKNOWLEDGED";
  return RECEIPT;
};

const judge = (step: Step, candidate: Candidate, bindsSlot: boolean, accepted: number): CheckCode => {
  const { proposal } = candidate.item;
  if (!bindsSlot) return "SLOT_TAKEN";
  // Its effects would have to be derived by the rules of that version.
  if (!isSpoken(step.context.commands.versions, proposal)) return "VERSION_NOT_SPOKEN";
  if (proposal.configDigest !== step.context.settings.configDigest) return "CONFIGURATION_DIFFERS";
  if (!step.isCurrent(proposal.incarnations)) return WRONG_INCARNATION;
  return timeFault(step, proposal) || evidenceFault(step, candidate, accepted);
};

/** Votes on every proposal of a `Prepare` by itself; all votes are signed and flushed together. */
export const onPrepare = (
  step: Step,
  from: PeerId,
  { items, stableSeq }: MessageOf<"Prepare">,
  actors: ReadonlyArray<ActorCheck>,
): void => {
  if (step.mode === "recovering") return answerRecovering(step, from, items);
  const earlier: Array<SignedStatement> = [];
  const accepted: Array<Reservation> = [];
  const refused: Array<Refusing> = [];
  const judged = new Set<Digest>();
  const taken = new Set<number>();
  items.forEach((item, index) => {
    const id = proposalId(step.context.crypto, item.proposal);
    const candidate: Candidate = { id, item, actor: actors[index] ?? { _tag: "Unavailable" } };
    if (judged.has(id) || !deservesVote(step, from, candidate)) return;
    judged.add(id);
    const slot = step.context.view.get("slots", slotKey(item.proposal.epoch, item.proposal.seq));
    const known = earlierVote(step, id, slot);
    if (known !== undefined) return void earlier.push(known);
    // Applied while joining and not acknowledged yet: it was judged, but no statement was signed.
    if (slot?.proposalId === id) return;
    // Nothing follows from missing token keys: the writer asks again, until the deadline decides.
    if (candidate.actor._tag === "Unavailable" && step.now <= item.proposal.expiresAt) return;
    // Nor from what this peer might not be able to abort.
    if (!hasRoomToPrepare(step, accepted.length + refused.length)) return;
    const bindsSlot = slot === undefined && !taken.has(item.proposal.seq);
    const verdict = judge(step, candidate, bindsSlot, accepted.length);
    taken.add(item.proposal.seq);
    if (verdict === RECEIPT) {
      step.noteSeen(item.receipt);
      hold(step, id, item.proposal);
      accepted.push({ id, proposal: item.proposal, writerReceipt: item.receipt });
      return;
    }
    if (verdict === WRONG_INCARNATION) remindOfRecord(step, item.proposal.incarnations);
    if (step.state.undecided.refused.size + refused.length < step.capacities.refusals)
      refused.push({ id, proposal: item.proposal, writerReceipt: item.receipt, code: verdict, bindsSlot });
  });
  vote(step, from, earlier, accepted, refused);
  if (from === step.membership.writer) markStable(step, stableSeq);
};

/** A recovering peer votes for nothing; open proposals end the sooner, and the others can offer their registry. */
const answerRecovering = (step: Step, from: PeerId, items: ReadonlyArray<PrepareItem>): void => {
  const earlier: Array<SignedStatement> = [];
  const unknown = new Map<Digest, PrepareItem>();
  for (const item of items) {
    const id = proposalId(step.context.crypto, item.proposal);
    if (!isAboutProposal(step, id, item)) continue;
    const known = step.state.undecided.refused.get(id)?.votes.get(step.self);
    if (known === undefined) unknown.set(id, item);
    else earlier.push(known);
  }
  inquire(step, showProven(step, from, unknown));
  vote(step, from, earlier, [], []);
};

const vote = (
  step: Step,
  writer: PeerId,
  earlier: ReadonlyArray<SignedStatement>,
  accepted: ReadonlyArray<Reservation>,
  refused: ReadonlyArray<Refusing>,
): void => {
  const statements = [...earlier];
  reserve(step, accepted, (receipts) => statements.push(...receipts));
  refuse(step, refused, (refusals) => statements.push(...refusals));
  step.whenSigned(() => {
    if (statements.length > 0) step.send(writer, { _tag: "Votes", statements });
  });
};
