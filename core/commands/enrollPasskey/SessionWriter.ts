/**
 * The writer's side of options: once every member is ready it makes a session
 * and a secret, asks the others to keep the session, and stores its own row
 * last. Only then is the registrar answered (protocol.md 4e, S14). A failed
 * attempt leaves rows for which nobody has the invitation, and they expire.
 */
import { withEntry } from "../../base/Copies.ts";
import { answerRejected, callerOf, type Repeats } from "../../protocol/Answers.ts";
import { isOutOfTime, stampedWrong } from "../../protocol/Clocks.ts";
import { inMessages } from "../../protocol/Evidence.ts";
import { requestKey, requestLineOf } from "../../protocol/Forward.ts";
import { forgotten, isFromBefore } from "../../protocol/DuplicateSuppression.ts";
import type { Actor } from "../../protocol/Proposal.ts";
import { currentVerdict, askAnewUnlessJustFound } from "../../protocol/Readiness.ts";
import { refusalRejection, type SpeakingCode } from "../../protocol/Refusals.ts";
import { isAuthentic, type SignedStatement, signerOf } from "../../protocol/Statement.ts";
import type { PeerId } from "../../protocol/Topology.ts";
import { asMember, unavailable, unready } from "../../protocol/Unavailable.ts";
import { endsTooSoon } from "../../auth/Authorization.ts";
import { type Rejection, rejection } from "../../base/Rejection.ts";
import type { Step } from "../../protocol/Step.ts";
import { answerOffered } from "./Offered.ts";
import { enrollments, type Mirror, type OptionsRequest } from "./EnrollmentState.ts";
import { registrationIdOf, SESSION_ACK, type Session, sessionDigest } from "./Session.ts";
import type { MirrorItem, SessionMessage, SessionMessageOf } from "./SessionMessages.ts";
import { keepSessions, type Load, noteGivenUp, storedLoad, takesRoom } from "./Sessions.ts";

export const MIRROR_TIMER = "Session.mirror";
const MIRROR_AGAIN_MILLIS = 500;

/** Codes of a member's checks of a session that are passed on to the registrar. */
const SPEAKING: ReadonlyArray<SpeakingCode> = [
  "WEBAUTHN_DISABLED",
  "INVALID_REQUEST_BODY",
  "INVALID_METADATA",
  "SESSION_CAPACITY",
];

/** What a member's own checks of a session mean (SessionMember.ts). */
const MEANINGS = {
  REGISTRATION_TAKEN: "another session has this name there",
  WRONG_SESSION: "by its own judgement the request comes to another session",
  REQUEST_REPEATED: "as many sessions of this request are there as may be",
};

/** Makes sessions for waiting requests when every member is known to be ready; called at the end of every event. */
export const openSessions = (step: Step): void => {
  if (step.slice(enrollments).offers.size === 0) return;
  const waiting = [...step.slice(enrollments).offers.values()].filter((each) => each.mirror === undefined);
  if (waiting.length === 0) return;
  const verdict = currentVerdict(step);
  if (verdict === undefined) return;
  const items: Array<MirrorItem> = [];
  for (const offer of waiting) {
    // As for a change (Coordinator.ts): the others are asked for their clocks once more.
    if (isOutOfTime(offer.forward.receivedAt, step.now) && verdict.faults.length === 0 && !askAnewUnlessJustFound(step))
      continue;
    const refusal = verdict.faults.length > 0 ? unready(verdict.faults, undefined) : refusalOf(step, offer);
    if (refusal !== undefined) fail(step, offer, refusal);
    else items.push(open(step, offer));
  }
  if (step.others.length > 0) mirror(step, step.others, items);
};

/** Ends an attempt; the registrar may make another while there is room for what this one may have left at members. */
const fail = (
  step: Step,
  { forward, arrivedAt, enrollment, mirror: begun }: OptionsRequest,
  refusal: Rejection,
  repeats?: Repeats,
): void => {
  step.editIn(enrollments, "offers").delete(requestKey(forward));
  if (begun !== undefined) noteGivenUp(step, begun.session);
  answerRejected(step, callerOf(forward, arrivedAt, enrollment), refusal, repeats);
};

const refusalOf = (step: Step, { forward, tokenExpiresAt, actor }: OptionsRequest): Rejection | undefined => {
  // Its registrar may have been told no, and would wait for an invitation that nobody gets.
  if (isFromBefore(step, forward)) return forgotten(step, undefined);
  if (isOutOfTime(forward.receivedAt, step.now)) return unavailable([stampedWrong(forward.entryPeer)], undefined);
  const tooSoon = endsTooSoon(step.context, tokenExpiresAt);
  if (tooSoon !== undefined) return asMember(step.self, tooSoon);
  const { unexpired, unfinished } = loadOf(step, actor);
  const { sessionsPerRegistrar, sessions } = step.capacities;
  if (unfinished >= sessionsPerRegistrar)
    return noRoom(`This registrar has ${sessionsPerRegistrar} unfinished enrollments.`);
  return unexpired >= sessions ? noRoom(`There are ${sessions} enrollments that have not expired.`) : undefined;
};

export const noRoom = (detail: string): Rejection =>
  rejection("SESSION_CAPACITY", detail, "Repeat the request when some have been finished or have expired.");

/**
 * Sessions that are stored, about to be stored, or left by failed attempts: members keep the latter until they expire
 * or are void, and could be full before the writer knows. They take no place of any registrar.
 */
const loadOf = (step: Step, actor: Actor): Load => {
  const load = { ...storedLoad(step, actor) };
  for (const [registrationId, mark] of step.slice(enrollments).givenUp)
    if (takesRoom(step, registrationId, mark)) load.unexpired += 1;
  for (const { mirror: underWay } of step.slice(enrollments).offers.values()) {
    if (underWay === undefined) continue;
    load.unexpired += 1;
    const { registrar } = underWay.session;
    if (registrar.sub === actor.sub && registrar.iss === actor.iss) load.unfinished += 1;
  }
  return load;
};

/** Makes the session of one request. A mono instance has no member to ask, so it keeps the session at once. */
const open = (step: Step, offer: OptionsRequest): MirrorItem => {
  const { crypto, entropy } = step.context;
  const key = requestKey(offer.forward);
  // The request's name is part of the label, so that two requests of one step get different secrets.
  const secret = (name: string): Uint8Array => crypto.derive(entropy, `${name} ${key}`);
  const invitation = secret("invitation");
  const session = sessionFor(step, offer, {
    registrationId: registrationIdOf(crypto, invitation),
    challenge: secret("challenge"),
    userHandle: secret("user handle"),
  });
  const digest = sessionDigest(crypto, session);
  const begun = { session, digest, invitation, acks: new Map(), sentAt: step.elapsed };
  step.editIn(enrollments, "offers").set(key, { ...offer, mirror: begun });
  if (step.others.length === 0) store(step, offer, begun);
  return { session, evidence: offer.forward };
};

const sessionFor = (
  step: Step,
  { forward, actor, enrollment }: OptionsRequest,
  fresh: Pick<Session, "registrationId" | "challenge" | "userHandle">,
): Session => {
  const { membership, now } = step;
  const { crypto, settings } = step.context;
  const { id, metadata, relyingParty } = enrollment;
  return {
    version: step.version,
    clusterId: membership.topology.clusterId,
    epoch: membership.topology.epoch,
    topologyDigest: membership.digest,
    configDigest: settings.configDigest,
    writer: step.self,
    ...fresh,
    id,
    metadata,
    rpId: relyingParty.rpId,
    origins: relyingParty.origins,
    algorithm: "ES256",
    registrar: actor,
    request: requestLineOf(forward.call, crypto),
    requestId: forward.requestId,
    entryPeer: forward.entryPeer,
    createdAt: now,
    expiresAt: now + relyingParty.registrationTtlMillis,
    incarnations: membership.peerIds.map((peerId) => step.recordedIncarnation(peerId)),
  };
};

const mirror = (step: Step, to: ReadonlyArray<PeerId>, items: ReadonlyArray<MirrorItem>): void => {
  if (items.length === 0) return;
  for (const together of inMessages(step.capacities, items)) {
    const message: SessionMessage = { _tag: "Session.Mirror", items: together };
    step.sendAll(message, to);
  }
  step.arm(MIRROR_TIMER, MIRROR_AGAIN_MILLIS);
};

/** Asks the members again that have not answered for a while. */
export const onMirrorTimer = (step: Step): void => {
  if (step.slice(enrollments).offers.size === 0) return;
  const due: Array<{ readonly offer: OptionsRequest; readonly begun: Mirror }> = [];
  let isOpen = false;
  for (const offer of step.slice(enrollments).offers.values()) {
    const { mirror: begun } = offer;
    if (begun === undefined) continue;
    isOpen = true;
    if (step.elapsed - begun.sentAt >= MIRROR_AGAIN_MILLIS) due.push({ offer, begun });
  }
  for (const peerId of step.others) {
    const missing = due.filter(({ begun }) => !begun.acks.has(peerId));
    mirror(
      step,
      [peerId],
      missing.map(({ offer, begun }) => ({ session: begun.session, evidence: offer.forward })),
    );
  }
  const offers = step.editIn(enrollments, "offers");
  for (const { offer, begun } of due)
    offers.set(requestKey(offer.forward), { ...offer, mirror: { ...begun, sentAt: step.elapsed } });
  if (isOpen) step.arm(MIRROR_TIMER, MIRROR_AGAIN_MILLIS);
};

/** Another member's answer about the sessions it was asked to keep. */
export const onSessionVotes = (
  step: Step,
  from: PeerId,
  { acks, refusals }: SessionMessageOf<"Session.Votes">,
): void => {
  if (step.slice(enrollments).offers.size === 0) return;
  for (const offer of step.slice(enrollments).offers.values()) {
    const { mirror: begun } = offer;
    if (begun === undefined) continue;
    const refusal = refusals.find((each) => each.sessionDigest === begun.digest);
    if (refusal !== undefined) {
      // Another member's opinion: no duplicate may be judged by it again, and make a session that nobody waits for.
      fail(step, offer, refusalRejection(from, refusal.code, undefined, SPEAKING, MEANINGS), "only if remembered");
      continue;
    }
    const ack = acks.find((each) => isSessionAck(step, begun.digest, from, each));
    if (ack !== undefined && !begun.acks.has(from)) note(step, offer, begun, ack);
  }
};

/** Whether a statement is a member's acknowledgement of a session, made in the incarnation that is on record. */
const isSessionAck = (step: Step, digest: Mirror["digest"], from: PeerId, signed: SignedStatement): boolean =>
  signed.statement.kind === SESSION_ACK &&
  signed.statement.proposalId === digest &&
  signerOf(signed) === from &&
  signed.header.incarnation === step.recordedIncarnation(from) &&
  isAuthentic(step.context.crypto, step.membership, signed);

const note = (step: Step, offer: OptionsRequest, begun: Mirror, ack: SignedStatement): void => {
  step.noteSeen(ack);
  const next = { ...begun, acks: withEntry(begun.acks, signerOf(ack), ack) };
  step.editIn(enrollments, "offers").set(requestKey(offer.forward), { ...offer, mirror: next });
  if (next.acks.size < step.others.length) return;
  if (step.isCurrent(next.session.incarnations)) return store(step, offer, next);
  // A member restored meanwhile may have lost the session with its old incarnation.
  fail(step, offer, unavailable([{ peerId: step.self, reason: "a member was restored meanwhile" }], undefined));
};

/** The writer's own row is the last; when it is flushed with its acknowledgement the registrar is answered. */
const store = (step: Step, offer: OptionsRequest, { session, digest, invitation, acks }: Mirror): void => {
  keepSessions(step, [{ session, digest }], ([own]) => {
    if (own === undefined) return;
    // Until that row exists, the offer counts.
    step.editIn(enrollments, "offers").delete(requestKey(offer.forward));
    const all = step.membership.peerIds.flatMap((peerId) => (peerId === step.self ? own : (acks.get(peerId) ?? [])));
    answerOffered(step, offer, { version: step.version, session, invitation, acks: all });
  });
};

/** Ends an attempt that has waited as long as allowed, naming the silent members. */
export const giveUp = (step: Step, offer: OptionsRequest): void => {
  const silent = step.others.filter((peerId) => offer.mirror?.acks.has(peerId) !== true);
  const members = silent.map((peerId) => ({ peerId, reason: "it has not acknowledged the session" }));
  fail(step, offer, unavailable(members, undefined));
};
