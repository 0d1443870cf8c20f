/** The effects of proposals about keys, as a naive registry reads them. */
import { type DestroyKeyEffects, destroyKeyEffects } from "../../../core/commands/destroyKey/DestroyKey.ts";
import { type KeygenEffects, keygenEffects } from "../../../core/commands/makeKey/KeygenEffects.ts";
import type { Proposal } from "../../../core/protocol/Proposal.ts";

type Of = Pick<Proposal, "effects">;

/** Throws for a proposal that no member would prepare. */
export const makingIn = ({ effects }: Of): KeygenEffects => keygenEffects.certified(effects);
export const endingIn = ({ effects }: Of): DestroyKeyEffects => destroyKeyEffects.certified(effects);

/** The generation that a proposal makes; undefined for one of something else. */
export const generationIn = ({ effects }: Of): KeygenEffects["generation"] | undefined =>
  keygenEffects.decode(effects)?.generation;

/** The proposal with some of its effects changed; as it is where they cannot be read. */
export const otherMaking = (
  proposal: Proposal,
  change: (making: KeygenEffects) => Partial<KeygenEffects>,
): Proposal => {
  const making = keygenEffects.decode(proposal.effects);
  if (making === undefined) return proposal;
  return { ...proposal, effects: keygenEffects.encode({ ...making, ...change(making) }) };
};

export const otherEnding = (
  proposal: Proposal,
  change: (ending: DestroyKeyEffects) => Partial<DestroyKeyEffects>,
): Proposal => {
  const ending = destroyKeyEffects.decode(proposal.effects);
  if (ending === undefined) return proposal;
  return { ...proposal, effects: destroyKeyEffects.encode({ ...ending, ...change(ending) }) };
};
