/**
 * A request's way in, through whichever peer it came, and its answer's way out.
 * The entry peer believes no claim of success: it checks the certificate and
 * every member's acknowledgement itself (protocol.md 1, "One malicious writer").
 */
import { Either } from "effect";
import type { ActorCheck, Event } from "../Event.ts";
import { authorize, REGISTER_PERMISSION } from "../registry/Authorization.ts";
import { approverRow, registrationOf } from "../registry/Registration.ts";
import { Limits } from "../Limits.ts";
import { rejection } from "../Rejection.ts";
import type { Turn } from "../Turn.ts";
import { answerRejected } from "./Answers.ts";
import { isComplete } from "./Certificate.ts";
import { admit, answerAfter, busy, unavailable } from "./Coordinator.ts";
import { attest, type Forward, isAttested } from "./Forward.ts";
import type { MessageOf } from "./Message.ts";
import { proposalId } from "./Proposal.ts";
import { ownFault } from "./Readiness.ts";
import { isAuthentic, signerOf } from "./Statement.ts";
import type { PeerId } from "./Topology.ts";

const FORWARD_AGAIN_MILLIS = 500;
/** An acknowledged request whose outcome does not come may have had it lost on the way. */
const OUTCOME_AGAIN_MILLIS = 2_000;

export const onCommand = (turn: Turn, event: Extract<Event, { readonly _tag: "Command" }>): void => {
  const { requestId, call, token, actor } = event;
  const refuse = (refusal: ReturnType<typeof rejection>): void =>
    turn.reply(requestId, { _tag: "Rejected", rejection: refusal });
  if (turn.state.peer === undefined)
    return refuse(rejection("NOT_INITIALIZED", "This peer is not initialized.", "Initialize and unseal it first."));
  const fault = ownFault(turn);
  if (fault !== undefined) return refuse(unavailable([{ peerId: turn.self, reason: fault }], undefined));
  const authorized = authorize(turn.context, actor, REGISTER_PERMISSION);
  if (Either.isLeft(authorized)) return refuse(authorized.left);
  const { signer, crypto } = turn.context;
  if (signer === undefined) return refuse(unavailable([{ peerId: turn.self, reason: "it is sealed" }], undefined));
  const forward = attest(crypto, signer, turn.membership, {
    requestId,
    entryPeer: turn.self,
    call,
    token,
    receivedAt: turn.now,
  });
  if (turn.isWriter) return admit(turn, forward, actor);
  if (turn.state.awaited.size >= Limits.queuedCommands)
    return refuse(busy("This peer has as many requests under way as it may.", undefined));
  turn.edit("awaited").set(requestId, { forward, acknowledged: false, sentAt: turn.now });
  turn.send(turn.membership.writer, { _tag: "Forward", forward });
  turn.arm("forward", FORWARD_AGAIN_MILLIS);
  turn.arm("answers", answerAfter(turn));
};

/** A request that entered elsewhere; the writer checks the token for itself, as every member will. */
export const onForward = (turn: Turn, from: PeerId, forward: Forward, actor: ActorCheck): void => {
  if (from !== forward.entryPeer || turn.state.membership === undefined || !turn.isWriter) return;
  const fault = ownFault(turn);
  if (fault !== undefined) {
    const refusal = unavailable([{ peerId: turn.self, reason: fault }], undefined);
    return turn.state.unsealed ? answerRejected(turn, { forward, arrivedAt: turn.now }, refusal) : undefined;
  }
  if (!isAttested(turn.context.crypto, turn.membership, forward)) return;
  // A copy kept back and played again later is not what the caller is waiting for.
  if (Math.abs(turn.now - forward.receivedAt) > Limits.proposalMillis) return;
  turn.send(from, { _tag: "Forwarded", requestId: forward.requestId });
  admit(turn, forward, actor);
};

export const onForwarded = (turn: Turn, from: PeerId, { requestId }: MessageOf<"Forwarded">): void => {
  const awaited = turn.state.awaited.get(requestId);
  if (awaited === undefined || from !== turn.membership.writer) return;
  turn.edit("awaited").set(requestId, { ...awaited, acknowledged: true });
};

/** Forwards again what the writer has not acknowledged; when it stays silent it counts as unavailable. */
export const onForwardTimer = (turn: Turn): void => {
  if (ownFault(turn) !== undefined || turn.state.awaited.size === 0) return;
  for (const [requestId, awaited] of turn.state.awaited) {
    const { forward, acknowledged, sentAt } = awaited;
    if (turn.now - sentAt < (acknowledged ? OUTCOME_AGAIN_MILLIS : FORWARD_AGAIN_MILLIS)) continue;
    if (!acknowledged && turn.now - forward.receivedAt >= Limits.probeWaitMillis) {
      turn.edit("awaited").delete(requestId);
      const silent = { peerId: turn.membership.writer, reason: "it does not answer" };
      // A lost acknowledgement looks the same as a lost request, so the outcome stays open.
      const refusal = { ...unavailable([silent], undefined), outcomeUnknown: true };
      turn.reply(requestId, { _tag: "Rejected", rejection: refusal });
      continue;
    }
    turn.edit("awaited").set(requestId, { ...awaited, sentAt: turn.now });
    turn.send(turn.membership.writer, { _tag: "Forward", forward });
  }
  turn.arm("forward", FORWARD_AGAIN_MILLIS);
};

export const onOutcome = (turn: Turn, from: PeerId, { requestId, outcome }: MessageOf<"Outcome">): void => {
  const awaited = turn.state.awaited.get(requestId);
  if (awaited === undefined || from !== turn.membership.writer) return;
  const { forward } = awaited;
  if (outcome._tag === "Created" && !isProven(turn, forward, outcome)) return;
  turn.edit("awaited").delete(requestId);
  switch (outcome._tag) {
    case "Created": {
      const approver = approverRow(outcome.certificate.proposal.effects);
      return turn.reply(requestId, { _tag: "Registered", created: true, approver });
    }
    case "Existing": {
      const approver = turn.context.view.get("approvers", outcome.ref);
      if (approver !== undefined && approver.ref === refOf(turn, forward))
        return turn.reply(requestId, { _tag: "Registered", created: false, approver });
      const refusal = busy("The writer named an approver that is not stored here.", undefined, true);
      return turn.reply(requestId, { _tag: "Rejected", rejection: refusal });
    }
    case "Rejected":
      return turn.reply(requestId, { _tag: "Rejected", rejection: outcome.rejection });
  }
};

const refOf = (turn: Turn, forward: Forward): string | undefined => {
  const registration = registrationOf(turn.context, forward.call);
  return Either.isRight(registration) ? registration.right.ref : undefined;
};

/** Whether a claimed creation is the one that was asked for, certified and acknowledged by every member. */
const isProven = (
  turn: Turn,
  forward: Forward,
  { certificate, acks }: Extract<MessageOf<"Outcome">["outcome"], { readonly _tag: "Created" }>,
): boolean => {
  const { crypto } = turn.context;
  const { membership } = turn;
  const { proposal } = certificate;
  const id = proposalId(crypto, proposal);
  return (
    proposal.effects.ref === refOf(turn, forward) &&
    isComplete(crypto, membership, id, certificate) &&
    acks.length === membership.peerIds.length &&
    membership.peerIds.every((peerId, index) => {
      const ack = acks[index];
      return (
        ack !== undefined &&
        signerOf(ack) === peerId &&
        ack.statement.kind === "COMMIT_ACK" &&
        ack.statement.proposalId === id &&
        ack.header.incarnation === turn.recordedIncarnation(peerId) &&
        isAuthentic(crypto, membership, ack)
      );
    })
  );
};

/** Nobody waits longer than promised: whoever is still open is told that the outcome is not known. */
export const onAnswersTimer = (turn: Turn): void => {
  if (turn.state.membership === undefined) return;
  const deadline = turn.now - answerAfter(turn);
  const open: Array<number> = [];
  const isDue = (arrivedAt: number): boolean => {
    if (arrivedAt > deadline) open.push(arrivedAt);
    return arrivedAt <= deadline;
  };
  const waiting = turn.state.queue.filter((queued) => {
    if (!isDue(queued.arrivedAt)) return true;
    answerRejected(
      turn,
      queued,
      busy("The request waited for its turn too long; nothing was reserved.", queued.registration.ref),
    );
    return false;
  });
  turn.state.queue = waiting;
  for (const round of turn.state.rounds.values()) {
    const late = round.callers.filter((caller) => isDue(caller.arrivedAt));
    if (late.length === 0) continue;
    const ref = turn.state.preparations.get(round.id)?.proposal.effects.ref ?? round.certificate?.proposal.effects.ref;
    for (const caller of late)
      answerRejected(
        turn,
        caller,
        busy("Not every member has confirmed in time; the outcome is not known yet.", ref, true),
      );
    // The round itself goes on: with evidence the writer can still ask for receipts.
    turn.edit("rounds").set(round.id, { ...round, callers: round.callers.filter((caller) => !late.includes(caller)) });
  }
  for (const [requestId, { forward }] of turn.state.awaited) {
    if (!isDue(forward.receivedAt)) continue;
    turn.edit("awaited").delete(requestId);
    const refusal = busy(
      "The writer has not answered in time; the outcome is not known yet.",
      refOf(turn, forward),
      true,
    );
    turn.reply(requestId, { _tag: "Rejected", rejection: refusal });
  }
  if (open.length > 0) turn.arm("answers", Math.max(1, Math.min(...open) - deadline));
};
