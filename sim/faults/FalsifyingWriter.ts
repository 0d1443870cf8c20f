/**
 * A writer that proposes honestly and tells entry peers of false outcomes: it calls a change done that only some
 * members have applied, or another's, and calls a change not done that was, in every variant of `Outcome`.
 */
import { absurd } from "effect";
import type { Product } from "../models/Product.ts";
import type { Certificate } from "../../core/protocol/Certificate.ts";
import type { SignedStatement } from "../../core/protocol/Statement.ts";
import type { Message } from "../../core/Message.ts";
import type { Outcome } from "../../core/protocol/Message.ts";
import { callersOf } from "../../core/protocol/Answers.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import { rejection, type RejectionCode } from "../../core/base/Rejection.ts";
import type { Unit } from "../base/Choices.ts";
import { alteredOutcome } from "./Forgery.ts";
import type { Lie, Mishear, Traitor } from "./Traitor.ts";

/** True outcomes that it remembers, to tell others of them. */
const KEPT = 8;
const NOBODY = `mallory@sha256:${"0".repeat(64)}`;

const codes: readonly [RejectionCode, ...ReadonlyArray<RejectionCode>] = [
  "APPROVER_REPLICATION_UNAVAILABLE",
  "ACCESS_DENIED",
  "KEY_ALREADY_REGISTERED",
  "PRECONDITION_FAILED",
  "PREPARATION_CAPACITY",
  "REGISTRATION_COMPLETED",
];

const EVENLY = codes.map(() => 1);

const refIn = (product: Product, outcome: Outcome): string => {
  switch (outcome._tag) {
    case "Confirmed":
      return product.changeOf(outcome.certificate.proposal).ref;
    case "Existing":
      return outcome.ref;
    case "Rejected":
      return outcome.rejection.ref ?? NOBODY;
    case "Exchanged":
      return NOBODY;
    default:
      return absurd(outcome);
  }
};

const refusal = (unit: Unit, outcomeUnknown: boolean): Outcome => ({
  _tag: "Rejected",
  rejection: rejection(unit.named("code", codes[0], codes, EVENLY), "Nothing was done.", "Believe it.", {
    outcomeUnknown,
  }),
});

const lies = ["it is there already", "no", "nobody knows", "what another was told", "with one thing changed"] as const;

/** What it says in place of the truth. */
const falsified = (
  traitor: Traitor,
  unit: Unit,
  outcome: Outcome,
  kept: ReadonlyArray<Outcome>,
): Outcome | undefined => {
  const lie = unit.named("says", "no", lies, [2, 2, 1, 2, 3]);
  switch (lie) {
    case "it is there already":
      return { _tag: "Existing", ref: refIn(traitor.world.product, outcome) };
    case "no":
      return refusal(unit, false);
    case "nobody knows":
      return refusal(unit, true);
    case "what another was told":
      return kept[unit.between("whom", 0, 0, Math.max(0, kept.length - 1), 0, KEPT - 1)];
    case "with one thing changed":
      return alteredOutcome(traitor.world, unit, outcome);
    default:
      return absurd(lie);
  }
};

/** Members that are not to have applied it yet when their entry peer is told that all have. */
const keptBack = (traitor: Traitor, to: PeerId, message: Extract<Message, { readonly _tag: "Commit" }>) => ({
  ...message,
  certificates: message.certificates.filter(
    ({ proposal }) =>
      proposal.entryPeer === to ||
      proposal.entryPeer === proposal.writer ||
      !traitor.next().chance("keeps it back", 400),
  ),
});

/** Tells of outcomes at its will, and of one more often than in truth to callers of the same peer. */
export const falsifyingWriter = (): Lie => {
  const kept: Array<Outcome> = [];
  return (traitor, to, message) => {
    if (message._tag === "Commit" && message.certificates.length > 0) return [keptBack(traitor, to, message)];
    if (message._tag !== "Outcome") return [message];
    const { outcome } = message;
    const unit = traitor.next();
    const isLie = unit.chance("lies", 400);
    const told = isLie ? falsified(traitor, unit, outcome, kept) : outcome;
    kept.unshift(outcome);
    kept.splice(KEPT);
    if (isLie) traitor.world.marks.add("a writer lied about an outcome");
    const also = unit.chance("tells all who ask there", 150)
      ? traitor.heard.flatMap(({ entryPeer, requestId }) =>
          entryPeer === to && requestId !== message.requestId ? { ...message, requestId } : [],
        )
      : [];
    // Mostly the truth follows after all.
    const isCorrected = isLie && unit.chance("tells the truth as well", 500);
    return [...(told === undefined ? [] : [{ ...message, outcome: told }]), ...also, ...(isCorrected ? [message] : [])];
  };
};

/** A certificate with one member's acknowledgement, that again for all others or theirs in the liar's own hand. */
const acknowledged = (
  traitor: Traitor,
  certificate: Certificate,
  ack: SignedStatement,
  isForAll: boolean,
): Outcome => ({
  _tag: "Confirmed",
  certificate,
  acks: certificate.receipts.map(({ header: { peerId } }) =>
    isForAll || peerId === ack.header.peerId
      ? ack
      : { ...ack, ...traitor.signHeader({ header: { ...ack.header, peerId }, signature: ack.signature }) },
  ),
});

/** Answers requests that have just come, and those whose change only their own peer has applied. */
export const hastyAnswers = (): Mishear => (traitor, from: PeerId, message: Message) => {
  const say = (requestId: string, outcome: Outcome): void => {
    traitor.world.marks.add("a writer told of an outcome that was still open");
    traitor.world.mail.utter(traitor.peer, from, { _tag: "Outcome", requestId, outcome });
  };
  if (message._tag === "Forward") {
    const unit = traitor.next();
    if (unit.chance("answers at once", 150))
      say(message.forward.requestId, unit.chance("no", 500) ? refusal(unit, false) : { _tag: "Existing", ref: NOBODY });
  }
  if (message._tag === "CommitAcks")
    for (const ack of message.statements) {
      const { statement } = ack;
      const round = traitor.peer.state?.undecided.rounds.get(statement.proposalId);
      const unit = traitor.next();
      if (round?.certificate === undefined || !unit.chance("answers before all have it", 600)) continue;
      const { ref } = traitor.world.product.changeOf(round.certificate.proposal);
      for (const { entryPeer, requestId } of callersOf(round))
        if (entryPeer === from) {
          const isYes = unit.chance("yes", 700);
          const isSigned = isYes && unit.chance("with signatures of its own", 400);
          const isForAll = isSigned && unit.chance("that one's for all", 500);
          const yes = isSigned
            ? acknowledged(traitor, round.certificate, ack, isForAll)
            : ({ _tag: "Existing", ref } as const);
          say(requestId, isYes ? yes : refusal(unit, false));
        }
    }
  return message;
};
