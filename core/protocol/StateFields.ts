/** A peer's state field by field, whichever slice a field is in: for observers outside the core. */
import type { PeerState, Slices } from "./PeerState.ts";

/** The slices by field; the registry counts as one field. */
type Sliced = Omit<Slices, "registry">;
type Fields<S> = S extends Slices[Exclude<keyof Slices, "registry">] ? S : never;
type All<U> = (U extends unknown ? (each: U) => void : never) extends (all: infer I) => void ? I : never;

export type StateFields = All<Fields<Sliced[keyof Sliced]>> & Omit<PeerState, keyof Sliced>;

export const fieldsOf = (state: PeerState): StateFields => {
  const { cluster, fitness, rejoining, signed, undecided, probing, requests, ...whole } = state;
  return { ...cluster, ...fitness, ...rejoining, ...signed, ...undecided, ...probing, ...requests, ...whole };
};
