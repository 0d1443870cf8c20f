/** How options come back to their registrar, through the peer that was asked. */
import { hexToBytes } from "@noble/hashes/utils.js";
import type { Offer as OfferAnswer } from "../Action.ts";
import { base64Url } from "../codec/Base64Url.ts";
import { Limits } from "../Limits.ts";
import type { Offer } from "../PeerState.ts";
import { type Forward, requestKey } from "../protocol/Forward.ts";
import type { Outcome } from "../protocol/Message.ts";
import type { RelyingParty } from "../webauthn/RelyingParty.ts";
import { creationOptions } from "../webauthn/CreationOptions.ts";
import type { Turn } from "../Turn.ts";
import { knownCredentials } from "./KnownCredentials.ts";
import { registrationIdOf, sessionDigest } from "./Session.ts";

type Offered = Extract<Outcome, { readonly _tag: "Offered" }>;

/** Answers a registrar whose session every member keeps: a caller of the writer's own directly. */
export const answerOffered = (turn: Turn, { forward, enrollment }: Offer, offered: Offered): void => {
  const { entryPeer, requestId } = forward;
  if (entryPeer === turn.self)
    return turn.reply(requestId, { _tag: "Offered", offer: offerOf(turn, enrollment.relyingParty, offered) });
  remember(turn, forward, offered);
  turn.send(entryPeer, { _tag: "Outcome", requestId, outcome: offered });
};

/** The answer may be lost on its way, and a second session would be one too many. */
const remember = (turn: Turn, forward: Forward, offered: Offered): void => {
  forgetExpired(turn);
  const remembered = turn.edit("offered");
  if (remembered.size >= Limits.offersRemembered)
    for (const oldest of remembered.keys()) {
      remembered.delete(oldest);
      break;
    }
  remembered.set(requestKey(forward), offered);
};

/** An invitation past its deadline is of no use to its holder any more. The oldest answer is the first to expire. */
const forgetExpired = (turn: Turn): void => {
  for (const [key, { session }] of turn.state.offered) {
    if (turn.now <= session.expiresAt) return;
    turn.edit("offered").delete(key);
  }
};

/** Sends a forwarded request the answer it had, and returns whether it had one. */
export const offerAgain = (turn: Turn, forward: Forward): boolean => {
  forgetExpired(turn);
  const outcome = turn.state.offered.get(requestKey(forward));
  if (outcome === undefined) return false;
  turn.send(forward.entryPeer, { _tag: "Outcome", requestId: forward.requestId, outcome });
  return true;
};

/** What the caller is told: made by the peer it asked, from the session and that peer's own registry. */
export const offerOf = (turn: Turn, relyingParty: RelyingParty, { session, invitation }: Offered): OfferAnswer => ({
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
    view.get("sessions", session.registrationId)?.ack.statement.proposalId === digest &&
    invitation.length === Limits.challengeBytes &&
    registrationIdOf(crypto, invitation) === session.registrationId &&
    turn.isCurrent(session.incarnations) &&
    turn.isAcknowledgedByAll("SESSION_ACK", digest, acks)
  );
};
