/**
 * The one door into the protocol: an event goes in, a step comes out. Nothing
 * here waits, reads a clock or touches a disk; the driver does what the step says.
 */
import type { Event, StepContext, TimerName } from "./Event.ts";
import type { PeerState } from "./PeerState.ts";
import type { Ready } from "./protocol/Message.ts";
import type { PeerId } from "./protocol/Topology.ts";
import { auditOperators } from "./protocol/Audit.ts";
import { onAbortRequest } from "./protocol/Abort.ts";
import { onSessionMirror } from "./enrollment/SessionMember.ts";
import { onMirrorTimer, onSessionVotes, openSessions } from "./enrollment/SessionWriter.ts";
import { advance, onProposeTimer } from "./protocol/Coordinator.ts";
import { onCommit, onCommitAcks, onDeliverTimer, onPruneTimer } from "./protocol/Delivery.ts";
import { forwardNext, onAnswersTimer, onCommand, onForward, onForwarded, onForwardTimer } from "./protocol/Entry.ts";
import { onOutcome } from "./protocol/Outcome.ts";
import { onStoredAnswer, onStoredQuery } from "./protocol/Stored.ts";
import {
  onGenesisCard,
  onGenesisPinned,
  onGenesisRefused,
  onGenesisTimer,
  onGenesisVote,
  onInitialize,
} from "./protocol/Genesis.ts";
import { noteRestored } from "./protocol/Incarnations.ts";
import { onRekey, onRotateIntegrity } from "./protocol/IntegrityKeys.ts";
import { join, onJoinAnswer } from "./protocol/Joining.ts";
import { onPrepare } from "./protocol/Participant.ts";
import { noteHeard, onCheckReadiness, onProbeTimer, onReady, onReadyProbe, ownFault } from "./protocol/Readiness.ts";
import {
  onDeclareRestore,
  onMemberAnswer,
  onRecoverTimer,
  onSnapshotOffer,
  raiseIfOutbid,
  recover,
} from "./protocol/Recovery.ts";
import { onSnapshotRequest } from "./protocol/SnapshotHelper.ts";
import { onResolveTimer, onSettleAnswer, onSettleQuery } from "./protocol/Settlement.ts";
import { onVotes } from "./protocol/Votes.ts";
import { onIntegrityLost, onSealed, onUnsealed, onVerifying } from "./protocol/Seal.ts";
import { type Step, Turn } from "./Turn.ts";

/** Decides what one event means. Pure: the same state, event and context give the same step. */
export const step = (state: PeerState, event: Event, context: StepContext): Step => {
  const turn = new Turn(state, context);
  dispatch(turn, event);
  return turn.finish(goOn);
};

/** What waits here and may be able to go on by now. */
const goOn = (turn: Turn): void => {
  openSessions(turn);
  advance(turn);
  forwardNext(turn);
};

const dispatch = (turn: Turn, event: Event): void => {
  switch (event._tag) {
    case "Initialize":
      return onInitialize(turn, event);
    case "Verifying":
      return onVerifying(turn);
    case "Unsealed":
      return onUnsealed(turn, event.acts);
    case "Sealed":
      return onSealed(turn, event.acts);
    case "DeclareRestore":
      return onDeclareRestore(turn, event.requestId, event.acts);
    case "RotateIntegrity":
      return onRotateIntegrity(turn, event);
    case "Rekey":
      return onRekey(turn, event);
    case "Operated":
      return turn.reply(event.requestId, { _tag: "Audited", done: auditOperators(turn, event.acts) });
    case "Command":
      return onCommand(turn, event);
    case "CheckReadiness":
      return onCheckReadiness(turn, event.requestId);
    case "Deliver":
      deliver(turn, event);
      return raiseIfOutbid(turn);
    case "TimerFired":
      turn.edit("timers").delete(event.timer);
      return fire(turn, event.timer);
    case "IntegrityLost":
      return onIntegrityLost(turn, event.where);
  }
};

const fire = (turn: Turn, timer: TimerName): void => {
  switch (timer) {
    case "genesis":
      return onGenesisTimer(turn);
    case "join":
      return join(turn);
    case "probe":
      return onProbeTimer(turn);
    case "propose":
      return onProposeTimer(turn);
    case "resolve":
      return onResolveTimer(turn);
    case "deliver":
      return onDeliverTimer(turn);
    case "prune":
      return onPruneTimer(turn);
    case "recover":
      return onRecoverTimer(turn);
    case "forward":
      return onForwardTimer(turn);
    case "answers":
      return onAnswersTimer(turn);
    case "mirror":
      return onMirrorTimer(turn);
  }
};

/** Before a topology is pinned only genesis and probes have a meaning. */
const deliver = (turn: Turn, { from, message, actors }: Extract<Event, { readonly _tag: "Deliver" }>): void => {
  noteHeard(turn, from);
  switch (message._tag) {
    case "ReadyProbe":
      return onReadyProbe(turn, from, message);
    case "GenesisCard":
      return turn.state.unsealed ? onGenesisCard(turn, from, message) : undefined;
    case "GenesisVote":
      return turn.state.unsealed ? onGenesisVote(turn, from, message) : undefined;
    case "GenesisPinned":
      return turn.state.unsealed ? onGenesisPinned(turn, from, message) : undefined;
    case "GenesisRefused":
      return onGenesisRefused(turn, from, message);
  }
  if (turn.state.membership === undefined || !turn.membership.keys.has(from)) return;
  switch (message._tag) {
    case "Ready":
      return onAnyReady(turn, from, message);
    case "Forward":
      return onForward(turn, from, message.forward, actors[0] ?? { _tag: "Unavailable" });
    case "Forwarded":
      return onForwarded(turn, from, message);
    case "Outcome":
      return onOutcome(turn, from, message);
    case "StoredQuery":
      return onStoredQuery(turn, from, message);
    case "StoredAnswer":
      return onStoredAnswer(turn, from, message);
    case "Prepare":
      return onPrepare(turn, from, message, actors);
    case "Votes":
      return onVotes(turn, message.statements);
    case "Commit":
      return onCommit(turn, from, message);
    case "CommitAcks":
      return onCommitAcks(turn, message);
    case "SettleQuery":
      return onSettleQuery(turn, from, message);
    case "SettleAnswer":
      return onSettleAnswer(turn, from, message);
    case "AbortRequest":
      return onAbortRequest(turn, from, message);
    case "SnapshotRequest":
      return onSnapshotRequest(turn, from, message);
    case "SnapshotOffer":
      return onSnapshotOffer(turn, from, message);
    case "SessionMirror":
      return onSessionMirror(turn, from, message, actors);
    case "SessionVotes":
      return onSessionVotes(turn, from, message);
  }
};

/** What a member says of itself: of its own life first, before anything rests on it. */
const onAnyReady = (turn: Turn, from: PeerId, ready: Ready): void => {
  if (ownFault(turn) === undefined) noteRestored(turn, from, ready.restored);
  const wasJoining = turn.isJoining;
  if (wasJoining) {
    onJoinAnswer(turn, from, ready);
    if (!turn.isJoining) recover(turn);
  }
  if (turn.state.recovery !== undefined) return onMemberAnswer(turn, from, ready);
  if (!wasJoining) onReady(turn, from, ready);
};
