/**
 * A member as one of the signers: it judges a request by itself, commits to nonces, and signs once for them. The same
 * functions serve the coordinator, which is a signer like any other.
 *
 * A nonce is a seed in memory, made in the step that commits to it and gone with the step that signs. It comes from
 * this peer's own fresh randomness, so no coordinator can have the same one twice, whatever it calls its sessions.
 */
import { Either } from "effect";
import type { ActorCheck } from "../../auth/ActorCheck.ts";
import type { ActorClaims } from "../../auth/ActorClaims.ts";
import { authorize } from "../../auth/Authorization.ts";
import type { Digest } from "../../base/Digest.ts";
import { Limits } from "../../base/Limits.ts";
import type { Rejection } from "../../base/Rejection.ts";
import { requestLineOf } from "../../protocol/Forward.ts";
import { isSameActor, isSameLine, type RequestLine } from "../../protocol/Proposal.ts";
import type { Step } from "../../protocol/Step.ts";
import type { PeerId } from "../../protocol/Topology.ts";
import { Secret } from "../../threshold/Secret.ts";
import type { Element, NonceCommitments, SignatureShare } from "../../threshold/ThresholdScheme.ts";
import { groupKeyOf, heldShare, shareIndexOf } from "../keys/HeldShare.ts";
import { keyIdIn, keyPermission } from "../keys/KeyId.ts";
import { keyRows } from "../keys/Tables.ts";
import { consent, consentFault } from "./Consents.ts";
import { envelopeOf, isNonce, operationDigest } from "./Envelope.ts";
import { packageDigestOf, type SaidPackage, type SignMessage, type SignMessageOf } from "./SignMessages.ts";
import { signable } from "./Signable.ts";
import { readSigning, type SigningRequest } from "./SigningRequest.ts";
import { type Coordinated, type Session, sessionKey, signings, type Spent } from "./SigningState.ts";

export const SESSIONS_TIMER = "Sign.sessions";
const SESSIONS_MILLIS = 1_000;

/** How many finished sessions are remembered, for copies of a package whose answer was lost. */
const SPENT_KEPT = 256;

type Open = SignMessageOf<"Sign.Open">;

/** Why a member does not sign, as a code. */
type Refusal = string;

const codeOf = <A>(judged: Either.Either<A, Rejection>): Either.Either<A, Refusal> =>
  Either.mapLeft(judged, ({ code }) => code);

/** The call that the coordinator was asked for. */
const lineOf = (step: Step, { path, rawBody }: Open["evidence"]): RequestLine =>
  requestLineOf({ method: "POST", path, ifMatch: undefined, rawBody }, step.context.crypto);

/** Deadlines by this member's own clock. */
const timeFault = (step: Step, { timestamp, expiresAt }: Open): Refusal | undefined => {
  if (timestamp > step.now + Limits.clockSkewMillis) return "CLOCK_SKEW";
  if (step.now > expiresAt || expiresAt > timestamp + Limits.operationMillis) return "EXPIRED";
  return undefined;
};

/** The generation of the key that this peer has; 0 where it has none. */
const generationHere = (step: Step, keyId: string): number =>
  keyRows(step.view).get("custodyKeys", keyId)?.generation ?? 0;

/** What one coordinator may hold of the bytes. */
const PART = 4;

/** A session that no package came for in so long gives way to others of its coordinator. */
const IDLE_MILLIS = 1_000;

/**
 * Whether there is room for one more session: no coordinator may fill this member's memory, and none may fill all of it.
 * Where a coordinator's own part is full the oldest of its idle ones go: those of a key that never gets enough signers
 * must not keep all others from being signed with.
 */
const makesRoom = (step: Step, coordinator: PeerId, bytes: number): boolean => {
  const { sessions } = step.slice(signings);
  let [all, held, ofCoordinator, bytesOfCoordinator] = [1, bytes, 1, bytes];
  for (const session of sessions.values()) {
    const { length } = session.request.data;
    all += 1;
    held += length;
    if (session.coordinator !== coordinator) continue;
    ofCoordinator += 1;
    bytesOfCoordinator += length;
  }
  const fits = (): boolean =>
    all <= Limits.signingSessions &&
    ofCoordinator <= Limits.signingSessionsOfCoordinator &&
    held <= Limits.signingSessionBytes &&
    bytesOfCoordinator <= Limits.signingSessionBytes / PART;
  for (const [key, session] of sessions) {
    if (fits()) break;
    if (session.coordinator !== coordinator || step.elapsed - session.openedAt < IDLE_MILLIS) continue;
    const { length } = session.request.data;
    step.editIn(signings, "sessions").delete(key);
    all -= 1;
    held -= length;
    ofCoordinator -= 1;
    bytesOfCoordinator -= length;
  }
  return fits();
};

/** What a signer has found right: by whom it was asked for what, and what that comes to. */
type Judged = Pick<Coordinated, "request" | "claims" | "line" | "occasion" | "operation" | "signable">;

/** What speaks against a question before its body is read. */
const occasionFault = (step: Step, keyId: string, open: Open): Refusal | undefined => {
  const here = generationHere(step, keyId);
  if (here !== open.generation) return here < open.generation ? "GENERATION_BEHIND" : "GENERATION_AHEAD";
  return isNonce(open.nonce) ? timeFault(step, open) : "WRONG_REQUEST";
};

/** Judges what a coordinator asks, whose caller's token was judged; left is why this member does not sign. */
const judge = (
  step: Step,
  open: Open,
  request: SigningRequest,
  claims: ActorClaims,
): Either.Either<Judged, Refusal> => {
  const { context, membership } = step;
  const judged = codeOf(signable(step, request));
  if (Either.isLeft(judged)) return Either.left(judged.left);
  const { nonce, timestamp, expiresAt } = open;
  const occasion = { nonce, timestamp, expiresAt };
  const { clusterId } = membership.topology;
  const { generation } = judged.right;
  const operation = operationDigest(
    context.crypto,
    envelopeOf({ clusterId, owner: claims, generation, request, occasion }),
  );
  return Either.right({
    request,
    claims,
    line: lineOf(step, open.evidence),
    occasion,
    operation,
    signable: judged.right,
  });
};

/** Commits to nonces for what was found right, under the coordinator's name for it; left is why not. */
export const commitTo = (
  step: Step,
  coordinator: PeerId,
  sessionId: Digest,
  { request, claims, line, occasion, operation, signable: found }: Judged,
): Either.Either<NonceCommitments, Refusal> => {
  const { context, membership, self } = step;
  const { generation, suite, messageDigest } = found;
  const { expiresAt } = occasion;
  const given = consentFault(step, { operation, messageDigest, expiresAt });
  if (given !== undefined) return Either.left(given);
  const key = sessionKey(coordinator, sessionId);
  if (!makesRoom(step, coordinator, request.data.length)) return Either.left("SESSION_CAPACITY");
  const index = shareIndexOf(membership, self);
  const secret = heldShare(context, membership, self, generation);
  if (suite.shared === undefined || index === undefined || secret === undefined) return Either.left("SHARE_MISSING");
  const seed = new Secret(context.crypto.derive(context.entropy, `signing nonce ${key}`));
  const commitments = suite.shared.commit(seed, { index, secret });
  secret.wipe();
  step.editIn(signings, "sessions").set(key, {
    coordinator,
    sessionId,
    openedAt: step.elapsed,
    request,
    claims,
    line,
    nonce: occasion.nonce,
    timestamp: occasion.timestamp,
    operation,
    expiresAt,
    generation: generation.generation,
    messageDigest,
    seed,
    commitments,
  });
  return Either.right(commitments);
};

const refuse = (step: Step, to: PeerId, sessionId: Digest, code: Refusal): void => {
  const refused: SignMessage = { _tag: "Sign.Refused", sessionId, code };
  step.sendFlushed(refused, [to]);
};

/**
 * Whether a session was opened by another copy of the message, with the same call of the same bearer. The body, of which
 * a hash is made, is looked at last.
 */
const isCopy = (step: Step, known: Session, open: Open, claims: ActorClaims): boolean =>
  isSameActor(known.claims, claims) &&
  known.generation === open.generation &&
  known.nonce === open.nonce &&
  known.timestamp === open.timestamp &&
  known.expiresAt === open.expiresAt &&
  isSameLine(known.line, lineOf(step, open.evidence));

/**
 * What is known under a coordinator's name for a session, so that one that uses it again, or has no place for another,
 * costs little; undefined where it is new.
 */
const knownAs = (
  step: Step,
  from: PeerId,
  open: Open,
  claims: ActorClaims,
): Either.Either<NonceCommitments, Refusal> | undefined => {
  const { sessions, spent } = step.slice(signings);
  const key = sessionKey(from, open.sessionId);
  const known = sessions.get(key);
  if (known === undefined) {
    if (spent.has(key)) return Either.left("SESSION_TAKEN");
    // What is in a body is shorter than that: of whoever has no room for more, none is read or hashed.
    return makesRoom(step, from, open.evidence.rawBody.length) ? undefined : Either.left("SESSION_CAPACITY");
  }
  // Of anything but a copy there is no second commitment under one name.
  const fault = isCopy(step, known, open, claims) ? consentFault(step, known) : "SESSION_TAKEN";
  return fault === undefined ? Either.right(known.commitments) : Either.left(fault);
};

/** Everything is judged here, from the caller's own words and token; what takes long is judged last. */
const answerTo = (
  step: Step,
  from: PeerId,
  open: Open,
  actor: ActorCheck,
): Either.Either<NonceCommitments, Refusal> => {
  const keyId = keyIdIn(open.evidence.path, "sign");
  if (keyId === undefined) return Either.left("WRONG_REQUEST");
  if (step.mode !== "active" && step.mode !== "joining") return Either.left("RECOVERING");
  const claims = codeOf(authorize(step.context, actor, [keyPermission(keyId, "sign")]));
  if (Either.isLeft(claims)) return Either.left(claims.left);
  const fault = occasionFault(step, keyId, open);
  if (fault !== undefined) return Either.left(fault);
  const known = knownAs(step, from, open, claims.right);
  if (known !== undefined) return known;
  const request = codeOf(readSigning(keyId, open.evidence.rawBody));
  if (Either.isLeft(request)) return Either.left(request.left);
  const judged = judge(step, open, request.right, claims.right);
  return Either.isLeft(judged) ? Either.left(judged.left) : commitTo(step, from, open.sessionId, judged.right);
};

/** A coordinator asks this member to sign. */
export const onOpen = (step: Step, from: PeerId, open: Open, actors: ReadonlyArray<ActorCheck>): void => {
  const answer = answerTo(step, from, open, actors[0] ?? { _tag: "Unavailable" });
  if (Either.isLeft(answer)) return refuse(step, from, open.sessionId, answer.left);
  // Nothing of it is stored: a nonce that nobody has signed with may be forgotten.
  const commit: SignMessage = { _tag: "Sign.Commit", sessionId: open.sessionId, commitments: answer.right };
  step.sendFlushed(commit, [from]);
};

const isOwn = (own: NonceCommitments, said: SaidPackage["commitments"][number]): boolean =>
  said.index === own.index && said.hiding === own.hiding && said.binding === own.binding;

/** Whether a package is one that this session may sign: its own commitments once, each member once, its own message. */
const packageFault = (
  { commitments: own, messageDigest }: Session,
  threshold: number,
  said: SaidPackage,
): Refusal | undefined => {
  const indexes = new Set(said.commitments.map(({ index }) => index));
  if (said.messageDigest !== messageDigest) return "WRONG_MESSAGE";
  if (indexes.size !== said.commitments.length || indexes.size < threshold) return "WRONG_SIGNERS";
  return said.commitments.some((each) => isOwn(own, each)) ? undefined : "WRONG_SIGNERS";
};

/**
 * Signs what a session was opened for, once; left is why not. Either way its nonces are gone afterwards: whoever sends
 * a wrong package begins anew, and nobody is left to wonder what a seed has been shown.
 *
 * The consent is part of this step's transaction; the share must not leave before that is flushed.
 */
export const signPackage = (
  step: Step,
  coordinator: PeerId,
  said: SaidPackage,
): Either.Either<SignatureShare, Refusal> => {
  const key = sessionKey(coordinator, said.sessionId);
  const session = step.slice(signings).sessions.get(key);
  if (session === undefined) return Either.left("SESSION_UNKNOWN");
  step.editIn(signings, "sessions").delete(key);
  const { context, membership, self } = step;
  const { request, claims, generation: agreed } = session;
  // Judged once more: a certificate, a seal or the time may have come in between.
  const permission = keyPermission(request.keyId, "sign");
  const bearer = codeOf(authorize(context, { _tag: "Verified", claims }, [permission]));
  if (Either.isLeft(bearer)) return Either.left(bearer.left);
  if (generationHere(step, request.keyId) !== agreed) return Either.left("GENERATION_AHEAD");
  const judged = codeOf(signable(step, request));
  if (Either.isLeft(judged)) return Either.left(judged.left);
  const { generation, suite, message } = judged.right;
  const fault = packageFault(session, generation.group.threshold, said) ?? consentFault(step, session);
  if (fault !== undefined) return Either.left(fault);
  const secret = heldShare(context, membership, self, generation);
  if (secret === undefined || suite.shared === undefined) return Either.left("SHARE_MISSING");
  const held = { key: groupKeyOf(generation), share: { index: session.commitments.index, secret } };
  const signed = suite.shared.sign(session.seed, held, said.commitments.map(elementsOf), message);
  secret.wipe();
  if (Either.isLeft(signed)) return Either.left("WRONG_SIGNERS");
  consent(step, session);
  const { keyId } = request;
  const packageDigest = packageDigestOf(context.crypto, said);
  remember(step, key, { coordinator, keyId, generation: agreed, packageDigest, share: signed.right });
  return Either.right(signed.right);
};

/** The type is the encoding; what is none the scheme refuses. */
export const elementsOf = ({ index, hiding, binding }: SaidPackage["commitments"][number]): NonceCommitments => ({
  index,
  hiding: hiding as Element,
  binding: binding as Element,
});

/** Of the coordinator with the most the oldest goes: none has another's copies find nothing by many of its own. */
const remember = (step: Step, key: string, done: Spent): void => {
  const spent = step.editIn(signings, "spent");
  spent.set(key, done);
  if (spent.size <= SPENT_KEPT) return;
  const counts = new Map<PeerId, number>();
  for (const { coordinator } of spent.values()) counts.set(coordinator, (counts.get(coordinator) ?? 0) + 1);
  const most = Math.max(...counts.values());
  for (const [each, { coordinator }] of spent) if (counts.get(coordinator) === most) return void spent.delete(each);
};

/** The same share for another copy of its package, while the generation is active: of a destroyed one nothing leaves. */
const again = (step: Step, done: Spent, said: SaidPackage): Either.Either<SignatureShare, Refusal> => {
  if (done.packageDigest !== packageDigestOf(step.context.crypto, said)) return Either.left("SESSION_TAKEN");
  const key = keyRows(step.view).get("custodyKeys", done.keyId);
  const isActive = key?.status === "ACTIVE" && key.generation === done.generation;
  return isActive ? Either.right(done.share) : Either.left("GENERATION_AHEAD");
};

/** Signs every package that fits its session, in one transaction, and answers copies of those signed before. */
export const onPackage = (step: Step, from: PeerId, { items }: SignMessageOf<"Sign.Package">): void => {
  const shares: Array<{ readonly sessionId: Digest } & SignatureShare> = [];
  for (const said of items) {
    const key = sessionKey(from, said.sessionId);
    const done = step.slice(signings).spent.get(key);
    const signed = done === undefined ? signPackage(step, from, said) : again(step, done, said);
    if (Either.isRight(signed)) shares.push({ sessionId: said.sessionId, ...signed.right });
    else refuse(step, from, said.sessionId, signed.left);
  }
  if (shares.length === 0) return;
  const message: SignMessage = { _tag: "Sign.Share", items: shares };
  step.send(from, message);
};

/** Lets sessions go whose coordinator has sent no package in time. */
export const onSessionsTimer = (step: Step): void => {
  for (const [key, { openedAt }] of step.slice(signings).sessions)
    if (step.elapsed - openedAt >= Limits.signingSessionMillis) step.editIn(signings, "sessions").delete(key);
};

/** Called at the end of every event. */
export const armSessions = (step: Step): void => {
  if (step.slice(signings).sessions.size > 0) step.arm(SESSIONS_TIMER, SESSIONS_MILLIS);
};
