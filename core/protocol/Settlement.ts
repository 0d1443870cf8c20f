/**
 * What becomes of a proposal when the writer does not say. Members ask each other; answers carry every statement they
 * hold, so scattered votes meet. A peer that then holds all receipts commits, without the writer and without a token
 * that is still valid; a peer that sees a refusal starts the abort (Abort.ts). The writer asks first, then the others
 * by rank; any number may ask at once (protocol.md 4a, 4b).
 */
import type { Digest } from "../base/Digest.ts";
import type { Preparation } from "./Undecided.ts";
import type { Step } from "./Step.ts";
import { isAboutProposal, refusalOf, requestAborts, sendApplied, showProven } from "./Abort.ts";
import { type Decision, decisionOf } from "./Decision.ts";
import { commitCompleted, stableSeq } from "./Delivery.ts";
import { inMessages } from "./Evidence.ts";
import type { MessageOf, PrepareItem, SettleItem } from "./Message.ts";
import { isPresent } from "./Mode.ts";
import { resolveDelay } from "./Preparations.ts";
import { inquire, unappliedAt } from "./Inquiry.ts";
import { proposalId } from "./Proposal.ts";
import { reacknowledge } from "./Reacknowledge.ts";
import { freshNonce } from "./Nonces.ts";
import { recordAsked, type Refusing } from "./Lifecycle.ts";
import { finalCode, refuse } from "./Refusals.ts";
import { quarantineIfForgotten } from "./Rollback.ts";
import type { PeerId } from "./Topology.ts";
import { onVotes } from "./Votes.ts";

const RESOLVE_MAX_MILLIS = 5_000;
/** Messages of proposals asked about in one step; the rest is due again at once. */
const MOST_ASKED = 4;

interface Waiting {
  readonly id: Digest;
  readonly preparedAt: number;
  readonly askedAt: number;
}

/** When an undecided proposal is asked about next: after a delay, then as its age doubles, at last every 5 s. */
const dueAt = (step: Step, { preparedAt, askedAt }: Waiting): number =>
  askedAt + Math.min(Math.max(askedAt - preparedAt, resolveDelay(step)), RESOLVE_MAX_MILLIS);

/** Everything that waits for other members' votes. */
const allWaiting = ({ state }: Step): ReadonlyArray<Waiting> => [
  ...state.undecided.preparations.values(),
  ...state.undecided.refused.values(),
  ...state.undecided.aborting.values(),
];

/** Asks about proposals undecided for a while; where the writer still has the evidence, it sends `Prepare` again. */
export const onResolveTimer = (step: Step): void => {
  const stable = stableSeq(step);
  // In a cluster of two the second holds both receipts once it has prepared; after a restart any member may hold all.
  commitCompleted(step, step.state.undecided.preparations.keys());
  const due = allWaiting(step)
    .filter((each) => dueAt(step, each) <= step.elapsed)
    .slice(0, MOST_ASKED * step.capacities.proposalsPerMessage)
    .map(({ id }) => id);
  for (const id of due) recordAsked(step, id);
  const open = due
    .flatMap((id) => step.state.undecided.preparations.get(id) ?? [])
    .filter((each) => each.refusal === undefined);
  if (step.isWriter) for (const peerId of step.others) prepareAgain(step, peerId, open, stable);
  query(
    step,
    open.filter((each) => step.state.undecided.rounds.get(each.id)?.evidence === undefined),
  );
  const isOpen = new Set(open.map(({ id }) => id));
  requestAborts(
    step,
    due.filter((id) => !isOpen.has(id)),
  );
  const next = allWaiting(step).reduce((first, each) => Math.min(first, dueAt(step, each)), Number.POSITIVE_INFINITY);
  if (next !== Number.POSITIVE_INFINITY) step.arm("resolve", Math.max(1, next - step.elapsed));
};

const prepareAgain = (step: Step, peerId: PeerId, open: ReadonlyArray<Preparation>, stable: number): void => {
  const missing = open.flatMap(({ id, proposal, writerReceipt, receipts }): ReadonlyArray<PrepareItem> => {
    const evidence = step.state.undecided.rounds.get(id)?.evidence;
    return evidence === undefined || receipts.has(peerId) ? [] : [{ proposal, receipt: writerReceipt, evidence }];
  });
  const [items] = inMessages(step.capacities, missing);
  if (items !== undefined) step.send(peerId, { _tag: "Prepare", items, stableSeq: stable });
};

/**
 * Asks all others for the votes they hold. The writer asks only when it has lost the evidence; then no further member
 * can prepare the proposal, so its question demands a final answer.
 */
const query = (step: Step, open: ReadonlyArray<Preparation>): void => {
  const nonce = freshNonce(step, "settlement");
  const { proposalsPerMessage } = step.capacities;
  for (let from = 0; from < open.length; from += proposalsPerMessage) {
    const items = open
      .slice(from, from + proposalsPerMessage)
      .map(({ proposal, writerReceipt }): SettleItem => ({ proposal, receipt: writerReceipt }));
    step.sendAll({ _tag: "SettleQuery", items, demandFinal: step.isWriter, nonce });
  }
};

type AnswerItem = MessageOf<"SettleAnswer">["items"][number];

const UNKNOWN = { state: "UNKNOWN", held: [] } as const;

const answerFor = (step: Step, id: Digest, decision: Decision | undefined): AnswerItem => {
  const preparation = step.state.undecided.preparations.get(id);
  if (preparation !== undefined) {
    const { receipts, votes, pledge } = preparation;
    const state = pledge === undefined ? "PREPARED" : "PLEDGED";
    return { proposalId: id, state, held: [...receipts.values(), ...votes.values()] };
  }
  const refused = step.state.undecided.refused.get(id);
  if (refused !== undefined) return { proposalId: id, state: "REFUSED", held: [...refused.votes.values()] };
  if (decision !== undefined)
    return { proposalId: id, state: decision.outcome, held: decision.ack === undefined ? [] : [decision.ack] };
  return { proposalId: id, ...UNKNOWN };
};

/** The same in as many messages as their bounds require: each proposal may have two statements of every member. */
const inParts = (items: ReadonlyArray<AnswerItem>, most: number): ReadonlyArray<ReadonlyArray<AnswerItem>> => {
  let part: Array<AnswerItem> = [];
  const parts = [part];
  let left = most;
  for (const item of items) {
    if (item.held.length > left) {
      part = [];
      parts.push(part);
      left = most;
    }
    part.push(item);
    left -= item.held.length;
  }
  return parts;
};

/**
 * Answers with every vote held; applied proposals are delivered at once. A peer that knows nothing of a proposal
 * refuses it for good if its deadline has passed, or if its own writer demands it, and otherwise writes nothing.
 */
export const onSettleQuery = (step: Step, from: PeerId, message: MessageOf<"SettleQuery">): void => {
  const { crypto, view } = step.context;
  const asked = new Map<Digest, SettleItem>();
  const decided = new Map<Digest, Decision>();
  const refusing: Array<Refusing> = [];
  const unknown = new Map<Digest, SettleItem>();
  for (const item of message.items) {
    const id = proposalId(crypto, item.proposal);
    if (isAboutProposal(step, id, item)) asked.set(id, item);
  }
  const receipts = [...asked.values()].map((item) => item.receipt);
  if (quarantineIfForgotten(step, receipts)) return;
  // While some member has this peer's old incarnation on record, forgotten statements of that one still count there.
  if (step.mode === "announcing") return;
  for (const [id, item] of asked) {
    if (step.state.undecided.preparations.has(id) || step.state.undecided.refused.has(id)) continue;
    const decision = step.mode !== "recovering" ? decisionOf(view, id, item.proposal) : undefined;
    if (decision !== undefined) decided.set(id, decision);
    else if (step.mode === "recovering") unknown.set(id, item);
    else {
      const code = step.mode === "joining" ? undefined : finalCode(step, item.proposal, message.demandFinal && from);
      const refusal = code === undefined ? undefined : refusalOf(step, id, item, code, refusing);
      if (refusal !== undefined) refusing.push(refusal);
    }
  }
  inquire(step, showProven(step, from, unknown));
  refuse(step, refusing, () => undefined);
  reacknowledge(step, decided, (all) =>
    step.whenSigned(() => {
      // Once each, however often it was asked.
      const ids = new Set(message.items.map(({ proposal }) => proposalId(crypto, proposal)));
      const items = [...ids].map(
        (id): AnswerItem => (asked.has(id) ? answerFor(step, id, all.get(id)) : { proposalId: id, ...UNKNOWN }),
      );
      for (const part of inParts(items, step.capacities.heldStatements))
        step.send(from, { _tag: "SettleAnswer", nonce: message.nonce, items: part });
      sendApplied(step, from, all);
    }),
  );
};

export const onSettleAnswer = (step: Step, from: PeerId, answer: MessageOf<"SettleAnswer">): void => {
  onVotes(
    step,
    answer.items.flatMap((item) => item.held),
  );
  if (isPresent(step.mode)) refuseUnapplied(step, unappliedAt(step, from, answer));
};

/** Nobody has applied it: a restored member refuses it, and so gives all others its vote. */
const refuseUnapplied = (step: Step, unapplied: ReadonlyArray<readonly [Digest, SettleItem]>): void => {
  const refusing: Array<Refusing> = [];
  for (const [id, item] of unapplied) {
    const refusal = step.state.undecided.refused.has(id)
      ? undefined
      : refusalOf(step, id, item, "RECOVERING", refusing);
    if (refusal !== undefined) refusing.push(refusal);
  }
  refuse(step, refusing, (statements) => step.sendAll({ _tag: "Votes", statements }));
};
