/**
 * The writer's side of options: once every member is ready it makes a session
 * and a secret, asks the others to keep the session, and stores its own row
 * last. Only then is the registrar answered (protocol.md 4e, S14). What fails on
 * the way leaves rows that nobody has the invitation for, and they expire.
 */
import { withEntry } from "../../base/Copies.ts";
import { Limits } from "../../base/Limits.ts";
import { answerRejected, callerOf, type Repeats } from "../../protocol/Answers.ts";
import { isOutOfTime, stampedWrong } from "../../protocol/Clocks.ts";
import { requestKey, requestLineOf } from "../../protocol/Forward.ts";
import { forgotten, isFromBefore } from "../../protocol/LateCopy.ts";
import type { Actor } from "../../protocol/Proposal.ts";
import { currentVerdict, askAnewUnlessJustFound } from "../../protocol/Readiness.ts";
import { refusalRejection } from "../../protocol/Refusals.ts";
import { isAuthentic, type SignedStatement, signerOf } from "../../protocol/Statement.ts";
import type { PeerId } from "../../protocol/Topology.ts";
import { asMember, unavailable, unready } from "../../protocol/Unavailable.ts";
import { endsTooSoon } from "../../auth/Authorization.ts";
import { type Rejection, type RejectionCode, rejection } from "../../base/Rejection.ts";
import type { Turn } from "../../protocol/Turn.ts";
import { answerOffered } from "./Offered.ts";
import { enrollments, type Mirror, type Offer } from "./EnrollmentState.ts";
import { registrationIdOf, SESSION_ACK, type Session, sessionDigest } from "./Session.ts";
import type { MirrorItem, SessionMessage, SessionMessageOf } from "./SessionMessages.ts";
import { keepSessions, type Load, noteGivenUp, storedLoad, takesRoom } from "./Sessions.ts";

export const MIRROR_TIMER = "Session.mirror";
const MIRROR_AGAIN_MILLIS = 500;

/** What a member's checks of a session end in that its registrar is told in these words. */
const SPEAKING: ReadonlyArray<RejectionCode> = [
  "WEBAUTHN_DISABLED",
  "INVALID_REQUEST_BODY",
  "INVALID_METADATA",
  "SESSION_CAPACITY",
];

/** Makes sessions for those who wait for one, when every member is known to be ready; called at the end of every event. */
export const openSessions = (turn: Turn): void => {
  if (turn.slice(enrollments).offers.size === 0) return;
  const waiting = [...turn.slice(enrollments).offers.values()].filter((each) => each.mirror === undefined);
  if (waiting.length === 0) return;
  const verdict = currentVerdict(turn);
  if (verdict === undefined) return;
  const items: Array<MirrorItem> = [];
  for (const offer of waiting) {
    // As for a change (Coordinator.ts): the others are asked for their clocks once more.
    if (isOutOfTime(offer.forward.receivedAt, turn.now) && verdict.faults.length === 0 && !askAnewUnlessJustFound(turn))
      continue;
    const refusal = verdict.faults.length > 0 ? unready(verdict.faults, undefined) : refusalOf(turn, offer);
    if (refusal !== undefined) fail(turn, offer, refusal);
    else items.push(open(turn, offer));
  }
  if (turn.others.length > 0) mirror(turn, turn.others, items);
};

/** Ends an attempt; the registrar may make another one, while there is room for what this one may have left at members. */
const fail = (
  turn: Turn,
  { forward, arrivedAt, enrollment, mirror: begun }: Offer,
  refusal: Rejection,
  repeats?: Repeats,
): void => {
  turn.editIn(enrollments, "offers").delete(requestKey(forward));
  if (begun !== undefined) noteGivenUp(turn, begun.session);
  answerRejected(turn, callerOf(forward, arrivedAt, enrollment), refusal, repeats);
};

const refusalOf = (turn: Turn, { forward, tokenExpiresAt, actor }: Offer): Rejection | undefined => {
  // Its registrar may have been told no, and would wait for an invitation that nobody gets.
  if (isFromBefore(turn, forward)) return forgotten(turn, undefined);
  if (isOutOfTime(forward.receivedAt, turn.now)) return unavailable([stampedWrong(forward.entryPeer)], undefined);
  const tooSoon = endsTooSoon(turn.context, tokenExpiresAt);
  if (tooSoon !== undefined) return asMember(turn.self, tooSoon);
  const { unexpired, unfinished } = loadOf(turn, actor);
  if (unfinished >= Limits.sessionsPerRegistrar)
    return noRoom(`This registrar has ${Limits.sessionsPerRegistrar} unfinished enrollments.`);
  return unexpired >= Limits.sessions
    ? noRoom(`There are ${Limits.sessions} enrollments that have not expired.`)
    : undefined;
};

export const noRoom = (detail: string): Rejection =>
  rejection("SESSION_CAPACITY", detail, "Repeat the request when some have been finished or have expired.");

/**
 * What is stored, what is about to be, and what failed attempts left: members keep that until it expires or is void, and would
 * be full before the writer knows of it. No registrar pays for it with a place of its own.
 */
const loadOf = (turn: Turn, actor: Actor): Load => {
  const load = { ...storedLoad(turn, actor) };
  for (const [registrationId, mark] of turn.slice(enrollments).givenUp)
    if (takesRoom(turn, registrationId, mark)) load.unexpired += 1;
  for (const { mirror: underWay } of turn.slice(enrollments).offers.values()) {
    if (underWay === undefined) continue;
    load.unexpired += 1;
    const { registrar } = underWay.session;
    if (registrar.sub === actor.sub && registrar.iss === actor.iss) load.unfinished += 1;
  }
  return load;
};

/** Makes the session of one request. A mono instance has nobody to ask, so it keeps it at once. */
const open = (turn: Turn, offer: Offer): MirrorItem => {
  const { crypto, entropy } = turn.context;
  const key = requestKey(offer.forward);
  // The request's name is part of it, so that two requests of one step get different secrets.
  const secret = (name: string): Uint8Array => crypto.derive(entropy, `${name} ${key}`);
  const invitation = secret("invitation");
  const session = sessionFor(turn, offer, {
    registrationId: registrationIdOf(crypto, invitation),
    challenge: secret("challenge"),
    userHandle: secret("user handle"),
  });
  const digest = sessionDigest(crypto, session);
  const begun = { session, digest, invitation, acks: new Map(), sentAt: turn.elapsed };
  turn.editIn(enrollments, "offers").set(key, { ...offer, mirror: begun });
  if (turn.others.length === 0) store(turn, offer, begun);
  return { session, evidence: offer.forward };
};

const sessionFor = (
  turn: Turn,
  { forward, actor, enrollment }: Offer,
  fresh: Pick<Session, "registrationId" | "challenge" | "userHandle">,
): Session => {
  const { membership, now } = turn;
  const { crypto, settings } = turn.context;
  const { id, metadata, relyingParty } = enrollment;
  return {
    version: turn.version,
    clusterId: membership.topology.clusterId,
    epoch: membership.topology.epoch,
    topologyDigest: membership.digest,
    configDigest: settings.configDigest,
    writer: turn.self,
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
    incarnations: membership.peerIds.map((peerId) => turn.recordedIncarnation(peerId)),
  };
};

const sendMirror = (turn: Turn, items: ReadonlyArray<MirrorItem>, to: ReadonlyArray<PeerId>): void => {
  const message: SessionMessage = { _tag: "Session.Mirror", items };
  turn.sendAll(message, to);
};

const mirror = (turn: Turn, to: ReadonlyArray<PeerId>, items: ReadonlyArray<MirrorItem>): void => {
  if (items.length === 0) return;
  // The bodies of so many requests fit into one message, whatever is in them.
  for (let from = 0; from < items.length; from += Limits.batchProposals)
    sendMirror(turn, items.slice(from, from + Limits.batchProposals), to);
  turn.arm(MIRROR_TIMER, MIRROR_AGAIN_MILLIS);
};

/** Asks those again who have not answered for a while. */
export const onMirrorTimer = (turn: Turn): void => {
  if (turn.slice(enrollments).offers.size === 0) return;
  const due: Array<{ readonly offer: Offer; readonly begun: Mirror }> = [];
  let isOpen = false;
  for (const offer of turn.slice(enrollments).offers.values()) {
    const { mirror: begun } = offer;
    if (begun === undefined) continue;
    isOpen = true;
    if (turn.elapsed - begun.sentAt >= MIRROR_AGAIN_MILLIS) due.push({ offer, begun });
  }
  for (const peerId of turn.others) {
    const missing = due.filter(({ begun }) => !begun.acks.has(peerId));
    mirror(
      turn,
      [peerId],
      missing.map(({ offer, begun }) => ({ session: begun.session, evidence: offer.forward })),
    );
  }
  const offers = turn.editIn(enrollments, "offers");
  for (const { offer, begun } of due)
    offers.set(requestKey(offer.forward), { ...offer, mirror: { ...begun, sentAt: turn.elapsed } });
  if (isOpen) turn.arm(MIRROR_TIMER, MIRROR_AGAIN_MILLIS);
};

/** What another member says of the sessions it was asked to keep. */
export const onSessionVotes = (
  turn: Turn,
  from: PeerId,
  { acks, refusals }: SessionMessageOf<"Session.Votes">,
): void => {
  if (turn.slice(enrollments).offers.size === 0) return;
  for (const offer of turn.slice(enrollments).offers.values()) {
    const { mirror: begun } = offer;
    if (begun === undefined) continue;
    const refusal = refusals.find((each) => each.sessionDigest === begun.digest);
    if (refusal !== undefined) {
      // Another member's opinion: a late copy must not be judged by it again, and make a session that nobody waits for.
      fail(turn, offer, refusalRejection(from, refusal.code, undefined, SPEAKING), "only if remembered");
      continue;
    }
    const ack = acks.find((each) => isSessionAck(turn, begun.digest, from, each));
    if (ack !== undefined && !begun.acks.has(from)) note(turn, offer, begun, ack);
  }
};

/** Whether a statement is a member's acknowledgement of a session, made in the life that is on record. */
const isSessionAck = (turn: Turn, digest: Mirror["digest"], from: PeerId, signed: SignedStatement): boolean =>
  signed.statement.kind === SESSION_ACK &&
  signed.statement.proposalId === digest &&
  signerOf(signed) === from &&
  signed.header.incarnation === turn.recordedIncarnation(from) &&
  isAuthentic(turn.context.crypto, turn.membership, signed);

const note = (turn: Turn, offer: Offer, begun: Mirror, ack: SignedStatement): void => {
  turn.noteSeen(ack);
  const next = { ...begun, acks: withEntry(begun.acks, signerOf(ack), ack) };
  turn.editIn(enrollments, "offers").set(requestKey(offer.forward), { ...offer, mirror: next });
  if (next.acks.size < turn.others.length) return;
  if (turn.isCurrent(next.session.incarnations)) return store(turn, offer, next);
  // Whoever was restored meanwhile may have lost it with its old life.
  fail(turn, offer, unavailable([{ peerId: turn.self, reason: "a member was restored meanwhile" }], undefined));
};

/** The writer's own row is the last; when it is flushed with its acknowledgement the registrar is answered. */
const store = (turn: Turn, offer: Offer, { session, digest, invitation, acks }: Mirror): void => {
  keepSessions(turn, [{ session, digest }], ([own]) => {
    if (own === undefined) return;
    // Until its row is there the offer is what counts.
    turn.editIn(enrollments, "offers").delete(requestKey(offer.forward));
    const all = turn.membership.peerIds.flatMap((peerId) => (peerId === turn.self ? own : (acks.get(peerId) ?? [])));
    answerOffered(turn, offer, { version: turn.version, session, invitation, acks: all });
  });
};

/** Ends an attempt that has waited as long as may be, naming the members that keep silent. */
export const giveUp = (turn: Turn, offer: Offer): void => {
  const silent = turn.others.filter((peerId) => offer.mirror?.acks.has(peerId) !== true);
  const members = silent.map((peerId) => ({ peerId, reason: "it has not acknowledged the session" }));
  fail(turn, offer, unavailable(members, undefined));
};
