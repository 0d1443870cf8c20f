/**
 * Before anything is reserved, every member must say that it could take part.
 * The probe fails fast and writes nothing; the votes that follow decide
 * (contract 10.1, protocol.md 3.3).
 */
import { withEntry } from "../base/Copies.ts";
import type { Digest } from "../base/Digest.ts";
import { Limits } from "../base/Limits.ts";
import type { MemberFault } from "../base/Rejection.ts";
import { hasRoomToAbort } from "./AbortPace.ts";
import type { Step } from "./Step.ts";
import type { Message, MessageOf, Ready, Seen } from "./Message.ts";
import type { Probe, Verdict } from "./ProbeState.ts";
import { clockFaults } from "./Clocks.ts";
import { noteRestored } from "./Incarnations.ts";
import { noteFirstHeard } from "./DuplicateSuppression.ts";
import { isPresent, type Mode } from "./Mode.ts";
import { freshNonce, nonceFor } from "./Nonces.ts";
import { quarantineIfBehind, quarantineIfRestoredSince } from "./Rollback.ts";
import { isAuthentic, signerOf } from "./Statement.ts";
import { BEING_VERIFIED, IS_SEALED, NO_CAPACITY, NO_TOKEN_KEYS } from "./Unavailable.ts";
import { type PeerId, signersFor } from "./Topology.ts";
import { noteVersions, versionFault, type Versions } from "./Versions.ts";
import { unwitnessed } from "./Witnesses.ts";

/** How long a member that is known to be there may take to answer. */
const BUSY_MILLIS = 2 * Limits.probeWaitMillis;

const JOINING = "it is joining: not every member has shown it yet that its memory is whole";

/** Said of an instance that is being promoted, from the moment its draft is pinned. */
export const PROMOTED = "it is being promoted: changes go on when every member of its new cluster has the registry";

const RECOVERING = "it is recovering: it was restored and takes the registry from the other members";
const UNFOUNDED = "the cluster is not founded yet";

const faultIn: Readonly<Record<Mode, string | undefined>> = {
  blank: "it is not initialized",
  sealed: IS_SEALED,
  verifying: BEING_VERIFIED,
  founding: UNFOUNDED,
  damaged: "its stored records do not hold",
  quarantined: "it ran from an old disk",
  announcing: RECOVERING,
  recovering: RECOVERING,
  joining: JOINING,
  active: undefined,
  promoting: PROMOTED,
};

/** Why this peer could not take part in a change now: its own reason, or what others have not shown it yet. */
export const notReadyReason = (step: Step): string | undefined =>
  ownReason(step) ?? (step.mode === "active" ? unwitnessed(step) : undefined);

/** The same, whatever others may have to show. */
export const ownReason = (step: Step): string | undefined => {
  const { mode } = step;
  // The registry that moves is the pinned one, whatever the targets say and however long it takes.
  if (mode === "active" && step.state.cluster.promotion.own?.stage === "PINNED") return PROMOTED;
  if (mode === "active" && !step.context.judgesTokens) return NO_TOKEN_KEYS;
  return mode === "damaged" && step.state.cluster.membership === undefined ? UNFOUNDED : faultIn[mode];
};

/** Asks every other member, unless the last answer is fresh or on its way. */
export const probe = (step: Step): void => {
  if (step.state.probing.probe !== undefined) return;
  if (notReadyReason(step) !== undefined || step.others.length === 0) return conclude(step, []);
  const nonce = freshNonce(step, "probe");
  const {
    signed: { seen },
  } = step.state;
  step.draft("probing").probe = { nonce, startedAt: step.elapsed, seen, answers: new Map(), heard: new Set() };
  ask(step, nonce, step.others);
  step.arm("probe", Limits.probeWaitMillis);
};

/** Sends a probe to each of the members. */
export const ask = (step: Step, nonce: Digest, members: Iterable<PeerId>): void => {
  const { configDigest } = step.context.settings;
  const topologyDigest = step.membership.digest;
  for (const peerId of members) {
    const own = nonceFor(step, nonce, peerId);
    const known = step.state.signed.seen.get(peerId);
    step.send(peerId, {
      _tag: "ReadyProbe",
      nonce: own,
      topologyDigest,
      configDigest,
      process: step.state.fitness.process,
      seen: known?.newest,
      restored: step.state.rejoining.restored,
      recorded: known?.restored,
    });
  }
};

/** The answer to a probe; a sealed peer answers too, unsigned, and is believed only to be not ready. */
export const onReadyProbe = (step: Step, from: PeerId, message: MessageOf<"ReadyProbe">): void => {
  const { state, context } = step;
  if (isPresent(step.mode)) {
    noteRestored(step, from, message.restored);
    quarantineIfRestoredSince(step, message.recorded);
    quarantineIfBehind(step, message.seen);
  }
  const known = step.state.signed.seen.get(from);
  const holds = state.fitness.integrityFault === undefined;
  // A statement of this peer that was never flushed may lie in rows that do not hold, and must go to nobody (D5).
  // Whether the rows hold is known from the unseal on, which verifies them all.
  const isSure = holds && state.fitness.unsealed;
  const answer: Message = {
    _tag: "Ready",
    nonce: message.nonce,
    peerId: step.self,
    topologyDigest: state.cluster.membership?.digest,
    configDigest: context.settings.configDigest,
    mode: shownMode(step),
    sealed: !state.fitness.unsealed,
    integrityOk: holds,
    judgesTokens: context.judgesTokens,
    incarnation: state.signed.chain.incarnation,
    batchNo: state.signed.chain.batchNo,
    batchHash: state.signed.chain.hash,
    highSeq: state.undecided.highSeq,
    highSeqProof: isSure ? state.undecided.highProof : undefined,
    uncommitted: state.undecided.preparations.size,
    // Who has no room for another abort votes on nothing.
    refusals: hasRoomToAbort(step) ? state.undecided.refused.size : step.capacities.refusals,
    registryRoot: context.crypto.setDigest(state.registry.set),
    approvers: state.registry.approvers,
    clock: step.now,
    moment: state.fitness.unsealed ? step.moment : undefined,
    seen: known?.newest,
    restored: isSure ? state.rejoining.restored : undefined,
    recorded: known?.restored,
  };
  step.send(from, answer);
  hearAgain(step, from, message.process);
};

/**
 * A peer whose message could not be read is told what is spoken here, if it can read that, or has not been told. Two
 * peers without a common version stop there.
 */
export const onUnread = (step: Step, from: PeerId, versions: Versions): void => {
  const isNew = noteVersions(step, from, versions);
  if (step.state.cluster.membership?.keys.has(from) !== true) return;
  const fault = versionFaultOf(step, from);
  if (isNew || fault === undefined) ask(step, freshNonce(step, "versions"), [from]);
  const { probe: running } = step.state.probing;
  if (running !== undefined && fault !== undefined) conclude(step, faults(step, running, false));
};

/**
 * Until a restarted member has answered this process, its requests count as duplicates, so the writer asks it at once.
 * Replaying an old probe has everybody asked once more, and nothing else.
 */
const hearAgain = (step: Step, from: PeerId, process: Digest | undefined): void => {
  if (
    process === undefined ||
    step.state.cluster.membership === undefined ||
    !step.isWriter ||
    !step.others.includes(from)
  )
    return;
  if (step.state.requests.forgottenUntil.get(from)?.process === process || notReadyReason(step) !== undefined) return;
  step.draft("probing").verdict = undefined;
  probe(step);
};

const versionFaultOf = (step: Step, peerId: PeerId): string | undefined =>
  versionFault(step.context.commands.versions, step.state.cluster.spoken.get(peerId));

/** What this peer lacks itself, and the members it cannot speak with, which may be why. */
const ownFaults = (step: Step, reason: string): ReadonlyArray<MemberFault> => [
  { peerId: step.state.cluster.peer?.peerId ?? 0, reason },
  ...[...step.state.cluster.spoken.keys()].flatMap((peerId) => {
    const fault = versionFaultOf(step, peerId);
    return fault === undefined ? [] : [{ peerId, reason: fault }];
  }),
];

/** The mode that others are shown: until all have its new incarnation on record, its old one may still count. */
const shownMode = ({ mode }: Step): Ready["mode"] => (mode === "announcing" ? "joining" : mode);

/** Why a member that answered could not take part, whatever its clock shows, or undefined. */
const faultOf = (step: Step, ready: Ready, { seen }: Probe): string | undefined => {
  if (ready.sealed) return ready.mode === "verifying" ? BEING_VERIFIED : IS_SEALED;
  if (ready.topologyDigest === undefined) return "it has not founded the cluster yet";
  if (ready.topologyDigest !== step.membership.digest) return "it belongs to another topology";
  if (ready.configDigest !== step.context.settings.configDigest) return "its cluster configuration differs";
  if (!ready.integrityOk) return "its stored records do not hold";
  if (ready.mode !== "active") return `it is ${ready.mode}`;
  if (!ready.judgesTokens) return NO_TOKEN_KEYS;
  if (isBehind(ready, seen.get(ready.peerId))) return "it ran from an old disk";
  // Answers from before its restore, and late ones.
  if (ready.incarnation < step.recordedIncarnation(ready.peerId)) return "it was restored meanwhile";
  if (ready.uncommitted >= step.capacities.preparations) return NO_CAPACITY;
  if (ready.refusals >= step.capacities.refusals) return "it holds as many refusals as it may";
  return undefined;
};

/** A member that says anything is there, however long its answer to a probe takes; so is the writer. */
export const noteHeard = (step: Step, from: PeerId): void => {
  const {
    probing: { probe: running },
    cluster: { membership },
  } = step.state;
  if (membership === undefined || !membership.keys.has(from)) return;
  if (from === membership.writer) step.draft("probing").writerHeardAt = step.elapsed;
  if (running === undefined || running.heard.has(from) || running.answers.has(from)) return;
  step.draft("probing").probe = { ...running, heard: new Set([...running.heard, from]) };
};

export const onReady = (step: Step, from: PeerId, ready: Ready): void => {
  const {
    probing: { probe: running },
  } = step.state;
  if (ready.peerId !== from || !step.others.includes(from)) return;
  if (running === undefined) return;
  if (ready.nonce !== nonceFor(step, running.nonce, from) || running.answers.has(from)) return;
  // A sealed member cannot sign that it is there, but only who was asked knows what it was asked with.
  noteHeard(step, from);
  if (!ready.sealed) noteFirstHeard(step, from, ready.moment);
  detectRollback(step, ready);
  const answered = { ...running, answers: withEntry(running.answers, from, { ready, answeredAt: step.elapsed }) };
  step.draft("probing").probe = answered;
  // One member that is not ready decides the matter; there is no reason to wait for the others.
  const fault = faultOf(step, ready, running);
  if (fault !== undefined || notReadyReason(step) !== undefined) return conclude(step, faults(step, answered, false));
  // Wrong clocks are found when all are known.
  if (answered.answers.size === step.others.length) conclude(step, wrongClocks(step, answered));
};

/** Members whose clocks are off, judged by those that are ready. */
const wrongClocks = (step: Step, running: Probe): ReadonlyArray<MemberFault> => {
  // If this peer's own clock has jumped meanwhile, all are compared with its present reading.
  const ahead = step.now - step.elapsed;
  const from = ahead + running.startedAt;
  return clockFaults(
    step.self,
    [...running.answers].flatMap(([peerId, { ready, answeredAt }]) =>
      faultOf(step, ready, running) === undefined ? [{ peerId, clock: ready.clock, from, to: ahead + answeredAt }] : [],
    ),
  );
};

/** Whether a member claims less of itself than this peer had seen before it asked: then it has lost something. */
const isBehind = ({ incarnation, batchNo }: Ready, known: Seen | undefined): boolean =>
  known?.newest !== undefined && incarnation === known.incarnation && batchNo < known.newest.header.batchNo;

/**
 * A writer on an old disk learns it from its own signature: it signed that slot
 * and does not remember, so it must sign nothing more (S6, S22).
 */
const detectRollback = (step: Step, ready: Ready): void => {
  const proof = ready.highSeqProof;
  if (!step.isWriter || proof === undefined || ready.highSeq <= step.state.undecided.highSeq) return;
  if (signerOf(proof) !== step.self || proof.statement.seq !== ready.highSeq) return;
  if (proof.header.incarnation !== step.state.signed.chain.incarnation) return;
  const members = signersFor(step.membership, proof.statement);
  if (members !== undefined && isAuthentic(step.context.crypto, members, proof))
    step.quarantine(`a receipt of batch ${proof.header.batchNo} is not in this peer's chain`);
};

/** Every member in the way so far; members that have not answered count only when time is up. */
const faults = (step: Step, running: Probe, timeIsUp: boolean): ReadonlyArray<MemberFault> =>
  step.others.flatMap((peerId) => {
    const ready = running.answers.get(peerId)?.ready;
    const silence = running.heard.has(peerId) ? "it is there and answers too slowly" : "it does not answer";
    const why = versionFaultOf(step, peerId) ?? (timeIsUp ? silence : undefined);
    const reason = ready === undefined ? why : faultOf(step, ready, running);
    return reason === undefined ? [] : [{ peerId, reason }];
  });

export const onProbeTimer = (step: Step): void => {
  const {
    probing: { probe: running },
  } = step.state;
  if (running === undefined) return;
  const silent = step.others.filter((peerId) => !running.answers.has(peerId));
  // A member that is there and busy gets more time; one that says nothing at all is not waited for.
  const isBusy = silent.every((peerId) => running.heard.has(peerId));
  const patience = isBusy ? BUSY_MILLIS : Limits.probeWaitMillis;
  const left = running.startedAt + patience - step.elapsed;
  if (left > 0) {
    // The timer may belong to an earlier probe that was answered in time.
    if (isBusy && left <= BUSY_MILLIS - Limits.probeWaitMillis) ask(step, running.nonce, silent);
    return step.arm("probe", Math.min(left, Limits.probeWaitMillis));
  }
  conclude(step, [...faults(step, running, true), ...wrongClocks(step, running)]);
};

const conclude = (step: Step, found: ReadonlyArray<MemberFault>): void => {
  const own = notReadyReason(step);
  const all = own === undefined ? found : ownFaults(step, own);
  step.draft("probing").verdict = {
    probedAt: step.state.probing.probe?.startedAt ?? step.elapsed,
    concludedAt: step.elapsed,
    wallAhead: step.now - step.elapsed,
    faults: all,
  };
  step.draft("probing").probe = undefined;
  for (const requestId of step.state.probing.readinessWaiters)
    step.reply(requestId, { _tag: "Readiness", faults: all });
  step.draft("probing").readinessWaiters = [];
};

/** Answers whether a change would be accepted now, from a probe of its own if none is fresh. */
export const onCheckReadiness = (step: Step, requestId: string): void => {
  const answer = (faults: ReadonlyArray<MemberFault>): void => step.reply(requestId, { _tag: "Readiness", faults });
  const own = notReadyReason(step);
  const peerId = step.state.cluster.peer?.peerId ?? 0;
  if (own !== undefined) return answer(ownFaults(step, own));
  const verdict = freshVerdict(step);
  if (verdict !== undefined) return answer(verdict.faults);
  if (step.state.probing.readinessWaiters.length >= step.capacities.readinessWaiters)
    return answer([{ peerId, reason: "it is asked too often" }]);
  step.draft("probing").readinessWaiters = [...step.state.probing.readinessWaiters, requestId];
  probe(step);
};

/** Whether all members are ready, for requests that wait for it now; undefined while they are being asked. */
export const currentVerdict = (step: Step): Verdict | undefined => {
  const verdict = freshVerdict(step);
  // A bad verdict serves the requests it was asked for; the next one deserves a new probe.
  if (verdict !== undefined && (verdict.faults.length === 0 || verdict.concludedAt === step.elapsed)) return verdict;
  step.draft("probing").verdict = undefined;
  probe(step);
  return step.state.probing.verdict;
};

/** Asks the members again, unless their readiness was found just now; returns whether it was. */
export const askAnewUnlessJustFound = (step: Step): boolean => {
  if (step.others.length === 0 || step.state.probing.verdict?.concludedAt === step.elapsed) return true;
  step.draft("probing").verdict = undefined;
  probe(step);
  return false;
};

/** The last result, if the answers of all members are young enough to act on. */
const freshVerdict = (step: Step): Verdict | undefined => {
  const {
    probing: { verdict },
  } = step.state;
  if (verdict === undefined || notReadyReason(step) !== undefined) return undefined;
  const isYoung = step.elapsed - verdict.probedAt <= Limits.probeAgeMillis || verdict.concludedAt === step.elapsed;
  const wasSet = Math.abs(step.now - step.elapsed - verdict.wallAhead) > Limits.clockSkewMillis;
  return isYoung && !wasSet ? verdict : undefined;
};
