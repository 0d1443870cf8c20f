/**
 * Before anything is reserved, every member must say that it could take part.
 * The probe fails fast and writes nothing; the votes that follow decide
 * (contract 10.1, protocol.md 3.3).
 */
import { digest, pair, uint } from "../codec/Codec.ts";
import { withEntry } from "../base/Copies.ts";
import type { Digest } from "../base/Digest.ts";
import { Limits } from "../base/Limits.ts";
import type { MemberFault } from "../base/Rejection.ts";
import type { Turn } from "./Turn.ts";
import type { Message, MessageOf, Ready, Seen } from "./Message.ts";
import type { Probe, Verdict } from "./ProbeState.ts";
import { clockFaults } from "./Clocks.ts";
import { noteRestored } from "./Incarnations.ts";
import { noteFirstHeard } from "./LateCopy.ts";
import { isPresent, type Mode } from "./Mode.ts";
import { quarantineIfBehind, quarantineIfRestoredSince } from "./Rollback.ts";
import { isAuthentic, signerOf } from "./Statement.ts";
import { BEING_VERIFIED, NO_CAPACITY, NO_TOKEN_KEYS } from "./Unavailable.ts";
import type { PeerId } from "./Topology.ts";
import { noteVersions, versionFault, type Versions } from "./Versions.ts";

const PROBE_TAG = "CUSTODY_PROBE_V1";
const nonceCodec = pair(digest, uint);

/** How long a member that is there may take for its answer. */
const BUSY_MILLIS = 2 * Limits.probeWaitMillis;

const JOINING = "it is joining: not every member has shown it yet that its memory is whole";

const RECOVERING = "it is recovering: it was restored and takes the registry from the other members";
const UNFOUNDED = "the cluster is not founded yet";

const faultIn: Readonly<Record<Mode, string | undefined>> = {
  blank: "it is not initialized",
  sealed: "it is sealed",
  verifying: BEING_VERIFIED,
  founding: UNFOUNDED,
  damaged: "its stored records do not hold",
  quarantined: "it ran from an old disk",
  announcing: RECOVERING,
  recovering: RECOVERING,
  joining: JOINING,
  active: undefined,
};

/** Why this peer could not take part in a change now: what it lacks itself, or what the others have not shown it yet. */
export const unreadiness = (turn: Turn): string | undefined => {
  const { mode } = turn;
  if (mode === "active" && !turn.context.judgesTokens) return NO_TOKEN_KEYS;
  return mode === "damaged" && turn.state.cluster.membership === undefined ? UNFOUNDED : faultIn[mode];
};

/** Each member gets a nonce of its own, so that none can answer in the name of another. */
export const nonceFor = (turn: Turn, nonce: Digest, peerId: PeerId): Digest =>
  turn.context.crypto.digest(PROBE_TAG, nonceCodec, [nonce, peerId]);

/** Asks every other member, unless the last answer is fresh or on its way. */
export const probe = (turn: Turn): void => {
  if (turn.state.probing.probe !== undefined) return;
  if (unreadiness(turn) !== undefined || turn.others.length === 0) return conclude(turn, []);
  const nonce = turn.context.entropy;
  const {
    signed: { seen },
  } = turn.state;
  turn.draft("probing").probe = { nonce, startedAt: turn.elapsed, seen, answers: new Map(), heard: new Set() };
  ask(turn, nonce, turn.others);
  turn.arm("probe", Limits.probeWaitMillis);
};

/** Sends a probe to each of the members. */
export const ask = (turn: Turn, nonce: Digest, members: Iterable<PeerId>): void => {
  const { configDigest } = turn.context.settings;
  const topologyDigest = turn.membership.digest;
  for (const peerId of members) {
    const own = nonceFor(turn, nonce, peerId);
    const known = turn.state.signed.seen.get(peerId);
    turn.send(peerId, {
      _tag: "ReadyProbe",
      nonce: own,
      topologyDigest,
      configDigest,
      process: turn.state.standing.process,
      seen: known?.newest,
      restored: turn.state.rejoining.restored,
      recorded: known?.restored,
    });
  }
};

/** The answer to a probe; a sealed peer answers too, unsigned, and is only ever believed to be unready. */
export const onReadyProbe = (turn: Turn, from: PeerId, message: MessageOf<"ReadyProbe">): void => {
  const { state, context } = turn;
  if (isPresent(turn.mode)) {
    noteRestored(turn, from, message.restored);
    quarantineIfRestoredSince(turn, message.recorded);
    quarantineIfBehind(turn, message.seen);
  }
  const known = turn.state.signed.seen.get(from);
  const holds = state.standing.integrityFault === undefined;
  // What this peer signed itself and never flushed may lie in rows that do not hold, and goes to nobody (D5). Whether
  // they hold is known from the unseal on, which adds them up.
  const isSure = holds && state.standing.unsealed;
  const answer: Message = {
    _tag: "Ready",
    nonce: message.nonce,
    peerId: turn.self,
    topologyDigest: state.cluster.membership?.digest,
    configDigest: context.settings.configDigest,
    mode: shownMode(turn),
    sealed: !state.standing.unsealed,
    integrityOk: holds,
    judgesTokens: context.judgesTokens,
    incarnation: state.signed.chain.incarnation,
    batchNo: state.signed.chain.batchNo,
    batchHash: state.signed.chain.hash,
    highSeq: state.undecided.highSeq,
    highSeqProof: isSure ? state.undecided.highProof : undefined,
    uncommitted: state.undecided.preparations.size,
    refusals: state.undecided.refused.size,
    registryRoot: context.crypto.setDigest(state.registry.set),
    approvers: state.registry.approvers,
    clock: turn.now,
    moment: state.standing.unsealed ? turn.moment : undefined,
    seen: known?.newest,
    restored: isSure ? state.rejoining.restored : undefined,
    recorded: known?.restored,
  };
  turn.send(from, answer);
  hearAgain(turn, from, message.process);
};

/**
 * A peer that could not be understood is told what is spoken here, if it will understand that, or has not been told.
 * Two that have nothing in common stop there.
 */
export const onUnread = (turn: Turn, from: PeerId, versions: Versions): void => {
  const isNew = noteVersions(turn, from, versions);
  if (turn.state.cluster.membership?.keys.has(from) !== true) return;
  const fault = versionFaultOf(turn, from);
  if (isNew || fault === undefined) ask(turn, turn.context.entropy, [from]);
  const { probe: running } = turn.state.probing;
  if (running !== undefined && fault !== undefined) conclude(turn, faults(turn, running, false));
};

/**
 * A member that was started again has its requests taken for late copies until it has answered this process, so the
 * writer asks at once. Who plays an old probe again has everybody asked once more, and nothing else.
 */
const hearAgain = (turn: Turn, from: PeerId, process: Digest | undefined): void => {
  if (
    process === undefined ||
    turn.state.cluster.membership === undefined ||
    !turn.isWriter ||
    !turn.others.includes(from)
  )
    return;
  if (turn.state.requests.forgottenUntil.get(from)?.process === process || unreadiness(turn) !== undefined) return;
  turn.draft("probing").verdict = undefined;
  probe(turn);
};

const versionFaultOf = (turn: Turn, peerId: PeerId): string | undefined =>
  versionFault(turn.context.commands.versions, turn.state.cluster.spoken.get(peerId));

/** What this peer lacks itself, and who cannot be spoken with, which may be why. */
const ownFaults = (turn: Turn, reason: string): ReadonlyArray<MemberFault> => [
  { peerId: turn.state.cluster.peer?.peerId ?? 0, reason },
  ...[...turn.state.cluster.spoken.keys()].flatMap((peerId) => {
    const fault = versionFaultOf(turn, peerId);
    return fault === undefined ? [] : [{ peerId, reason: fault }];
  }),
];

/** What it calls itself: until all others have its new incarnation on record, its old one may still count somewhere. */
const shownMode = ({ mode }: Turn): Ready["mode"] => (mode === "announcing" ? "joining" : mode);

/** Why a member that answered could not take part, whatever its clock shows, or undefined. */
const faultOf = (turn: Turn, ready: Ready, { seen }: Probe): string | undefined => {
  if (ready.sealed) return ready.mode === "verifying" ? BEING_VERIFIED : "it is sealed";
  if (ready.topologyDigest === undefined) return "it has not founded the cluster yet";
  if (ready.topologyDigest !== turn.membership.digest) return "it belongs to another topology";
  if (ready.configDigest !== turn.context.settings.configDigest) return "its cluster configuration differs";
  if (!ready.integrityOk) return "its stored records do not hold";
  if (ready.mode !== "active") return `it is ${ready.mode}`;
  if (!ready.judgesTokens) return NO_TOKEN_KEYS;
  if (isBehind(ready, seen.get(ready.peerId))) return "it ran from an old disk";
  // What it said before it was restored, and what came late.
  if (ready.incarnation < turn.recordedIncarnation(ready.peerId)) return "it was restored meanwhile";
  if (ready.uncommitted >= Limits.preparations) return NO_CAPACITY;
  if (ready.refusals >= Limits.refusals) return "it holds as many refusals as it may";
  return undefined;
};

/** A member that says anything is there, however long its answer to a probe takes; and so is the writer. */
export const noteHeard = (turn: Turn, from: PeerId): void => {
  const {
    probing: { probe: running },
    cluster: { membership },
  } = turn.state;
  if (membership === undefined || !membership.keys.has(from)) return;
  if (from === membership.writer) turn.draft("probing").writerHeardAt = turn.elapsed;
  if (running === undefined || running.heard.has(from) || running.answers.has(from)) return;
  turn.draft("probing").probe = { ...running, heard: new Set([...running.heard, from]) };
};

export const onReady = (turn: Turn, from: PeerId, ready: Ready): void => {
  const {
    probing: { probe: running },
  } = turn.state;
  if (ready.peerId !== from || !turn.others.includes(from)) return;
  if (running === undefined) return;
  if (ready.nonce !== nonceFor(turn, running.nonce, from) || running.answers.has(from)) return;
  if (!ready.sealed) noteFirstHeard(turn, from, ready.moment);
  detectRollback(turn, ready);
  const answered = { ...running, answers: withEntry(running.answers, from, { ready, answeredAt: turn.elapsed }) };
  turn.draft("probing").probe = answered;
  // One unready member decides the matter; there is no reason to wait for the others.
  const fault = faultOf(turn, ready, running);
  if (fault !== undefined || unreadiness(turn) !== undefined) return conclude(turn, faults(turn, answered, false));
  // Whose clock is wrong is seen when all are known.
  if (answered.answers.size === turn.others.length) conclude(turn, wrongClocks(turn, answered));
};

/** Members whose clocks are off, by what those who are ready have shown. */
const wrongClocks = (turn: Turn, running: Probe): ReadonlyArray<MemberFault> => {
  // Where this peer's own clock has jumped meanwhile, all are held against the one that it has now.
  const ahead = turn.now - turn.elapsed;
  const from = ahead + running.startedAt;
  return clockFaults(
    turn.self,
    [...running.answers].flatMap(([peerId, { ready, answeredAt }]) =>
      faultOf(turn, ready, running) === undefined ? [{ peerId, clock: ready.clock, from, to: ahead + answeredAt }] : [],
    ),
  );
};

/** Whether a member says less of itself than this peer had seen before it asked: then it has lost something. */
const isBehind = ({ incarnation, batchNo }: Ready, known: Seen | undefined): boolean =>
  known?.newest !== undefined && incarnation === known.incarnation && batchNo < known.newest.header.batchNo;

/**
 * A writer that runs from an old disk learns it from its own signature: it signed
 * that slot and does not remember, so it must sign nothing more (S6, S22).
 */
const detectRollback = (turn: Turn, ready: Ready): void => {
  const proof = ready.highSeqProof;
  if (!turn.isWriter || proof === undefined || ready.highSeq <= turn.state.undecided.highSeq) return;
  if (signerOf(proof) !== turn.self || proof.statement.seq !== ready.highSeq) return;
  if (proof.header.incarnation !== turn.state.signed.chain.incarnation) return;
  if (isAuthentic(turn.context.crypto, turn.membership, proof))
    turn.quarantine(`a receipt of batch ${proof.header.batchNo} is not in this peer's chain`);
};

/** Every member in the way so far; members that have not answered count only when time is up. */
const faults = (turn: Turn, running: Probe, timeIsUp: boolean): ReadonlyArray<MemberFault> =>
  turn.others.flatMap((peerId) => {
    const ready = running.answers.get(peerId)?.ready;
    const silence = running.heard.has(peerId) ? "it is there and answers too slowly" : "it does not answer";
    const why = versionFaultOf(turn, peerId) ?? (timeIsUp ? silence : undefined);
    const reason = ready === undefined ? why : faultOf(turn, ready, running);
    return reason === undefined ? [] : [{ peerId, reason }];
  });

export const onProbeTimer = (turn: Turn): void => {
  const {
    probing: { probe: running },
  } = turn.state;
  if (running === undefined) return;
  const silent = turn.others.filter((peerId) => !running.answers.has(peerId));
  // Who is there and busy gets more time; one that says nothing at all is not waited for.
  const isBusy = silent.every((peerId) => running.heard.has(peerId));
  const patience = isBusy ? BUSY_MILLIS : Limits.probeWaitMillis;
  const left = running.startedAt + patience - turn.elapsed;
  if (left > 0) {
    // The timer may belong to an earlier probe that was answered in time.
    if (isBusy && left <= BUSY_MILLIS - Limits.probeWaitMillis) ask(turn, running.nonce, silent);
    return turn.arm("probe", Math.min(left, Limits.probeWaitMillis));
  }
  conclude(turn, [...faults(turn, running, true), ...wrongClocks(turn, running)]);
};

const conclude = (turn: Turn, found: ReadonlyArray<MemberFault>): void => {
  const own = unreadiness(turn);
  const all = own === undefined ? found : ownFaults(turn, own);
  turn.draft("probing").verdict = {
    probedAt: turn.state.probing.probe?.startedAt ?? turn.elapsed,
    concludedAt: turn.elapsed,
    wallAhead: turn.now - turn.elapsed,
    faults: all,
  };
  turn.draft("probing").probe = undefined;
  for (const requestId of turn.state.probing.readinessWaiters)
    turn.reply(requestId, { _tag: "Readiness", faults: all });
  turn.draft("probing").readinessWaiters = [];
};

/** Answers whether a mutation would be accepted now, from a probe of its own if none is fresh. */
export const onCheckReadiness = (turn: Turn, requestId: string): void => {
  const answer = (faults: ReadonlyArray<MemberFault>): void => turn.reply(requestId, { _tag: "Readiness", faults });
  const own = unreadiness(turn);
  const peerId = turn.state.cluster.peer?.peerId ?? 0;
  if (own !== undefined) return answer(ownFaults(turn, own));
  const verdict = freshVerdict(turn);
  if (verdict !== undefined) return answer(verdict.faults);
  if (turn.state.probing.readinessWaiters.length >= Limits.readinessWaiters)
    return answer([{ peerId, reason: "it is asked too often" }]);
  turn.draft("probing").readinessWaiters = [...turn.state.probing.readinessWaiters, requestId];
  probe(turn);
};

/** Whether all members are ready, for those who wait for it now; undefined while they are being asked. */
export const currentVerdict = (turn: Turn): Verdict | undefined => {
  const verdict = freshVerdict(turn);
  // A bad verdict serves the requests it was asked for; the next one deserves a new probe.
  if (verdict !== undefined && (verdict.faults.length === 0 || verdict.concludedAt === turn.elapsed)) return verdict;
  turn.draft("probing").verdict = undefined;
  probe(turn);
  return turn.state.probing.verdict;
};

/** Asks the members again, unless what is known of them was found just now: returns whether it was. */
export const askAnewUnlessJustFound = (turn: Turn): boolean => {
  if (turn.others.length === 0 || turn.state.probing.verdict?.concludedAt === turn.elapsed) return true;
  turn.draft("probing").verdict = undefined;
  probe(turn);
  return false;
};

/** What was found last, where the answers of all members are young enough to act on. */
const freshVerdict = (turn: Turn): Verdict | undefined => {
  const {
    probing: { verdict },
  } = turn.state;
  if (verdict === undefined || unreadiness(turn) !== undefined) return undefined;
  const isYoung = turn.elapsed - verdict.probedAt <= Limits.probeAgeMillis || verdict.concludedAt === turn.elapsed;
  const wasSet = Math.abs(turn.now - turn.elapsed - verdict.wallAhead) > Limits.clockSkewMillis;
  return isYoung && !wasSet ? verdict : undefined;
};
