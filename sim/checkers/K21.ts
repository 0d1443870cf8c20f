/**
 * K21: a member that has committed to a signature says so again where its coordinator asks again, and does not take the
 * second question for another one under the same name; nor, once it has consented, for another message.
 */
import type { SigningState } from "../../core/commands/signWithKey/SigningState.ts";
import type { PeerState } from "../../core/protocol/PeerState.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import { Violation } from "../base/Violation.ts";
import type { Checker } from "./Checker.ts";
import type { Ghost } from "./Ghost.ts";

const hasCommitted = (state: PeerState, coordinator: PeerId, sessionId: string): boolean => {
  const { signing }: { readonly signing?: Pick<SigningState, "sessions"> } = state.modules;
  return [...(signing?.sessions.values() ?? [])].some(
    (each) => each.coordinator === coordinator && each.sessionId === sessionId,
  );
};

export const K21 = (ghost: Ghost): Checker => ({
  id: "K21",
  sent: ({ slot, honest, state }, message, to) => {
    if (message._tag !== "Sign.Refused" || !honest || ghost.isLying(slot)) return;
    if (message.code === "CONSENTED_TO_ANOTHER")
      throw new Violation(
        "K21",
        "an operation is named by what is signed in it",
        `peer ${slot} told peer ${to} that it has consented to sign something else in the one of session ${message.sessionId}`,
      );
    if (message.code !== "SESSION_TAKEN" || ghost.isLying(to) || state === undefined) return;
    if (hasCommitted(state, to, message.sessionId))
      throw new Violation(
        "K21",
        `peer ${slot} has committed to a signature for peer ${to} in session ${message.sessionId}`,
        "it was asked again, and refused that for the name of the session",
      );
  },
});
