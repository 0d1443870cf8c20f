/** A writer that lives twice around some of its key generations. */
import type { Digest } from "../../core/base/Digest.ts";
import type { KeygenMessageOf } from "../../core/commands/makeKey/KeygenMessages.ts";
import type { KeygenSession } from "../../core/commands/makeKey/MakingState.ts";
import type { Message } from "../../core/Message.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import { generationKey } from "../checkers/KeyFacts.ts";
import { generationIn } from "../models/keys/KeyEffects.ts";
import { sessionIn } from "./LyingMaker.ts";
import { type First, SecondSession } from "./SecondSession.ts";
import type { Lie, Mishear, Traitor } from "./Traitor.ts";

/** Sessions that it remembers; its driver has as many at once. */
const REMEMBERED = 4;

interface Begun {
  readonly session: KeygenSession;
  readonly opens: Map<PeerId, KeygenMessageOf<"Keygen.Open">>;
}

export const twofoldMaker = (): { readonly lie: Lie; readonly mishear: Mishear } => {
  const begun = new Map<Digest, Begun>();
  const judged = new Set<Digest>();
  let second: SecondSession | undefined;

  const note = (traitor: Traitor, to: PeerId, open: KeygenMessageOf<"Keygen.Open">): void => {
    const session = sessionIn(traitor, open.sessionId);
    if (session === undefined) return;
    const known = begun.get(open.sessionId) ?? { session, opens: new Map() };
    known.opens.set(to, open);
    begun.set(open.sessionId, known);
    for (const oldest of begun.keys()) if (begun.size > REMEMBERED) begun.delete(oldest);
  };

  /** What is proposed here of a session that was remembered. */
  const firstIn = (traitor: Traitor, message: Message): First | undefined => {
    if (message._tag !== "Prepare") return undefined;
    for (const { proposal } of message.items) {
      const made = generationIn(proposal);
      const row = made && traitor.peer.store.get("pending", generationKey(made.keyId, made.generation));
      const session = row && begun.get(row.sessionId);
      const proposalId = traitor.idOf(proposal);
      if (session === undefined || judged.has(proposalId)) continue;
      judged.add(proposalId);
      return { ...session, proposalId };
    }
    return undefined;
  };

  return {
    lie: (traitor, to, message) => {
      if (message._tag === "Keygen.Open") note(traitor, to, message);
      if (second?.isOver !== false) {
        const first = firstIn(traitor, message);
        const unit = first && traitor.next();
        if (first !== undefined && unit?.chance("lives twice", 700) === true)
          second = SecondSession.begin(traitor, first, unit);
      }
      return second === undefined ? [message] : second.says(to, message);
    },
    mishear: (_traitor, from, message) => (second === undefined ? message : second.hears(from, message)),
  };
};
