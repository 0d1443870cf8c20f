/** Which generation's shares a certified refresh has replaced. */
import type { Proposal } from "../../protocol/Proposal.ts";
import { type KeygenEffects, keygenEffects } from "./KeygenEffects.ts";
import { KEYGEN } from "./Making.ts";

export interface Superseded {
  readonly keyId: string;
  readonly generation: number;
}

export const supersededIn = ({ generation }: Pick<KeygenEffects, "generation">): Superseded | undefined =>
  generation.madeBy === "REFRESH" ? { keyId: generation.keyId, generation: generation.generation - 1 } : undefined;

export const supersededBy = ({ kind, effects }: Proposal): Superseded | undefined =>
  kind === KEYGEN ? supersededIn(keygenEffects.certified(effects)) : undefined;
