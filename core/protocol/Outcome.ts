/**
 * What an entry peer makes of what the writer says became of a request. It
 * believes no claim of success: it checks the certificate and every member's
 * acknowledgement itself, or asks every member; and it tells nobody for certain
 * that nothing was done while it has signed for that itself (protocol.md 1,
 * "One malicious writer").
 */
import { isAcknowledgedByAll } from "./Acknowledged.ts";
import { absurd } from "effect";
import type { Awaited, Request } from "./Requests.ts";
import type { Turn } from "./Turn.ts";
import { confirmation } from "./Answers.ts";
import { isIntent } from "./Command.ts";
import { isComplete } from "./Certificate.ts";
import { isSameRequest } from "./Forward.ts";
import type { MessageOf, Outcome } from "./Message.ts";
import { hasSignedFor, turnAway } from "./OwnRequest.ts";
import { type Proposal, proposalId } from "./Proposal.ts";
import { askStored, stored } from "./Stored.ts";
import type { PeerId } from "./Topology.ts";
import { busy } from "./Unavailable.ts";

type Said<T extends Outcome["_tag"]> = Extract<Outcome, { readonly _tag: T }>;

export const onOutcome = (turn: Turn, from: PeerId, { requestId, outcome }: MessageOf<"Outcome">): void => {
  const awaited = turn.state.requests.awaited.get(requestId);
  if (awaited === undefined || from !== turn.membership.writer) return;
  switch (outcome._tag) {
    case "Confirmed":
      return onConfirmed(turn, awaited, outcome);
    case "Existing":
      return onExisting(turn, awaited, outcome);
    case "Exchanged":
      return onExchanged(turn, awaited, outcome);
    case "Rejected":
      return onRejected(turn, awaited, outcome);
    default:
      return absurd(outcome);
  }
};

const onConfirmed = (turn: Turn, awaited: Awaited, said: Said<"Confirmed">): void => {
  if (!isProven(turn, awaited, said)) return;
  const { forward } = awaited;
  const { proposal } = said.certificate;
  turn.edit("requests", "awaited").delete(forward.requestId);
  // Whose request made it stands in the proposal; those that joined that one are told that it was there.
  turn.reply(forward.requestId, confirmation(turn, proposal, isSameRequest(proposal, forward)));
};

const onExisting = (turn: Turn, awaited: Awaited, { ref }: Said<"Existing">): void => {
  const { forward, request, storedAt } = awaited;
  if (storedAt !== undefined || !mayBeThere(turn, request)) return;
  if (ref === request.ref && stored(turn, request.kind, ref) !== undefined)
    return askStored(turn, forward.requestId, awaited);
  turn.edit("requests", "awaited").delete(forward.requestId);
  const refusal = busy("The writer named an approver that is not stored here.", request.ref, true);
  turn.reply(forward.requestId, { _tag: "Rejected", rejection: refusal });
};

const onExchanged = (turn: Turn, awaited: Awaited, { answer }: Said<"Exchanged">): void => {
  const { forward, request } = awaited;
  const proven = turn.context.commands.exchanges.get(request.kind)?.proven(turn, awaited, request, answer);
  if (proven === undefined) return;
  turn.edit("requests", "awaited").delete(forward.requestId);
  turn.reply(forward.requestId, proven);
};

/** A certain no waits for what this peer itself has signed for this very request, which is the end of it or is not. */
const onRejected = (turn: Turn, awaited: Awaited, { rejection }: Said<"Rejected">): void => {
  const { forward, request } = awaited;
  turn.context.commands.byKind.get(request.kind)?.noteRefused(turn, request, rejection);
  if (!rejection.outcomeUnknown && hasSignedFor(turn, forward))
    return void turn.edit("requests", "awaited").set(forward.requestId, { ...awaited, denial: rejection });
  turnAway(turn, awaited, rejection);
};

/** Whether it can be there already. */
const mayBeThere = (turn: Turn, request: Request): boolean =>
  isIntent(request) && turn.command(request).mayBeThere(turn.context.view, request);

/** Whether a proposal does what was asked for. */
const isWanted = (turn: Turn, { forward, request }: Awaited, proposal: Proposal): boolean =>
  isIntent(request) &&
  proposal.kind === request.kind &&
  turn.command(request).isMetBy(request, proposal.effects, isSameRequest(proposal, forward));

/** Whether what is claimed is what was asked for, certified and acknowledged by every member. */
const isProven = (turn: Turn, awaited: Awaited, { certificate, acks }: Said<"Confirmed">): boolean => {
  const { crypto } = turn.context;
  const { membership } = turn;
  const id = proposalId(crypto, certificate.proposal);
  return (
    isComplete(crypto, membership, id, certificate) &&
    isWanted(turn, awaited, certificate.proposal) &&
    isAcknowledgedByAll(turn, "COMMIT_ACK", id, acks)
  );
};
