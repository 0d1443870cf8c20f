/** How options come back to their registrar, through the peer that was asked. */
import { isAcknowledgedByAll } from "../../protocol/Acknowledged.ts";
import { hexToBytes } from "@noble/hashes/utils.js";
import type { OptionsAnswer } from "./Offer.ts";
import { base64Url } from "../../codec/Base64Url.ts";
import { Limits } from "../../base/Limits.ts";
import { type Forward, requestKey } from "../../protocol/Forward.ts";
import type { RelyingParty } from "../../webauthn/RelyingParty.ts";
import { creationOptions } from "../../webauthn/CreationOptions.ts";
import type { Turn } from "../../protocol/Turn.ts";
import { knownCredentials } from "./KnownCredentials.ts";
import { enrollments, type Offer } from "./EnrollmentState.ts";
import { registrationIdOf, SESSION_ACK, sessionDigest } from "./Session.ts";
import { type Offered, offers } from "./SessionMessages.ts";
import { enrollmentRows } from "./SessionTables.ts";

/** Answers a registrar whose session every member keeps: a caller of the writer's own directly. */
export const answerOffered = (turn: Turn, { forward, enrollment }: Offer, offered: Offered): void => {
  const { entryPeer, requestId } = forward;
  if (entryPeer === turn.self) return turn.reply(requestId, optionsAnswer(turn, enrollment.relyingParty, offered));
  remember(turn, forward, offered);
  tell(turn, forward, offered);
};

const tell = (turn: Turn, { entryPeer, requestId }: Forward, offered: Offered): void =>
  turn.send(entryPeer, { _tag: "Outcome", requestId, outcome: { _tag: "Exchanged", answer: offers.encode(offered) } });

/** The answer may be lost on its way, and a second session would be one too many. */
const remember = (turn: Turn, forward: Forward, offered: Offered): void => {
  forgetExpired(turn);
  const remembered = turn.editIn(enrollments, "offered");
  if (remembered.size >= Limits.offersRemembered)
    for (const oldest of remembered.keys()) {
      remembered.delete(oldest);
      break;
    }
  remembered.set(requestKey(forward), offered);
};

/** An invitation past its deadline is of no use to its holder any more. The oldest answer is the first to expire. */
const forgetExpired = (turn: Turn): void => {
  for (const [key, { session }] of turn.slice(enrollments).offered) {
    if (turn.now <= session.expiresAt) return;
    turn.editIn(enrollments, "offered").delete(key);
  }
};

/** Sends a forwarded request the answer it had; false where it had none. */
export const answerOfferedAgain = (turn: Turn, forward: Forward): boolean => {
  forgetExpired(turn);
  const offered = turn.slice(enrollments).offered.get(requestKey(forward));
  if (offered !== undefined) tell(turn, forward, offered);
  return offered !== undefined;
};

/** What the caller is told: made by the peer it asked, from the session and that peer's own registry. */
export const optionsAnswer = (turn: Turn, relyingParty: RelyingParty, offered: Offered): OptionsAnswer => ({
  _tag: "Offered",
  offer: offerOf(turn, relyingParty, offered),
});

const offerOf = (turn: Turn, relyingParty: RelyingParty, { session, invitation }: Offered): OptionsAnswer["offer"] => ({
  registrationId: base64Url(hexToBytes(session.registrationId)),
  invitation: base64Url(invitation),
  expiresAt: session.expiresAt,
  publicKey: creationOptions({
    relyingParty,
    id: session.id,
    challenge: session.challenge,
    userHandle: session.userHandle,
    excludeCredentialIds: knownCredentials(turn.context.view, session),
    timeoutMillis: session.expiresAt - turn.now,
  }),
});

/**
 * Whether the writer's claim holds: this peer keeps the session itself, it was made for this very request, every
 * member has acknowledged it in its present life, and the invitation is the one it was made with.
 */
export const isOfferProven = (turn: Turn, forward: Forward, { session, invitation, acks }: Offered): boolean => {
  const { crypto, view } = turn.context;
  const digest = sessionDigest(crypto, session);
  return (
    session.requestId === forward.requestId &&
    session.entryPeer === turn.self &&
    // Judged against the request when it was stored (SessionMember.ts).
    enrollmentRows(view).get("sessions", session.registrationId)?.ack.statement.proposalId === digest &&
    invitation.length === Limits.challengeBytes &&
    registrationIdOf(crypto, invitation) === session.registrationId &&
    turn.isCurrent(session.incarnations) &&
    isAcknowledgedByAll(turn, SESSION_ACK, digest, acks)
  );
};
