/**
 * Collecting: receipts and refusals from anybody about proposals prepared here.
 * Whoever holds every member's receipt commits, writer or not.
 */
import type { Digest } from "../Digest.ts";
import type { Preparation } from "../PeerState.ts";
import { type Rejection, rejection, type RejectionCode } from "../Rejection.ts";
import type { Turn } from "../Turn.ts";
import { answerRejected } from "./Answers.ts";
import { isReceiptFor } from "./Certificate.ts";
import { busy } from "./Coordinator.ts";
import { commitCompleted } from "./Delivery.ts";
import { ownFault } from "./Readiness.ts";
import { isAuthentic, type SignedStatement, signerOf } from "./Statement.ts";
import type { PeerId } from "./Topology.ts";

export const onVotes = (turn: Turn, statements: ReadonlyArray<SignedStatement>): void => {
  if (ownFault(turn) !== undefined) return;
  const touched: Array<Digest> = [];
  for (const signed of statements) {
    const preparation = turn.state.preparations.get(signed.statement.proposalId);
    if (preparation === undefined) continue;
    if (signed.statement.kind === "RECEIPT" && countReceipt(turn, preparation, signed)) touched.push(preparation.id);
    if (signed.statement.kind === "REFUSAL") noteRefusal(turn, preparation, signed);
  }
  commitCompleted(turn, touched);
};

const countReceipt = (turn: Turn, preparation: Preparation, signed: SignedStatement): boolean => {
  const { id, proposal, receipts } = preparation;
  if (receipts.has(signerOf(signed))) return false;
  if (!isReceiptFor(turn.context.crypto, turn.membership, id, proposal, signed)) return false;
  turn.noteSeen(signed.header);
  turn.edit("preparations").set(id, { ...preparation, receipts: new Map(receipts).set(signerOf(signed), signed) });
  return true;
};

const noteRefusal = (turn: Turn, preparation: Preparation, signed: SignedStatement): void => {
  const { id, proposal, refusal } = preparation;
  const { statement, header } = signed;
  if (refusal !== undefined || statement.seq !== proposal.seq) return;
  if (header.incarnation !== turn.recordedIncarnation(header.peerId)) return;
  if (!isAuthentic(turn.context.crypto, turn.membership, signed)) return;
  turn.noteSeen(header);
  turn.edit("preparations").set(id, { ...preparation, refusal: signed });
  turn.edit("collecting").delete(id);
  const round = turn.state.rounds.get(id);
  if (round === undefined) return;
  turn.edit("rounds").delete(id);
  const { ref } = proposal.effects;
  if (round.creator !== undefined)
    answerRejected(turn, round.creator, refusalRejection(header.peerId, statement.detail, ref));
  // What was wrong with the creator's request says nothing about theirs.
  for (const joiner of round.joiners)
    answerRejected(turn, joiner, busy("The preparation it joined was refused and is not settled yet.", ref, true));
};

/** The codes that a member's checks can end in and that speak to the caller. */
const speaking: ReadonlyArray<RejectionCode> = [
  "UNAUTHENTICATED",
  "ACCESS_DENIED",
  "INVALID_REQUEST_BODY",
  "INVALID_METADATA",
  "INVALID_PUBLIC_KEY",
  "UNSUPPORTED_ALGORITHM",
  "KEY_ALREADY_REGISTERED",
  "PREPARATION_CAPACITY",
];

/** The refusing check's own code; where it has none, the member and the check are named. */
const refusalRejection = (peerId: PeerId, check: string, ref: string): Rejection => {
  const code = speaking.find((each) => each === check);
  const more = { members: [{ peerId, reason: check }], ref };
  return code === undefined
    ? rejection(
        "APPROVER_REPLICATION_UNAVAILABLE",
        `Peer ${peerId} refused the registration at its check ${check}.`,
        "Repeat the request later; the preparation stays locked until it is settled.",
        more,
      )
    : rejection(
        code,
        `Peer ${peerId} refused the registration.`,
        "See the code; the preparation stays locked until it is settled.",
        more,
      );
};
