/** One attempt of a signature at its coordinator: what is remembered of it, and what is said to its members. */
import type { Digest } from "../../base/Digest.ts";
import type { Answer } from "../../protocol/Answer.ts";
import type { Step } from "../../protocol/Step.ts";
import type { PeerId } from "../../protocol/Topology.ts";
import type { NonceCommitments } from "../../threshold/ThresholdScheme.ts";
import { holderOf } from "../keys/HeldShare.ts";
import { inOrder, isDoubted, noteFailed, noteWithheld } from "./SignerChoice.ts";
import type { SaidPackage, SignMessage, SignMessageOf } from "./SignMessages.ts";
import { IMPOSTER, SILENT } from "./SigningRefusals.ts";
import { type Attempt, type Coordinated, sessionKey, signings } from "./SigningState.ts";

export const keep = (step: Step, coordinated: Coordinated): Coordinated => {
  step.editIn(signings, "requests").set(coordinated.requestId, coordinated);
  return coordinated;
};

/** With its attempt changed. */
export const withAttempt = (step: Step, coordinated: Coordinated, change: Partial<Attempt>): Coordinated =>
  keep(step, { ...coordinated, attempt: { ...coordinated.attempt, ...change } });

/** What its members are asked. */
export const openOf = ({
  attempt,
  evidence,
  signable: { generation },
  occasion,
}: Coordinated): SignMessageOf<"Sign.Open"> => ({
  _tag: "Sign.Open",
  sessionId: attempt.sessionId,
  evidence,
  generation: generation.generation,
  nonce: occasion.nonce,
  timestamp: occasion.timestamp,
  expiresAt: occasion.expiresAt,
});

/** Whether one that commits may well not sign, as it has not before: this signature, or another one just now. */
const mayWithhold =
  (step: Step, { withheld }: Coordinated) =>
  (peerId: PeerId): boolean =>
    withheld.has(peerId) || isDoubted(step, peerId);

/** Asks others until this many could commit, as far as there are any; whoever may withhold its share counts for nobody. */
export const askMore = (step: Step, coordinated: Coordinated, wanted: number): Coordinated => {
  const { attempt, imposters } = coordinated;
  const isLast = mayWithhold(step, coordinated);
  const open = [...attempt.asked].filter((peerId) => !attempt.refusals.has(peerId) && !isLast(peerId));
  const next = inOrder(step)
    .filter((peerId) => !attempt.asked.has(peerId) && !imposters.includes(peerId))
    .toSorted((left, right) => Number(isLast(left)) - Number(isLast(right)))
    .slice(0, Math.max(0, wanted - open.length));
  if (next.length === 0) return coordinated;
  // Nothing was written for it: it waits for no flush.
  const message: SignMessage = openOf(coordinated);
  step.sendFlushed(message, next);
  return withAttempt(step, coordinated, { asked: new Set([...attempt.asked, ...next]) });
};

/** Nobody is heard in an attempt any more, and the nonces that this peer has made for it are gone. */
export const letGo = (step: Step, { sessionId }: Attempt): void => {
  step.editIn(signings, "bySession").delete(sessionId);
  const own = sessionKey(step.self, sessionId);
  if (step.slice(signings).sessions.has(own)) step.editIn(signings, "sessions").delete(own);
};

/** Answers a request under way, of which nothing stays. */
export const end = (step: Step, { requestId, attempt }: Coordinated, answer: Answer): void => {
  step.editIn(signings, "requests").delete(requestId);
  letGo(step, attempt);
  step.reply(requestId, answer);
};

/** The request whose present attempt has this session, while it is open for answers of this member. */
export const requestOf = (step: Step, from: PeerId, sessionId: Digest): Coordinated | undefined => {
  const { bySession, requests } = step.slice(signings);
  const coordinated = requests.get(bySession.get(sessionId) ?? "");
  return coordinated?.attempt.asked.has(from) === true ? coordinated : undefined;
};

/** Names members whose word did not hold. */
export const withImposters = (step: Step, coordinated: Coordinated, indexes: ReadonlyArray<number>): Coordinated => {
  const wrong = indexes.flatMap((index) => holderOf(step.membership, index) ?? []);
  for (const peerId of wrong) noteWithheld(step, peerId);
  return keep(step, { ...coordinated, imposters: [...new Set([...coordinated.imposters, ...wrong])] });
};

/** Remembers of chosen ones that they gave no share, and why. */
export const withWithheld = (step: Step, coordinated: Coordinated, from: ReadonlyArray<PeerId>): Coordinated => {
  const { attempt, withheld } = coordinated;
  for (const peerId of from) noteWithheld(step, peerId);
  const reasons = from.map((peerId) => [peerId, attempt.refusals.get(peerId) ?? SILENT] as const);
  return keep(step, { ...coordinated, withheld: new Map([...withheld, ...reasons]) });
};

/**
 * Who signs, once enough have committed. Whoever may withhold its share does only where the others are too few, and these
 * are waited for: one that lies may well be the fastest, and an honest one that was just restarted may be the only one.
 *
 * @param patience for so many milliseconds
 */
export const signersOf = (
  step: Step,
  coordinated: Coordinated,
  patience: number,
): ReadonlyArray<PeerId> | undefined => {
  const { attempt, imposters, signable } = coordinated;
  const isLast = mayWithhold(step, coordinated);
  const { threshold } = signable.generation.group;
  const committed = [...attempt.commitments.keys()];
  const good = committed.filter((peerId) => !isLast(peerId));
  if (good.length >= threshold) return good.slice(0, threshold);
  if (committed.length < threshold) return undefined;
  const isAwaited = (peerId: PeerId): boolean =>
    !attempt.commitments.has(peerId) && !attempt.refusals.has(peerId) && !imposters.includes(peerId) && !isLast(peerId);
  if (step.elapsed - attempt.startedAt < patience && step.others.some(isAwaited)) return undefined;
  return [...good, ...committed.filter(isLast)].slice(0, threshold);
};

/** Why each member that counts has not signed, as far as it was asked. */
export const codesOf = (
  { membership }: Step,
  { attempt, imposters, withheld, signable: { generation } }: Coordinated,
): ReadonlyMap<PeerId, string> => {
  // Where one has refused its package, others had no time to answer.
  const isCutShort = attempt.chosen.some((peerId) => attempt.refusals.has(peerId));
  const codes = new Map<PeerId, string>();
  for (const { index } of generation.group.verifyingShares) {
    const peerId = holderOf(membership, index);
    if (peerId === undefined || attempt.shares.has(peerId)) continue;
    const isChosen = attempt.chosen.includes(peerId);
    const isSilent = attempt.asked.has(peerId) && !isCutShort && (isChosen || !attempt.commitments.has(peerId));
    const code = attempt.refusals.get(peerId) ?? (isSilent ? SILENT : withheld.get(peerId));
    if (imposters.includes(peerId)) codes.set(peerId, IMPOSTER);
    else if (code !== undefined) codes.set(peerId, code);
  }
  return codes;
};

/** Those of the chosen signers. */
export const commitmentsOf = ({ chosen, commitments }: Attempt): ReadonlyArray<NonceCommitments> =>
  chosen.flatMap((peerId) => commitments.get(peerId) ?? []);

export const packageOf = ({ attempt, signable: { messageDigest } }: Coordinated): SaidPackage => ({
  sessionId: attempt.sessionId,
  commitments: commitmentsOf(attempt),
  messageDigest,
});

/** Before this peer's own consent is flushed: nothing of it is in there. */
export const tell = (step: Step, peerId: PeerId, items: ReadonlyArray<SaidPackage>): void => {
  const most = step.capacities.proposalsPerMessage;
  for (let from = 0; from < items.length; from += most) {
    const message: SignMessage = { _tag: "Sign.Package", items: items.slice(from, from + most) };
    step.sendFlushed(message, [peerId]);
  }
};

/** Who has not answered what it was asked last. */
export const silentIn = (step: Step, { attempt }: Coordinated): ReadonlyArray<PeerId> => {
  const [of, heard] =
    attempt.packagedAt === undefined ? [attempt.asked, attempt.commitments] : [attempt.chosen, attempt.shares];
  return [...of].filter((peerId) => peerId !== step.self && !heard.has(peerId) && !attempt.refusals.has(peerId));
};

/** A message may have been lost. */
export const askAgain = (step: Step, coordinated: Coordinated, silent: ReadonlyArray<PeerId>): void => {
  const isOpen = coordinated.attempt.packagedAt === undefined;
  for (const peerId of silent) (isOpen ? noteFailed : noteWithheld)(step, peerId);
  if (isOpen) {
    const open: SignMessage = openOf(coordinated);
    step.sendFlushed(open, silent);
  } else for (const peerId of silent) tell(step, peerId, [packageOf(coordinated)]);
  withAttempt(step, coordinated, { askedAt: step.elapsed });
};
