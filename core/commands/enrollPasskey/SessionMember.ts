/**
 * A member is asked to keep a session. It judges for itself the registrar's request, as for every change (contract
 * 5.6), and the parameters that the writer pinned; a body that it keeps already it acknowledges again and writes
 * nothing.
 */
import { Either } from "effect";
import type { Digest } from "../../base/Digest.ts";
import type { ActorCheck } from "../../auth/ActorCheck.ts";
import { Limits } from "../../base/Limits.ts";
import { isAttested, requestKey, requestLineOf } from "../../protocol/Forward.ts";
import { isSameActor, isSameLine } from "../../protocol/Proposal.ts";
import type { SignedStatement } from "../../protocol/Statement.ts";
import type { PeerId } from "../../protocol/Topology.ts";
import { isSpoken } from "../../protocol/Versions.ts";
import { authorize } from "../../auth/Authorization.ts";
import { REGISTER_PERMISSION } from "../approvers/Permissions.ts";
import { remindOfRecord, WRONG_INCARNATION } from "../../protocol/Reminders.ts";
import type { Step } from "../../protocol/Step.ts";
import { enrollmentOf, isOptions } from "./Enrollment.ts";
import { enrollments } from "./EnrollmentState.ts";
import { type Session, sessionDigest } from "./Session.ts";
import type { MirrorItem, SessionMessage, SessionMessageOf } from "./SessionMessages.ts";
import { type Accepted, keepSessions, storedLoad } from "./Sessions.ts";
import { enrollmentRows } from "./SessionTables.ts";

/** The code of the check that failed; undefined for a session that may be kept. */
type Fault = string | undefined;

export const onSessionMirror = (
  step: Step,
  from: PeerId,
  { items }: SessionMessageOf<"Session.Mirror">,
  actors: ReadonlyArray<ActorCheck>,
): void => {
  if (from !== step.membership.writer) return;
  const acks: Array<SignedStatement> = [];
  const refusals: Array<{ readonly sessionDigest: Digest; readonly code: string }> = [];
  const accepted = new Map<Digest, Accepted>();
  items.forEach((item, index) => {
    const { session } = item;
    const digest = sessionDigest(step.context.crypto, session);
    const actor = actors[index] ?? { _tag: "Unavailable" };
    const known = enrollmentRows(step.view).get("sessions", session.registrationId);
    if (known?.ack.statement.proposalId === digest) return void acks.push(known.ack);
    // Nothing follows from missing token keys: the writer asks again.
    if (actor._tag === "Unavailable" && step.now <= session.expiresAt) return;
    const isTaken = known !== undefined || accepted.has(session.registrationId);
    const code = isTaken ? "REGISTRATION_TAKEN" : faultOf(step, item, actor, [...accepted.values()]);
    if (code === undefined) accepted.set(session.registrationId, { session, digest });
    else refusals.push({ sessionDigest: digest, code });
    if (code === WRONG_INCARNATION) remindOfRecord(step, session.incarnations);
  });
  keepSessions(step, [...accepted.values()], (own) => acks.push(...own));
  step.whenSigned(() => {
    if (acks.length + refusals.length === 0) return;
    const votes: SessionMessage = { _tag: "Session.Votes", acks, refusals };
    step.send(from, votes);
  });
};

const faultOf = (
  step: Step,
  { session, evidence }: MirrorItem,
  actor: ActorCheck,
  accepted: ReadonlyArray<Accepted>,
): Fault =>
  placeFault(step, session) ??
  timeFault(step, session, evidence.receivedAt) ??
  requestFault(step, { session, evidence }, actor) ??
  roomFault(step, session, accepted);

/** Cluster, version, configuration, and the incarnations of all members as this one has them on record. */
const placeFault = (step: Step, session: Session): Fault => {
  const { topology, digest, writer } = step.membership;
  if (
    session.clusterId !== topology.clusterId ||
    session.epoch !== topology.epoch ||
    session.topologyDigest !== digest ||
    session.writer !== writer
  )
    return "WRONG_TOPOLOGY";
  if (!isSpoken(step.context.commands.versions, session)) return "VERSION_NOT_SPOKEN";
  if (session.configDigest !== step.context.settings.configDigest) return "CONFIGURATION_DIFFERS";
  return step.isCurrent(session.incarnations) ? undefined : WRONG_INCARNATION;
};

/** Deadlines, by this member's own clock. */
const timeFault = (step: Step, { createdAt, expiresAt }: Session, receivedAt: number): Fault => {
  const ttl = step.context.settings.relyingParty?.registrationTtlMillis ?? 0;
  if (createdAt > step.now + Limits.clockSkewMillis) return "CLOCK_SKEW";
  if (expiresAt !== createdAt + ttl || step.now > expiresAt) return "EXPIRED";
  return Math.abs(createdAt - receivedAt) > Limits.proposalMillis ? "STALE_REQUEST" : undefined;
};

/** The registrar and the request's content, each derived again from the request itself. */
const requestFault = (step: Step, { session, evidence }: MirrorItem, actor: ActorCheck): Fault => {
  const { crypto, settings } = step.context;
  if (!isOptions(evidence.call)) return "WRONG_REQUEST";
  const authorized = authorize(step.context, actor, [REGISTER_PERMISSION]);
  if (Either.isLeft(authorized)) return authorized.left.code;
  if (!isSameActor(session.registrar, authorized.right)) return "WRONG_ACTOR";
  if (session.entryPeer !== evidence.entryPeer || !isAttested(crypto, step.membership, evidence)) return "NOT_ATTESTED";
  if (session.requestId !== evidence.requestId) return "WRONG_REQUEST";
  if (!isSameLine(session.request, requestLineOf(evidence.call, crypto))) return "WRONG_REQUEST";
  const enrollment = enrollmentOf(settings, evidence.call);
  if (Either.isLeft(enrollment)) return enrollment.left.code;
  const { id, metadata, relyingParty } = enrollment.right;
  const isAsked =
    session.id === id &&
    isSameList(session.metadata.flat(), metadata.flat()) &&
    session.rpId === relyingParty.rpId &&
    isSameList(session.origins, relyingParty.origins) &&
    session.challenge.length === Limits.challengeBytes &&
    session.userHandle.length === Limits.challengeBytes;
  return isAsked ? undefined : "WRONG_SESSION";
};

const isSameList = (left: ReadonlyArray<string>, right: ReadonlyArray<string>): boolean =>
  left.length === right.length && left.every((each, index) => each === right[index]);

/** No writer may fill this member's disk by asking beyond its own limit, with one captured request or many. */
const roomFault = (step: Step, session: Session, accepted: ReadonlyArray<Accepted>): Fault => {
  const request = requestKey(session);
  let ofRequest = accepted.filter((each) => requestKey(each.session) === request).length;
  for (const mark of step.slice(enrollments).sessions.values()) if (mark.request === request) ofRequest += 1;
  if (ofRequest >= step.capacities.sessionsOfRequest) return "REQUEST_REPEATED";
  const { unexpired } = storedLoad(step, session.registrar);
  return unexpired + accepted.length >= step.capacities.mirroredSessions ? "SESSION_CAPACITY" : undefined;
};
