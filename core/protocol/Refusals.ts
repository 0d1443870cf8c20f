/**
 * Refusing: a durable, final vote that no certificate of a proposal shall ever
 * exist. It binds the proposal's slot if nothing else does, takes no lock, and
 * stays until the votes of all members turn it into an outcome (protocol.md 3.1).
 */
import type { Round } from "./Undecided.ts";
import { type Rejection, rejection, type RejectionCode } from "../base/Rejection.ts";
import type { Step } from "./Step.ts";
import { answerRejected } from "./Answers.ts";
import { isSuperseded } from "./Incarnations.ts";
import { recordRefused, type Refusing } from "./Lifecycle.ts";
import { resolveDelay } from "./Preparations.ts";
import type { Proposal } from "./Proposal.ts";
import { signEach } from "./SignEach.ts";
import type { SignedStatement } from "./Statement.ts";
import type { PeerId } from "./Topology.ts";

/** Why a peer without record of a proposal refuses it for good when asked; undefined while it may still vote. */
export const finalCode = (step: Step, proposal: Proposal, demandedBy: PeerId | false): string | undefined => {
  if (demandedBy === proposal.writer) return "ABANDONED";
  if (isSuperseded(step, proposal)) return "WRONG_INCARNATION";
  return step.now > proposal.expiresAt ? "EXPIRED" : undefined;
};

/** Signs one refusal for each proposal, records them, and hands them on in order. */
export const refuse = (
  step: Step,
  refusing: ReadonlyArray<Refusing>,
  run: (refusals: ReadonlyArray<SignedStatement>) => void,
): void =>
  signEach(
    step,
    refusing,
    ({ id, proposal, code }) => ({ kind: "REFUSAL", proposalId: id, seq: proposal.seq, detail: code }),
    (entry, refusal) => {
      step.noteSeen(entry.writerReceipt);
      recordRefused(step, entry, refusal);
    },
    (refusals) => {
      step.arm("resolve", resolveDelay(step));
      run(refusals);
    },
  );

/** Codes of checks, of any command, that are passed on to the caller. */
const SPEAKING: ReadonlyArray<RejectionCode> = ["UNAUTHENTICATED", "ACCESS_DENIED", "PREPARATION_CAPACITY"];

/**
 * Answers the callers of a round that was refused and has been aborted. The creator is told; another member's opinion
 * may change a moment later, so no duplicate is judged by it again. Coalesced requests queue again and are judged by
 * themselves.
 */
export const answerRefused = (step: Step, { creator, coalesced, refusal }: Round, proposal: Proposal): void => {
  if (refusal === undefined) return;
  const { header, statement } = refusal;
  const command = step.command(proposal);
  const { ref } = command.lineageOf(proposal.effects);
  const said = refusalRejection(header.peerId, statement.detail, ref, command.speaking);
  if (creator !== undefined) answerRejected(step, creator, said, "only if remembered");
  // The fault of the creator's request says nothing about theirs.
  if (coalesced.length > 0) step.draft("requests").queue = [...coalesced, ...step.state.requests.queue];
};

/** The refusing check's own code if it has one; otherwise the rejection names the member and the check. */
export const refusalRejection = (
  peerId: PeerId,
  check: string,
  ref: string | undefined,
  speaking: ReadonlyArray<RejectionCode>,
): Rejection => {
  const code = [...SPEAKING, ...speaking].find((each) => each === check);
  const more = { members: [{ peerId, reason: check }], ref };
  return code === undefined
    ? rejection(
        "APPROVER_REPLICATION_UNAVAILABLE",
        `Peer ${peerId} refused the change at its check ${check}.`,
        "Repeat the request later.",
        more,
      )
    : rejection(code, `Peer ${peerId} refused the change.`, "See the code.", more);
};
