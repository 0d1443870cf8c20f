/** The effects of proposals about keys, as a naive registry reads them. */
import { type KeygenEffects, keygenEffects } from "../../../core/commands/makeKey/KeygenEffects.ts";
import type { Proposal } from "../../../core/protocol/Proposal.ts";

type Of = Pick<Proposal, "effects">;

/** Throws for a proposal that no member would prepare. */
export const makingIn = ({ effects }: Of): KeygenEffects => keygenEffects.certified(effects);
export const endingIn = (_proposal: Of): Pick<KeygenEffects, "key"> & { readonly generation: number } => {
  throw new Error("nothing ends keys yet");
};
