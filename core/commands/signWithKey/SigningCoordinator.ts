/**
 * The coordinator of a signature: the peer that its caller asked. It decides nothing for the others and learns nothing
 * secret; whatever it does wrong costs an attempt.
 */
import { Either } from "effect";
import { authorize } from "../../auth/Authorization.ts";
import { copyOfMap, withEntry } from "../../base/Copies.ts";
import type { Digest } from "../../base/Digest.ts";
import { Limits } from "../../base/Limits.ts";
import type { Rejection } from "../../base/Rejection.ts";
import { requestLineOf } from "../../protocol/Forward.ts";
import type { Served } from "../../protocol/Module.ts";
import { notReadyReason } from "../../protocol/Readiness.ts";
import type { Step } from "../../protocol/Step.ts";
import { freshNonce } from "../../protocol/Nonces.ts";
import type { PeerId } from "../../protocol/Topology.ts";
import type { Scalar, SignatureShare } from "../../threshold/ThresholdScheme.ts";
import type { KeyAnswer } from "../keys/Answers.ts";
import { groupKeyOf, isSolo, shareIndexOf } from "../keys/HeldShare.ts";
import { keyIdIn, keyPermission } from "../keys/KeyId.ts";
import {
  askAgain,
  askMore,
  codesOf,
  commitmentsOf,
  end,
  keep,
  letGo,
  packageOf,
  requestOf,
  signersOf,
  silentIn,
  tell,
  withAttempt,
  withImposters,
  withWithheld,
} from "./Attempts.ts";
import { type Occasion, envelopeOf, operationDigest } from "./Envelope.ts";
import { commitTo, elementsOf, signPackage } from "./Signer.ts";
import { enterLine, leaveLine, turnAwayLate } from "./SigningLine.ts";
import { noteCommitted, noteFailed, noteServed, usualWait } from "./SignerChoice.ts";
import { PACKAGES, type SaidPackage, type SignMessageOf } from "./SignMessages.ts";
import { IMPOSTER, isLasting, lastingRefusal, notHere, tooFew } from "./SigningRefusals.ts";
import { carriedBody, readSigning } from "./SigningRequest.ts";
import { signable, type Signable } from "./Signable.ts";
import { type Attempt, type Coordinated, signings, type Wanted } from "./SigningState.ts";
import { signSolo } from "./SoloSigning.ts";

export const ATTEMPTS_TIMER = "Sign.attempts";

/** How often requests under way are looked at. */
const TICK_MILLIS = 50;
/** How long the first ones may take at least to commit before all others are asked, too. */
const FIRST_MILLIS = 150;
/** What was sent to a member that has not answered is sent again. */
const AGAIN_MILLIS = 500;
/** The part of an attempt in which others may still commit before one that withheld a share is chosen again. */
const FOR_OTHERS = 1 / 3;
/** The part of an attempt that those who are chosen have at least to sign, as far as its caller waits so long. */
const TO_SIGN = 1 / 3;
/** From the beginning of each attempt that too many have refused to its end: most reasons pass within a second. */
const REFUSED_MILLIS = [300, 1_200, 300] as const;
/** While some package is this young and unanswered, others wait for the next, so that members flush for many at once. */
const ROUND_MILLIS = 25;
const reject = (step: Step, requestId: string, rejected: Rejection): void =>
  step.reply(requestId, { _tag: "Rejected", rejection: rejected });

/** A caller asks for a signature. */
export const acceptSigning = (step: Step, { requestId, call, token, claims }: Served): void => {
  if (step.mode !== "active" && step.mode !== "joining")
    return reject(step, requestId, notHere(step.self, notReadyReason(step) ?? ""));
  const read = readSigning(keyIdIn(call.path, "sign") ?? "", call.rawBody);
  if (Either.isLeft(read)) return reject(step, requestId, read.left);
  const request = read.right;
  const judged = signable(step, request);
  if (Either.isLeft(judged)) return reject(step, requestId, judged.left);
  const rawBody = carriedBody(call.rawBody, request);
  const occasion: Occasion = {
    nonce: freshNonce(step, `signing operation ${requestId}`),
    timestamp: step.now,
    expiresAt: step.now + Limits.operationMillis,
  };
  const wanted = {
    requestId,
    request,
    claims,
    evidence: { path: call.path, rawBody, token },
    // What members judge is what they consent to, in the audit of each.
    line: requestLineOf({ ...call, rawBody }, step.context.crypto),
    occasion,
    arrivedAt: step.elapsed,
    imposters: [],
    withheld: new Map(),
  };
  if (isSolo(judged.right.generation))
    return signSolo(step, wanted, judged.right, operationOf(step, wanted, judged.right));
  enterLine(step, wanted);
};

/** Begins to sign for those whose turn it is. Called at the end of every event. */
export const beginNext = (step: Step): void => {
  for (let next = leaveLine(step); next.length > 0; next = leaveLine(step))
    for (const wanted of next) {
      const judged = stillSignable(step, wanted);
      if (Either.isLeft(judged)) reject(step, wanted.requestId, judged.left);
      else begin(step, wanted, judged.right, 1);
    }
};

/** Judged once more, as at every signer: the token may be over by now, or a certificate has come in between. */
const stillSignable = (step: Step, { request, claims }: Wanted): Either.Either<Signable, Rejection> =>
  Either.flatMap(authorize(step.context, { _tag: "Verified", claims }, [keyPermission(request.keyId, "sign")]), () =>
    signable(step, request),
  );

/** Whether nobody has been told to sign for it yet. */
const isOpen = ({ attempt }: Coordinated): boolean => attempt.packagedAt === undefined;

/** The operation of a request under the key as it is now. */
export const operationOf = (
  step: Step,
  { request, claims, occasion }: Pick<Coordinated, "request" | "claims" | "occasion">,
  { generation }: Signable,
): Digest => {
  const { clusterId } = step.membership.topology;
  const envelope = envelopeOf({ clusterId, owner: claims, generation, request, occasion });
  return operationDigest(step.context.crypto, envelope);
};

/** Begins an attempt: this peer commits at once where it can, and as many others are asked as it takes. */
const begin = (step: Step, wanted: Wanted, judged: Signable, no: number): void => {
  const sessionId = freshNonce(step, `signing session ${wanted.requestId} ${no}`);
  const attempt: Attempt = {
    no,
    sessionId,
    startedAt: step.elapsed,
    askedAt: step.elapsed,
    asked: new Set(),
    commitments: new Map(),
    refusals: new Map(),
    packagedAt: undefined,
    chosen: [],
    shares: new Map(),
  };
  const operation = operationOf(step, wanted, judged);
  let coordinated = keep(step, { ...wanted, operation, signable: judged, attempt });
  step.editIn(signings, "bySession").set(sessionId, wanted.requestId);
  coordinated = openHere(step, coordinated);
  askMore(step, coordinated, judged.generation.group.threshold);
};

/** This peer as the first signer of its own attempt: what it has judged for its caller it does not judge again. */
const openHere = (step: Step, coordinated: Coordinated): Coordinated => {
  const { attempt, imposters } = coordinated;
  const opened = imposters.includes(step.self)
    ? Either.left(IMPOSTER)
    : commitTo(step, step.self, attempt.sessionId, coordinated);
  const asked = new Set(attempt.asked).add(step.self);
  return Either.isRight(opened)
    ? withAttempt(step, coordinated, { asked, commitments: withEntry(attempt.commitments, step.self, opened.right) })
    : withAttempt(step, coordinated, { asked, refusals: withEntry(attempt.refusals, step.self, opened.left) });
};

/** A member would sign; the first ones, as many as it takes, will. */
export const onCommit = (step: Step, from: PeerId, { sessionId, commitments }: SignMessageOf<"Sign.Commit">): void => {
  const coordinated = requestOf(step, from, sessionId);
  if (coordinated === undefined) return;
  const { attempt } = coordinated;
  // One that has refused is not taken at the next word: others were asked instead.
  if (attempt.commitments.has(from) || attempt.refusals.has(from)) return;
  noteCommitted(step, from, step.elapsed - attempt.startedAt);
  if (attempt.chosen.length > 0 || commitments.index !== shareIndexOf(step.membership, from)) return;
  withAttempt(step, coordinated, { commitments: withEntry(attempt.commitments, from, elementsOf(commitments)) });
  sendPackages(step);
};

/** A member does not sign, or not with these. */
export const onRefused = (step: Step, from: PeerId, { sessionId, code }: SignMessageOf<"Sign.Refused">): void => {
  const coordinated = requestOf(step, from, sessionId);
  if (coordinated === undefined) return;
  const { attempt, signable: judged } = coordinated;
  const isChosen = attempt.chosen.includes(from);
  if (attempt.shares.has(from) || (attempt.packagedAt !== undefined && !isChosen)) return;
  const refusals = withEntry(attempt.refusals, from, code);
  if (isChosen) return failPackage(step, withAttempt(step, coordinated, { refusals }), from);
  const commitments = copyOfMap(attempt.commitments);
  commitments.delete(from);
  const refused = withAttempt(step, coordinated, { refusals, commitments });
  const { generation } = judged;
  const lastingly = lastingRefusal(step.self, refusals, spare(generation));
  if (lastingly !== undefined) return end(step, refused, { _tag: "Rejected", rejection: lastingly });
  if (!isLasting(code)) noteFailed(step, from);
  askMore(step, refused, generation.group.threshold);
};

/** How many members a signature can do without. */
const spare = ({ group }: Signable["generation"]): number => group.verifyingShares.length - group.threshold;

/**
 * A chosen one does not sign: perhaps because of commitments that are none; whose they are shows here. Or it was restarted
 * in between, or has another generation by now, or lies: another one is to sign, if there is one.
 */
const failPackage = (step: Step, coordinated: Coordinated, from: PeerId): void => {
  const { signable: judged, attempt } = coordinated;
  const said = commitmentsOf(attempt);
  const looked = judged.suite.shared?.aggregate(groupKeyOf(judged.generation), said, judged.message, []);
  // Without shares all are blamed for theirs, unless some commitments are none.
  const wrong = looked !== undefined && Either.isLeft(looked) ? looked.left.indexes : [];
  const isExplained = wrong.length > 0 && wrong.length < said.length;
  fail(step, isExplained ? withImposters(step, coordinated, wrong) : withWithheld(step, coordinated, [from]));
};

/** Who is to sign, where that may begin. */
const readySigners = (step: Step, coordinated: Coordinated): ReadonlyArray<PeerId> | undefined =>
  isOpen(coordinated) ? signersOf(step, coordinated, attemptMillis(step, coordinated) * FOR_OTHERS) : undefined;

/**
 * Tells signers of each other, for all requests that are ready. While an earlier package is young and unanswered they
 * wait: then what has come together meanwhile costs each member one flush.
 */
const sendPackages = (step: Step): void => {
  const { requests } = step.slice(signings);
  const ready = [...requests.values()]
    .flatMap((coordinated) => {
      const signers = readySigners(step, coordinated);
      return signers === undefined ? [] : [{ coordinated, signers }];
    })
    .slice(0, PACKAGES);
  if (ready.length === 0) return;
  for (const { attempt } of requests.values())
    if (attempt.packagedAt !== undefined && step.elapsed - attempt.packagedAt < ROUND_MILLIS)
      return step.arm(ATTEMPTS_TIMER, ROUND_MILLIS);
  const items = new Map<PeerId, Array<SaidPackage>>();
  const chosen = ready.map(({ coordinated, signers }) =>
    withAttempt(step, coordinated, { chosen: signers, packagedAt: step.elapsed, askedAt: step.elapsed }),
  );
  for (const coordinated of chosen)
    for (const peerId of coordinated.attempt.chosen)
      if (peerId !== step.self) items.set(peerId, [...(items.get(peerId) ?? []), packageOf(coordinated)]);
  for (const [peerId, of] of items) tell(step, peerId, of);
  for (const coordinated of chosen) if (coordinated.attempt.chosen.includes(step.self)) signHere(step, coordinated);
};

/** This peer's own share; whoever sees it next does so in a later step, after the flush of its consent. */
const signHere = (step: Step, coordinated: Coordinated): void => {
  const signed = signPackage(step, step.self, packageOf(coordinated));
  if (Either.isRight(signed)) addShare(step, coordinated, step.self, signed.right);
  else {
    const refusals = withEntry(coordinated.attempt.refusals, step.self, signed.left);
    failPackage(step, withAttempt(step, coordinated, { refusals }), step.self);
  }
};

export const onShare = (step: Step, from: PeerId, { items }: SignMessageOf<"Sign.Share">): void => {
  const { requests } = step.slice(signings);
  for (const { sessionId, index, scalar } of items) {
    const coordinated = requestOf(step, from, sessionId);
    if (coordinated === undefined || index !== shareIndexOf(step.membership, from)) continue;
    // The type is the encoding; what is none the scheme refuses.
    addShare(step, coordinated, from, { index, scalar: scalar as Scalar });
  }
  // What was waiting for these may go now.
  if (step.slice(signings).requests !== requests) sendPackages(step);
};

const addShare = (step: Step, coordinated: Coordinated, from: PeerId, share: SignatureShare): void => {
  const { attempt } = coordinated;
  if (!attempt.chosen.includes(from) || attempt.shares.has(from)) return;
  noteServed(step, from, attempt.packagedAt ?? 0);
  const shares = withEntry(attempt.shares, from, share);
  const added = withAttempt(step, coordinated, { shares });
  if (shares.size === attempt.chosen.length) complete(step, added);
};

/** The signature, verified by the scheme; or who is to blame that there is none. */
const complete = (step: Step, coordinated: Coordinated): void => {
  const { signable: judged, attempt, imposters, request, operation } = coordinated;
  const { suite, generation, message } = judged;
  const commitments = commitmentsOf(attempt);
  const signed = suite.shared?.aggregate(groupKeyOf(generation), commitments, message, [...attempt.shares.values()]);
  if (signed === undefined) return fail(step, coordinated);
  if (Either.isLeft(signed)) return fail(step, withImposters(step, coordinated, signed.left.indexes));
  const answer: KeyAnswer = {
    _tag: "Signed",
    type: request.type,
    signature: signed.right,
    generation: generation.generation,
    imposters,
    operationId: operation,
  };
  end(step, coordinated, answer);
};

/** Ends an attempt: another one begins, with other nonces and, where it can, other members; or the caller is told. */
const fail = (step: Step, coordinated: Coordinated): void => {
  const { attempt, signable: judged } = coordinated;
  const codes = codesOf(step, coordinated);
  const { generation } = judged;
  const lastingly = lastingRefusal(step.self, codes, spare(generation));
  if (lastingly !== undefined) return end(step, coordinated, { _tag: "Rejected", rejection: lastingly });
  // After a pause nobody waits for it any more: another attempt would have members consent for nothing.
  if (attempt.no >= Limits.signingAttempts || step.elapsed >= givenUpAt(step, coordinated))
    return end(step, coordinated, {
      _tag: "Rejected",
      rejection: tooFew(step.self, codes, generation.group.threshold),
    });
  letGo(step, attempt);
  const again = stillSignable(step, coordinated);
  if (Either.isLeft(again)) return end(step, coordinated, { _tag: "Rejected", rejection: again.left });
  begin(step, coordinated, again.right, attempt.no + 1);
};

/** When a request is given up, in monotonic milliseconds: a little before its caller is answered anyway. */
const givenUpAt = (step: Step, { arrivedAt }: Coordinated): number =>
  arrivedAt + (step.context.settings.answerMillis * 9) / 10;

/** An attempt has its part of the time that a caller is promised, or of what is left of it after the line. */
const attemptMillis = (step: Step, coordinated: Coordinated): number => {
  const { no, startedAt } = coordinated.attempt;
  const left = givenUpAt(step, coordinated) - startedAt;
  const usual = (step.context.settings.answerMillis * 9) / (10 * Limits.signingAttempts);
  return Math.floor(Math.min(usual, left / (Limits.signingAttempts - no + 1)));
};

/**
 * Whether the chosen ones were told of each other so lately that their shares may well be on their way. One whose word
 * made the number full at the end of the attempt would else have the others be taken for silent.
 */
const isJustTold = (step: Step, coordinated: Coordinated, at: number): boolean => {
  const { packagedAt } = coordinated.attempt;
  const patience = Math.min(AGAIN_MILLIS, attemptMillis(step, coordinated) * TO_SIGN);
  return packagedAt !== undefined && at - packagedAt < patience;
};

/**
 * Goes on where members are silent, by the time at which the timer was due: what has come since, while this peer was held
 * up by a flush, is still to be heard.
 */
export const onAttemptsTimer = (step: Step): void => {
  turnAwayLate(step);
  const at = step.dueAt(ATTEMPTS_TIMER);
  for (const coordinated of step.slice(signings).requests.values()) goOnWith(step, coordinated, at);
  sendPackages(step);
};

/** Called at the end of every event. */
export const armAttempts = (step: Step): void => {
  const { requests, waiting } = step.slice(signings);
  if (requests.size + waiting.size > 0) step.arm(ATTEMPTS_TIMER, TICK_MILLIS);
};

const goOnWith = (step: Step, begun: Coordinated, at: number): void => {
  let coordinated = begun;
  const { attempt, signable: judged, imposters } = coordinated;
  const age = at - attempt.startedAt;
  const isYoung = isJustTold(step, coordinated, at);
  if (step.elapsed >= givenUpAt(step, coordinated) || (age >= attemptMillis(step, coordinated) && !isYoung)) {
    const silent = attempt.chosen.filter((peerId) => !isYoung && !attempt.shares.has(peerId));
    return fail(step, withWithheld(step, coordinated, silent));
  }
  const { length: total } = judged.generation.group.verifyingShares;
  const isHopeless =
    attempt.packagedAt === undefined &&
    new Set([...attempt.refusals.keys(), ...imposters]).size > total - judged.generation.group.threshold;
  if (isHopeless) return age >= (REFUSED_MILLIS[attempt.no - 1] ?? 0) ? fail(step, coordinated) : undefined;
  const silent = silentIn(step, coordinated);
  if (
    attempt.packagedAt === undefined &&
    age >= Math.min(AGAIN_MILLIS, Math.max(FIRST_MILLIS, usualWait(step, silent)))
  ) {
    for (const peerId of silent) noteFailed(step, peerId);
    coordinated = askMore(step, coordinated, total);
  }
  if (at - attempt.askedAt >= AGAIN_MILLIS) askAgain(step, coordinated, silent);
};

/** Where this peer can take part no more, its callers are told and its nonces are gone. Called at the end of every event. */
export const forgetAll = (step: Step): void => {
  const { waiting, requests, sessions, spent } = step.slice(signings);
  if (waiting.size + requests.size + sessions.size + spent.size === 0) return;
  const refusal = notHere(step.self, notReadyReason(step) ?? "");
  for (const requestId of waiting.keys()) reject(step, requestId, refusal);
  step.editIn(signings, "waiting").clear();
  for (const coordinated of requests.values()) end(step, coordinated, { _tag: "Rejected", rejection: refusal });
  step.editIn(signings, "sessions").clear();
  step.editIn(signings, "spent").clear();
};
