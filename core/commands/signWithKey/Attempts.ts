/** One attempt of a signature at its coordinator: what is remembered of it, and what is said to its members. */
import type { Digest } from "../../base/Digest.ts";
import type { Step } from "../../protocol/Step.ts";
import type { PeerId } from "../../protocol/Topology.ts";
import type { NonceCommitments } from "../../threshold/ThresholdScheme.ts";
import { holderOf } from "../keys/HeldShare.ts";
import { inOrder, noteFailed } from "./SignerChoice.ts";
import type { SaidPackage, SignMessage, SignMessageOf } from "./SignMessages.ts";
import { type Attempt, type Coordinated, signings } from "./SigningState.ts";

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

/** Asks others until this many could commit, as far as there are any. */
export const askMore = (step: Step, coordinated: Coordinated, wanted: number): Coordinated => {
  const { attempt, imposters } = coordinated;
  const open = attempt.asked.size - attempt.refusals.size;
  const next = inOrder(step)
    .filter((peerId) => !attempt.asked.has(peerId) && !imposters.includes(peerId))
    .slice(0, Math.max(0, wanted - open));
  if (next.length === 0) return coordinated;
  // Nothing was written for it: it waits for no flush.
  const message: SignMessage = openOf(coordinated);
  step.sendFlushed(message, next);
  return withAttempt(step, coordinated, { asked: new Set([...attempt.asked, ...next]) });
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
  for (const peerId of wrong) noteFailed(step, peerId);
  return keep(step, { ...coordinated, imposters: [...new Set([...coordinated.imposters, ...wrong])] });
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
  for (const peerId of silent) noteFailed(step, peerId);
  if (coordinated.attempt.packagedAt === undefined) {
    const open: SignMessage = openOf(coordinated);
    step.sendFlushed(open, silent);
  } else for (const peerId of silent) tell(step, peerId, [packageOf(coordinated)]);
  withAttempt(step, coordinated, { askedAt: step.elapsed });
};
