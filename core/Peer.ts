/**
 * The one door into the protocol: an event goes in, a step comes out. Nothing
 * here waits, reads a clock or touches a disk; the driver does what the step says.
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
  refuseCommand,
  refuseForward,
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
import { onDeclareRestore, onMemberAnswer, onRecoverTimer, raiseIfOutbid } from "./protocol/Recovery.ts";
import { onSnapshotRequest } from "./protocol/SnapshotHelper.ts";
import { onResolveTimer, onSettleAnswer, onSettleQuery } from "./protocol/Settlement.ts";
import { onSnapshotOffer, recover } from "./protocol/TakingOver.ts";
import { noteVersions } from "./protocol/Versions.ts";
import { onVotes } from "./protocol/Votes.ts";
import { onIntegrityLost, onSealed, onUnsealed, onVerifying } from "./protocol/Seal.ts";
import type { Step } from "./Action.ts";
import { Turn } from "./protocol/Turn.ts";

/** Decides what one event means. Pure: the same state, event and context give the same step. */
export const step = (state: PeerState, event: Event, context: StepContext): Step => {
  const turn = new Turn(state, context);
  dispatch(turn, event);
  const decided = turn.finish(goOn);
  assertTransition(modeOf(state), modeOf(decided.state));
  // What modules write, send and answer is of their own types, which are those of the tables and unions at this root.
  return decided as Step;
};

/** What waits here and may be able to go on by now. */
const goOn = (turn: Turn): void => {
  for (const module of turn.context.commands.modules) module.goOn(turn);
  advance(turn);
  forwardNext(turn);
};

const dispatch = (turn: Turn, event: Event): void => {
  if (event._tag === "Deliver") {
    noteHeard(turn, event.from);
    noteVersions(turn, event.from, event.versions);
    deliver(turn, event);
    return raiseIfOutbid(turn);
  }
  if (event._tag !== "TimerFired") return operate(turn, event, eventHandling[event._tag][turn.mode]);
  const { timer } = event;
  turn.timers.delete(timer);
  if (isModuleTimer(timer)) moduleTimer(turn, timer);
  else if (timerHandling[timer][turn.mode] === "runs") fire(turn, timer);
};

type Delivery = Extract<Event, { readonly _tag: "Deliver" }>;
type Other = Exclude<Event, { readonly _tag: "Deliver" | "TimerFired" }>;

/** What this process was told by its operators, its driver and its callers. */
const operate = (turn: Turn, event: Other, handling: Handling): void => {
  if (handling === "drops") return;
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
      return handling === "refuses" ? refuseNewKey(turn, event.requestId) : onRotateIntegrity(turn, event);
    case "Rekey":
      return handling === "refuses" ? refuseNewKey(turn, event.requestId) : onRekey(turn, event);
    case "Operated":
      if (handling === "runs") auditOperators(turn, event.acts);
      return turn.reply(event.requestId, { _tag: "Audited", done: handling === "runs" });
    case "Command":
      return handling === "refuses" ? refuseCommand(turn, event.requestId) : onCommand(turn, event);
    case "CheckReadiness":
      return onCheckReadiness(turn, event.requestId);
    case "Unread":
      return onUnread(turn, event.from, event.versions);
    case "IntegrityLost":
      return onIntegrityLost(turn, event.where);
    default:
      return absurd(event);
  }
};

const fire = (turn: Turn, timer: ProtocolTimer): void => {
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
    default:
      return absurd(timer);
  }
};

/** Before a topology is pinned only genesis and probes have a meaning. */
const isFromMember = ({ state }: Turn, from: PeerId, { _tag }: Message): boolean =>
  state.cluster.membership?.keys.has(from) === true || _tag === "ReadyProbe" || _tag.startsWith("Genesis");

const deliver = (turn: Turn, { from, message, actors }: Delivery): void => {
  if (!isFromMember(turn, from, message)) return;
  if (isOfModule(message)) return moduleMessage(turn, from, message, actors);
  const handling = messageHandling[message._tag][turn.mode];
  if (handling !== "drops") handle(turn, from, message, actors, handling);
};

const handle = (
  turn: Turn,
  from: PeerId,
  message: ProtocolMessage,
  actors: Delivery["actors"],
  handling: Handling,
): void => {
  switch (message._tag) {
    case "ReadyProbe":
      return onReadyProbe(turn, from, message);
    case "GenesisCard":
      return onGenesisCard(turn, from, message);
    case "GenesisVote":
      return onGenesisVote(turn, from, message);
    case "GenesisPinned":
      return onGenesisPinned(turn, from, message);
    case "GenesisRefused":
      return onGenesisRefused(turn, from, message);
    case "Ready":
      return onAnyReady(turn, from, message);
    case "Forward":
      return handling === "refuses"
        ? refuseForward(turn, from, message.forward)
        : onForward(turn, from, message.forward, actors[0] ?? { _tag: "Unavailable" });
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
    default:
      return absurd(message);
  }
};

const moduleTimer = (turn: Turn, timer: ModuleTimer): void => {
  for (const { timers } of turn.context.commands.modules) {
    const handler = timers[timer];
    if (handler?.modes.has(turn.mode) === true) handler.run(turn);
  }
};

const moduleMessage = (turn: Turn, from: PeerId, message: ModuleMessage, actors: ReadonlyArray<ActorCheck>): void => {
  for (const { messages } of turn.context.commands.modules) {
    const handler = messages[message._tag];
    if (handler?.modes.has(turn.mode) === true) handler.run(turn, from, message, actors);
  }
};

/** What a member says of itself: of its own life first, before anything rests on it. */
const onAnyReady = (turn: Turn, from: PeerId, ready: Ready): void => {
  const { mode } = turn;
  if (isPresent(mode)) noteRestored(turn, from, ready.restored);
  if (mode !== "announcing" && mode !== "joining" && mode !== "recovering") return onReady(turn, from, ready);
  if (mode !== "recovering") onJoinAnswer(turn, from, ready);
  if (mode === "announcing" && turn.mode === "recovering") recover(turn);
  if (mode !== "joining") onMemberAnswer(turn, from, ready);
};
