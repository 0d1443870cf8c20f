/** How options come back to their registrar, through the peer that it asked. */
import { isAcknowledgedByAll } from "../../protocol/Acknowledged.ts";
import { hexToBytes } from "@noble/hashes/utils.js";
import type { OptionsAnswer } from "./Offer.ts";
import { base64Url } from "../../codec/Base64Url.ts";
import { Limits } from "../../base/Limits.ts";
import { type Forward, requestKey } from "../../protocol/Forward.ts";
import type { RelyingParty } from "../../webauthn/RelyingParty.ts";
import { creationOptions } from "../../webauthn/CreationOptions.ts";
import type { Step } from "../../protocol/Step.ts";
import { knownCredentials } from "./KnownCredentials.ts";
import { enrollments, type OptionsRequest } from "./EnrollmentState.ts";
import { registrationIdOf, SESSION_ACK, sessionDigest } from "./Session.ts";
import { type Offered, offers } from "./SessionMessages.ts";
import { enrollmentRows } from "./SessionTables.ts";

/** Answers a registrar whose session every member keeps: the writer's own caller directly. */
export const answerOffered = (step: Step, { forward, enrollment }: OptionsRequest, offered: Offered): void => {
  const { entryPeer, requestId } = forward;
  if (entryPeer === step.self) return step.reply(requestId, optionsAnswer(step, enrollment.relyingParty, offered));
  remember(step, forward, offered);
  tell(step, forward, offered);
};

const tell = (step: Step, { entryPeer, requestId }: Forward, offered: Offered): void =>
  step.send(entryPeer, { _tag: "Outcome", requestId, outcome: { _tag: "Exchanged", answer: offers.encode(offered) } });

/** The answer may be lost on its way, and a second session would be one too many. */
const remember = (step: Step, forward: Forward, offered: Offered): void => {
  forgetExpired(step);
  const remembered = step.editIn(enrollments, "offered");
  if (remembered.size >= step.capacities.offersRemembered)
    for (const oldest of remembered.keys()) {
      remembered.delete(oldest);
      break;
    }
  remembered.set(requestKey(forward), offered);
};

/** An invitation past its deadline is useless to its holder. The oldest answer is the first to expire. */
const forgetExpired = (step: Step): void => {
  for (const [key, { session }] of step.slice(enrollments).offered) {
    if (step.now <= session.expiresAt) return;
    step.editIn(enrollments, "offered").delete(key);
  }
};

/** Sends the stored answer to a copy of a request; false where there is none. */
export const answerOfferedAgain = (step: Step, forward: Forward): boolean => {
  forgetExpired(step);
  const offered = step.slice(enrollments).offered.get(requestKey(forward));
  if (offered !== undefined) tell(step, forward, offered);
  return offered !== undefined;
};

/** The answer to the caller, made by its entry peer from the session and that peer's own registry. */
export const optionsAnswer = (step: Step, relyingParty: RelyingParty, offered: Offered): OptionsAnswer => ({
  _tag: "Offered",
  offer: offerOf(step, relyingParty, offered),
});

const offerOf = (step: Step, relyingParty: RelyingParty, { session, invitation }: Offered): OptionsAnswer["offer"] => ({
  registrationId: base64Url(hexToBytes(session.registrationId)),
  invitation: base64Url(invitation),
  expiresAt: session.expiresAt,
  publicKey: creationOptions({
    relyingParty,
    id: session.id,
    challenge: session.challenge,
    userHandle: session.userHandle,
    excludeCredentialIds: knownCredentials(step.context.view, session, step.capacities),
    timeoutMillis: session.expiresAt - step.now,
  }),
});

/**
 * Whether the writer's claim holds: this peer keeps the session itself, it was made for this very request, every member
 * has acknowledged it in its present incarnation, and the invitation belongs to it.
 */
export const isOfferProven = (step: Step, forward: Forward, { session, invitation, acks }: Offered): boolean => {
  const { crypto, view } = step.context;
  const digest = sessionDigest(crypto, session);
  return (
    session.requestId === forward.requestId &&
    session.entryPeer === step.self &&
    // Compared with the request when it was stored (SessionMember.ts).
    enrollmentRows(view).get("sessions", session.registrationId)?.ack.statement.proposalId === digest &&
    invitation.length === Limits.challengeBytes &&
    registrationIdOf(crypto, invitation) === session.registrationId &&
    step.isCurrent(session.incarnations) &&
    isAcknowledgedByAll(step, SESSION_ACK, digest, acks)
  );
};
