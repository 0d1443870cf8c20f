/** A peer's state field by field, whichever slice a field is in: for whoever looks at it from outside. */
import type { PeerState, Slices } from "./PeerState.ts";

/** The slices that have fields; the registry is looked at as a whole. */
type Sliced = Omit<Slices, "registry">;
type Fields<S> = S extends Slices[Exclude<keyof Slices, "registry">] ? S : never;
type All<U> = (U extends unknown ? (each: U) => void : never) extends (all: infer I) => void ? I : never;

export type StateFields = All<Fields<Sliced[keyof Sliced]>> & Omit<PeerState, keyof Sliced>;

export const fieldsOf = (state: PeerState): StateFields => {
  const { cluster, fitness, rejoining, signed, undecided, probing, requests, ...whole } = state;
  return { ...cluster, ...fitness, ...rejoining, ...signed, ...undecided, ...probing, ...requests, ...whole };
};
