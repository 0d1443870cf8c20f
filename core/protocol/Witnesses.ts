/**
 * An instance that is alone cannot see that its disk is from before its promotion; the peers that it was promoted with
 * can. After a start it asks those of its configuration, and takes no changes until each has answered, or for a few
 * seconds: whoever knows of a decision shows it before its answer (PromotionTarget.ts; S20). So does one that has just
 * founded itself: a disk from before that looks like a new one.
 */
import type { PromotionMessageOf } from "./PromotionMessages.ts";
import type { Witnesses } from "./PromotionState.ts";
import { ownKey, tell } from "./PromotionTold.ts";
import type { Step } from "./Step.ts";
import { freshNonce, nonceFor } from "./Nonces.ts";
import type { PeerId } from "./Topology.ts";

/** A peer that is down must not stop an instance that was never promoted. */
const WAIT_MILLIS = 5_000;

const REMEMBERING = "it was started, and asks the peers of its configuration whether it was promoted";

/** Why an instance that is alone takes no changes yet. */
export const unwitnessed = (step: Step): string | undefined => {
  const { witnesses } = step.state.cluster.promotion;
  return witnesses !== undefined && isWaiting(step, witnesses) ? REMEMBERING : undefined;
};

const isWaiting = ({ elapsed }: Step, { silent, since }: Witnesses): boolean =>
  silent.size > 0 && elapsed - since < WAIT_MILLIS;

const note = (step: Step, witnesses: Witnesses): void => {
  step.draft("cluster").promotion = { ...step.state.cluster.promotion, witnesses };
};

/** Asks, after a start, whoever has not answered; whether it goes on waiting. */
export const askWitnesses = (step: Step): boolean => {
  const witnesses = step.state.cluster.promotion.witnesses ?? begin(step);
  if (!isWaiting(step, witnesses)) return false;
  ask(step, witnesses);
  return true;
};

const begin = (step: Step): Witnesses => {
  const silent = new Set(step.context.settings.peers);
  const witnesses = { nonce: freshNonce(step, "witnesses"), since: step.elapsed, silent };
  note(step, witnesses);
  return witnesses;
};

/** Whether it would be taken as what it is now: that is answered by every peer that is there. */
const ask = (step: Step, { nonce, silent }: Witnesses): void => {
  const identityKey = ownKey(step);
  if (identityKey === undefined) return;
  const { configDigest } = step.context.settings;
  const { development, threshold, members: all } = step.membership.topology;
  const members = all.map((each) => ({ peerId: each.peerId, identityKey: each.identityKey }));
  const asked = { identityKey, members, threshold, development, configDigest };
  for (const peerId of silent)
    tell(step, { _tag: "Promotion.Ask", ...asked, nonce: nonceFor(step, nonce, peerId) }, [peerId]);
};

/** A peer has answered, and shown before whatever it knows. */
export const noteWitness = (step: Step, from: PeerId, { nonce }: PromotionMessageOf<"Promotion.Standing">): void => {
  const { witnesses } = step.state.cluster.promotion;
  if (witnesses === undefined || !witnesses.silent.has(from) || nonce !== nonceFor(step, witnesses.nonce, from)) return;
  const silent = new Set(witnesses.silent);
  silent.delete(from);
  note(step, { ...witnesses, silent });
};
