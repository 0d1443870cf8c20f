/** The effects of a proposal, by its kind: for observers of certified changes outside the core. */
import { absurd } from "effect";
import type { Proposal } from "../protocol/Proposal.ts";
import { type Completion, completions } from "./enrollPasskey/Completion.ts";
import { type DestroyKeyEffects, destroyKeyEffects } from "./destroyKey/DestroyKey.ts";
import { type KeygenEffects, keygenEffects } from "./makeKey/KeygenEffects.ts";
import { type RegisterKeyEffects, registerKeyEffects } from "./registerKey/RegisterKey.ts";
import { type ReplaceMetadataEffects, replaceMetadataEffects } from "./replaceMetadata/ReplaceMetadata.ts";

export type Effects =
  | ({ readonly kind: "REGISTER" } & RegisterKeyEffects)
  | ({ readonly kind: "METADATA" } & ReplaceMetadataEffects)
  | ({ readonly kind: "FINISH" } & Completion);

/** Undefined where no command here can read them. */
export const effectsOf = ({ kind, effects }: Pick<Proposal, "kind" | "effects">): Effects | undefined => {
  switch (kind) {
    case "REGISTER": {
      const decoded = registerKeyEffects.decode(effects);
      return decoded && { kind, ...decoded };
    }
    case "METADATA": {
      const decoded = replaceMetadataEffects.decode(effects);
      return decoded && { kind, ...decoded };
    }
    case "FINISH": {
      const decoded = completions.decode(effects);
      return decoded && { kind, ...decoded };
    }
    default:
      return undefined;
  }
};

/** Of changes of keys that sign. */
export type KeyEffects =
  | ({ readonly kind: "KEYGEN" } & KeygenEffects)
  | ({ readonly kind: "DESTROY" } & DestroyKeyEffects);

/** Undefined where it is no change of a key, or no command here can read it. */
export const keyEffectsOf = ({ kind, effects }: Pick<Proposal, "kind" | "effects">): KeyEffects | undefined => {
  if (kind === "KEYGEN") {
    const made = keygenEffects.decode(effects);
    return made && { kind, ...made };
  }
  const destroyed = kind === "DESTROY" ? destroyKeyEffects.decode(effects) : undefined;
  return destroyed && { kind: "DESTROY", ...destroyed };
};

/** The proposal with these effects in place of its own. */
export const withEffects = (proposal: Proposal, effects: Effects): Proposal => {
  switch (effects.kind) {
    case "REGISTER":
      return { ...proposal, kind: effects.kind, effects: registerKeyEffects.encode(effects) };
    case "METADATA":
      return { ...proposal, kind: effects.kind, effects: replaceMetadataEffects.encode(effects) };
    case "FINISH":
      return { ...proposal, kind: effects.kind, effects: completions.encode(effects) };
    default:
      return absurd(effects);
  }
};
