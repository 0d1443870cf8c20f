/**
 * Whether every other member stores an approver that was registered before. The
 * writer's word is no proof of that, so the entry peer asks each of them itself;
 * whoever stores it says so under its own signature (protocol.md 4b, S14).
 */
import { withEntry } from "../Copies.ts";
import type { Awaited } from "../PeerState.ts";
import type { Turn } from "../Turn.ts";
import { existing } from "./Answers.ts";
import type { MessageOf } from "./Message.ts";
import { ownFault } from "./Readiness.ts";
import type { PeerId } from "./Topology.ts";

/** Members that have not said so in the life that is on record for them. */
export const missingAt = (turn: Turn, storedAt: NonNullable<Awaited["storedAt"]>): ReadonlyArray<PeerId> =>
  turn.others.filter((peerId) => storedAt.get(peerId) !== turn.recordedIncarnation(peerId));

/** Asks those that have not said so, for the first time or again. */
export const askStored = (turn: Turn, requestId: string, awaited: Awaited): void => {
  const { ref } = awaited.request;
  if (ref === undefined) return;
  const storedAt = awaited.storedAt ?? new Map();
  turn.edit("awaited").set(requestId, { ...awaited, storedAt, sentAt: turn.elapsed });
  turn.sendAll({ _tag: "StoredQuery", requestId, ref }, missingAt(turn, storedAt));
};

/** Answered from what is committed; whoever does not have it says nothing, and is asked again. */
export const onStoredQuery = (turn: Turn, from: PeerId, { requestId, ref }: MessageOf<"StoredQuery">): void => {
  // What lies on the disk of a peer that is recovering may be about to go.
  if (ownFault(turn) !== undefined || turn.state.recovery !== undefined) return;
  if (turn.context.view.get("approvers", ref) === undefined) return;
  turn.send(from, { _tag: "StoredAnswer", requestId, ref, incarnation: turn.state.chain.incarnation });
};

/** With the last of them the caller is told what is stored here. */
export const onStoredAnswer = (turn: Turn, from: PeerId, answer: MessageOf<"StoredAnswer">): void => {
  const { requestId, ref, incarnation } = answer;
  const awaited = turn.state.awaited.get(requestId);
  if (awaited?.storedAt === undefined || ref !== awaited.request.ref) return;
  const storedAt = withEntry(awaited.storedAt, from, incarnation);
  const approver = turn.context.view.get("approvers", ref);
  if (approver === undefined || missingAt(turn, storedAt).length > 0)
    return void turn.edit("awaited").set(requestId, { ...awaited, storedAt });
  turn.edit("awaited").delete(requestId);
  turn.reply(requestId, existing(turn, approver));
};
