/**
 * How an entry peer judges what the writer says became of a request. It believes
 * no claim of success: it checks the certificate and every member's
 * acknowledgement itself, or asks every member; and it tells no caller for
 * certain that nothing was done while it has signed for that itself (protocol.md
 * 1, "One malicious writer").
 */
import { isAcknowledgedByAll } from "./Acknowledged.ts";
import { absurd } from "effect";
import type { Awaited, Request } from "./Requests.ts";
import type { Step } from "./Step.ts";
import { confirmation } from "./Answers.ts";
import { isIntent } from "./Command.ts";
import { isComplete } from "./Certificate.ts";
import { isSameRequest } from "./Forward.ts";
import type { MessageOf, Outcome } from "./Message.ts";
import { hasSignedFor, denyOwn } from "./OwnRequest.ts";
import { type Proposal, proposalId } from "./Proposal.ts";
import { askStored, stored } from "./Stored.ts";
import type { PeerId } from "./Topology.ts";
import { busy } from "./Unavailable.ts";

type Said<T extends Outcome["_tag"]> = Extract<Outcome, { readonly _tag: T }>;

export const onOutcome = (step: Step, from: PeerId, { requestId, outcome }: MessageOf<"Outcome">): void => {
  const awaited = step.state.requests.awaited.get(requestId);
  if (awaited === undefined || from !== step.membership.writer) return;
  switch (outcome._tag) {
    case "Confirmed":
      return onConfirmed(step, awaited, outcome);
    case "Existing":
      return onExisting(step, awaited, outcome);
    case "Exchanged":
      return onExchanged(step, awaited, outcome);
    case "Rejected":
      return onRejected(step, awaited, outcome);
    default:
      return absurd(outcome);
  }
};

const onConfirmed = (step: Step, awaited: Awaited, said: Said<"Confirmed">): void => {
  if (!isProven(step, awaited, said)) return;
  const { forward, request } = awaited;
  const { proposal } = said.certificate;
  // The proposal names the request that made it; the callers of coalesced requests are told that it was there.
  const isFresh = isSameRequest(proposal, forward);
  if (!isFresh && isOutdated(step, request, proposal)) return onExisting(step, awaited, { ref: request.ref ?? "" });
  step.edit("requests", "awaited").delete(forward.requestId);
  step.reply(forward.requestId, confirmation(step, proposal, isFresh));
};

/** A writer may show an old certificate to a caller who has seen what came after it: that is as it is stored now. */
const isOutdated = (step: Step, request: Request, proposal: Proposal): boolean =>
  mayBeThere(step, request) &&
  (stored(step, request.kind, request.ref ?? "")?.revision ?? 0) >
    step.command(proposal).lineageOf(proposal.effects).revision;

const onExisting = (step: Step, awaited: Awaited, { ref }: Pick<Said<"Existing">, "ref">): void => {
  const { forward, request, storedAt } = awaited;
  if (storedAt !== undefined || !mayBeThere(step, request)) return;
  if (ref === request.ref && stored(step, request.kind, ref) !== undefined)
    return askStored(step, forward.requestId, awaited);
  step.edit("requests", "awaited").delete(forward.requestId);
  const refusal = busy("The writer named a record that is not stored here.", request.ref, true);
  step.reply(forward.requestId, { _tag: "Rejected", rejection: refusal });
};

const onExchanged = (step: Step, awaited: Awaited, { answer }: Said<"Exchanged">): void => {
  const { forward, request } = awaited;
  const proven = step.context.commands.exchanges.get(request.kind)?.proven(step, awaited, request, answer);
  if (proven === undefined) return;
  step.edit("requests", "awaited").delete(forward.requestId);
  step.reply(forward.requestId, proven);
};

/** A certain "no" waits while this peer itself has prepared this very request: that proposal's end decides. */
const onRejected = (step: Step, awaited: Awaited, { rejection }: Said<"Rejected">): void => {
  const { forward, request } = awaited;
  step.context.commands.byKind.get(request.kind)?.noteRefused(step, request, rejection);
  if (!rejection.outcomeUnknown && hasSignedFor(step, forward))
    return void step.edit("requests", "awaited").set(forward.requestId, { ...awaited, denial: rejection });
  denyOwn(step, awaited, rejection);
};

/** Whether its result may exist already. */
const mayBeThere = (step: Step, request: Request): boolean =>
  isIntent(request) && step.command(request).mayBeThere(step.context.view, request);

/** Whether a proposal does what was asked for. */
const isWanted = (step: Step, { forward, request }: Awaited, proposal: Proposal): boolean =>
  isIntent(request) &&
  proposal.kind === request.kind &&
  step.command(request).isMetBy(request, proposal.effects, isSameRequest(proposal, forward));

/** Whether the claimed proposal is what was asked for, certified and acknowledged by every member. */
const isProven = (step: Step, awaited: Awaited, { certificate, acks }: Said<"Confirmed">): boolean => {
  const { crypto } = step.context;
  const { membership } = step;
  const id = proposalId(crypto, certificate.proposal);
  return (
    isComplete(crypto, membership, id, certificate) &&
    isWanted(step, awaited, certificate.proposal) &&
    isAcknowledgedByAll(step, "COMMIT_ACK", id, acks)
  );
};
