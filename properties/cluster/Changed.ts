/** A peer's state in which some fields have other values. */
import type { PeerState } from "../../core/protocol/PeerState.ts";
import type { StateFields } from "../../core/protocol/StateFields.ts";

const slices = ["cluster", "fitness", "rejoining", "signed", "undecided", "probing", "requests"] as const;

export const changed = (state: PeerState, change: Partial<StateFields>): PeerState => {
  const next: Record<string, unknown> = { ...state };
  for (const [field, value] of Object.entries(change)) {
    const slice = slices.find((name) => field in state[name]);
    if (slice === undefined) next[field] = value;
    else next[slice] = { ...(next[slice] as object), [field]: value };
  }
  return next as unknown as PeerState;
};
