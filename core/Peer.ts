/**
 * The one entry point of the protocol: an event goes in, a step comes out. Nothing here waits, reads a clock or touches
 * a disk; the driver does what the step says.
 */
import { absurd } from "effect";
import type { ActorCheck } from "./auth/ActorCheck.ts";
import { type Event, isModuleTimer, type ModuleTimer, type StepContext } from "./protocol/Event.ts";
import type { PeerState } from "./protocol/PeerState.ts";
import { isOfModule, type Message, type ModuleMessage, type ProtocolMessage, type Ready } from "./protocol/Message.ts";
import type { PeerId } from "./protocol/Topology.ts";
import { auditOperators } from "./protocol/Audit.ts";
import { onAbortRequest } from "./protocol/Abort.ts";
import { advance, onProposeTimer } from "./protocol/Coordinator.ts";
import { onCommit, onCommitAcks, onDeliverTimer, onPruneTimer } from "./protocol/Delivery.ts";
import {
  forwardNext,
  onAnswersTimer,
  onCommand,
  onForward,
  onForwarded,
  onForwardTimer,
  rejectCommand,
  rejectForward,
} from "./protocol/Entry.ts";
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
import { onRekey, onRotateIntegrity, refuseNewKey } from "./protocol/IntegrityKeys.ts";
import { join, onJoinAnswer } from "./protocol/Joining.ts";
import { assertTransition, isPresent, modeOf } from "./protocol/Mode.ts";
import {
  eventHandling,
  type Handling,
  messageHandling,
  type ProtocolTimer,
  timerHandling,
} from "./protocol/ModeTable.ts";
import { onPrepare } from "./protocol/Participant.ts";
import { noteHeard, onCheckReadiness, onProbeTimer, onReady, onReadyProbe, onUnread } from "./protocol/Readiness.ts";
import { onDeclareRestore, onMemberAnswer, onRecoverTimer, raiseIfSuperseded } from "./protocol/Recovery.ts";
import { quarantineIfBehind, quarantineIfRestoredSince } from "./protocol/Rollback.ts";
import { onSnapshotRequest } from "./protocol/SnapshotHelper.ts";
import { onResolveTimer, onSettleAnswer, onSettleQuery } from "./protocol/Settlement.ts";
import { onSnapshotOffer, recover } from "./protocol/TakingOver.ts";
import { isOfPromotion } from "./protocol/PromotionMessages.ts";
import { onPromote, refusePromotion } from "./protocol/PromotionRequest.ts";
import { finishPromotion } from "./protocol/PromotionSource.ts";
import { noteVersions } from "./protocol/Versions.ts";
import { onVotes } from "./protocol/Votes.ts";
import { onIntegrityLost, onSealed, onUnsealed, onVerifying } from "./protocol/Seal.ts";
import type { StepResult } from "./Action.ts";
import { Step } from "./protocol/Step.ts";

/** Decides what one event means. Pure: the same state, event and context give the same step. */
export const takeStep = (state: PeerState, event: Event, context: StepContext): StepResult => {
  const step = new Step(state, context);
  dispatch(step, event);
  const decided = step.finish(goOn);
  assertTransition(modeOf(state), modeOf(decided.state));
  // Modules write, send and answer values of their own types, which belong to the tables and unions at this root.
  return decided as StepResult;
};

/** Continues whatever waits here and can go on by now. */
const goOn = (step: Step): void => {
  for (const module of step.context.commands.modules) module.goOn(step);
  advance(step);
  forwardNext(step);
};

const dispatch = (step: Step, event: Event): void => {
  if (event._tag === "Deliver") {
    // What nothing vouches for may be a stranger's, under a member's name.
    if (event.versions !== undefined) noteHeard(step, event.from);
    noteVersions(step, event.from, event.versions);
    deliver(step, event);
    return raiseIfSuperseded(step);
  }
  if (event._tag !== "TimerFired") return operate(step, event, eventHandling[event._tag][step.mode]);
  const { timer } = event;
  step.timers.delete(timer);
  if (isModuleTimer(timer)) moduleTimer(step, timer);
  else if (timerHandling[timer][step.mode] === "runs") fire(step, timer);
};

type Delivered = Extract<Event, { readonly _tag: "Deliver" }>;
type Other = Exclude<Event, { readonly _tag: "Deliver" | "TimerFired" }>;

/** Events from this process's operators, driver and callers. */
const operate = (step: Step, event: Other, handling: Handling): void => {
  if (handling === "drops") return;
  switch (event._tag) {
    case "Initialize":
      return onInitialize(step, event);
    case "Verifying":
      return onVerifying(step);
    case "Unsealed":
      return onUnsealed(step, event.acts);
    case "Sealed":
      return onSealed(step, event.acts);
    case "DeclareRestore":
      return onDeclareRestore(step, event.requestId, event.acts);
    case "RotateIntegrity":
      return handling === "refuses" ? refuseNewKey(step, event.requestId) : onRotateIntegrity(step, event);
    case "Rekey":
      return handling === "refuses" ? refuseNewKey(step, event.requestId) : onRekey(step, event);
    case "Promote":
      return handling === "refuses" ? refusePromotion(step, event.requestId) : onPromote(step, event);
    case "Operated":
      if (handling === "runs") auditOperators(step, event.acts);
      return step.reply(event.requestId, { _tag: "Audited", done: handling === "runs" });
    case "Command":
      return handling === "refuses" ? rejectCommand(step, event) : onCommand(step, event);
    case "CheckReadiness":
      return onCheckReadiness(step, event.requestId);
    case "Unread":
      return onUnread(step, event.from, event.versions);
    case "IntegrityLost":
      return onIntegrityLost(step, event.where);
    default:
      return absurd(event);
  }
};

const fire = (step: Step, timer: ProtocolTimer): void => {
  switch (timer) {
    case "genesis":
      return onGenesisTimer(step);
    case "join":
      return join(step);
    case "probe":
      return onProbeTimer(step);
    case "propose":
      return onProposeTimer(step);
    case "resolve":
      return onResolveTimer(step);
    case "deliver":
      return onDeliverTimer(step);
    case "prune":
      return onPruneTimer(step);
    case "recover":
      return onRecoverTimer(step);
    case "forward":
      return onForwardTimer(step);
    case "answers":
      return onAnswersTimer(step);
    default:
      return absurd(timer);
  }
};

/** Between peers without a common topology only genesis, promotion and probes have a meaning. */
const isFromMember = ({ state }: Step, from: PeerId, message: Message): boolean =>
  state.cluster.membership?.keys.has(from) === true ||
  message._tag === "ReadyProbe" ||
  message._tag.startsWith("Genesis") ||
  isOfPromotion(message);

const deliver = (step: Step, { from, message, actors }: Delivered): void => {
  if (!isFromMember(step, from, message)) return;
  if (isOfModule(message)) return moduleMessage(step, from, message, actors);
  const handling = messageHandling[message._tag][step.mode];
  if (handling !== "drops") handle(step, from, message, actors, handling);
};

const handle = (
  step: Step,
  from: PeerId,
  message: ProtocolMessage,
  actors: Delivered["actors"],
  handling: Handling,
): void => {
  switch (message._tag) {
    case "ReadyProbe":
      return onReadyProbe(step, from, message);
    case "GenesisCard":
      return onGenesisCard(step, from, message);
    case "GenesisVote":
      return onGenesisVote(step, from, message);
    case "GenesisPinned":
      return onGenesisPinned(step, from, message);
    case "GenesisRefused":
      return onGenesisRefused(step, from, message);
    case "Ready":
      return onAnyReady(step, from, message);
    case "Forward":
      return handling === "refuses"
        ? rejectForward(step, from, message.forward)
        : onForward(step, from, message.forward, actors[0] ?? { _tag: "Unavailable" });
    case "Forwarded":
      return onForwarded(step, from, message);
    case "Outcome":
      return onOutcome(step, from, message);
    case "StoredQuery":
      return onStoredQuery(step, from, message);
    case "StoredAnswer":
      return onStoredAnswer(step, from, message);
    case "Prepare":
      return onPrepare(step, from, message, actors);
    case "Votes":
      return onVotes(step, message.statements);
    case "Commit":
      return onCommit(step, from, message);
    case "CommitAcks":
      return onCommitAcks(step, message);
    case "SettleQuery":
      return onSettleQuery(step, from, message);
    case "SettleAnswer":
      return onSettleAnswer(step, from, message);
    case "AbortRequest":
      return onAbortRequest(step, from, message);
    case "SnapshotRequest":
      return onSnapshotRequest(step, from, message);
    case "SnapshotOffer":
      return onSnapshotOffer(step, from, message);
    default:
      return absurd(message);
  }
};

const moduleTimer = (step: Step, timer: ModuleTimer): void => {
  for (const { timers } of step.context.commands.modules) {
    const handler = timers[timer];
    if (handler?.modes.has(step.mode) === true) handler.run(step);
  }
};

const moduleMessage = (step: Step, from: PeerId, message: ModuleMessage, actors: ReadonlyArray<ActorCheck>): void => {
  for (const { messages } of step.context.commands.modules) {
    const handler = messages[message._tag];
    if (handler?.modes.has(step.mode) === true) handler.run(step, from, message, actors);
  }
};

/**
 * A member's answer about itself: its own incarnation is recorded first, before anything rests on it. What it knows of
 * this peer counts whoever of the two asked.
 */
const onAnyReady = (step: Step, from: PeerId, ready: Ready): void => {
  if (isPresent(step.mode)) {
    noteRestored(step, from, ready.restored);
    quarantineIfRestoredSince(step, ready.recorded);
    quarantineIfBehind(step, ready.seen);
  }
  const { mode } = step;
  if (mode === "promoting") {
    onJoinAnswer(step, from, ready);
    return finishPromotion(step);
  }
  if (mode !== "announcing" && mode !== "joining" && mode !== "recovering") return onReady(step, from, ready);
  if (mode !== "recovering") onJoinAnswer(step, from, ready);
  if (mode === "announcing" && step.mode === "recovering") recover(step);
  if (mode !== "joining") onMemberAnswer(step, from, ready);
};
