/**
 * Whether every other member stores what was there before a request, as new as
 * this peer is about to show it. The writer's word is no proof of that, so the entry peer asks each of them itself;
 * whoever stores it says so under its own signature (protocol.md 4b, S14).
 */
import { withEntry } from "../base/Copies.ts";
import type { Awaited } from "./Requests.ts";
import type { Existing } from "./Command.ts";
import type { Turn } from "./Turn.ts";
import type { MessageOf } from "./Message.ts";
import type { PeerId } from "./Topology.ts";

type StoredAt = NonNullable<Awaited["storedAt"]>;

/** What this peer stores under a name that is of a kind of command; undefined where it stores nothing. */
export const stored = (turn: Turn, kind: string, name: string): Existing | undefined =>
  turn.context.commands.byKind.get(kind)?.existing(turn.context.view, name);

/** Members that have not said so in the life that is on record for them. */
export const missingAt = (turn: Turn, storedAt: StoredAt): ReadonlyArray<PeerId> =>
  turn.others.filter((peerId) => storedAt.get(peerId)?.incarnation !== turn.recordedIncarnation(peerId));

/** Without those that have said so of an older revision only. */
const asNewAs = (revision: number, storedAt: StoredAt): StoredAt =>
  new Map([...storedAt].filter(([, said]) => said.revision >= revision));

/** Asks those that have not said so, for the first time or again. */
export const askStored = (turn: Turn, requestId: string, awaited: Awaited): void => {
  const { kind, ref } = awaited.request;
  if (ref === undefined) return;
  const storedAt = awaited.storedAt ?? new Map();
  turn.edit("requests", "awaited").set(requestId, { ...awaited, storedAt, sentAt: turn.elapsed });
  turn.sendAll({ _tag: "StoredQuery", requestId, kind, ref }, missingAt(turn, storedAt));
};

/** Answered from what is committed; whoever does not have it says nothing, and is asked again. */
export const onStoredQuery = (turn: Turn, from: PeerId, { requestId, kind, ref }: MessageOf<"StoredQuery">): void => {
  const existing = stored(turn, kind, ref);
  if (existing === undefined) return;
  const { incarnation } = turn.state.signed.chain;
  turn.send(from, { _tag: "StoredAnswer", requestId, ref, incarnation, revision: existing.revision });
};

/** With the last of them the caller is told what is stored here. */
export const onStoredAnswer = (turn: Turn, from: PeerId, answer: MessageOf<"StoredAnswer">): void => {
  const { requestId, ref, incarnation, revision } = answer;
  const awaited = turn.state.requests.awaited.get(requestId);
  if (awaited?.storedAt === undefined || ref !== awaited.request.ref) return;
  const existing = stored(turn, awaited.request.kind, ref);
  const said = withEntry(awaited.storedAt, from, { incarnation, revision });
  const storedAt = asNewAs(existing?.revision ?? 0, said);
  if (existing === undefined || missingAt(turn, storedAt).length > 0)
    return void turn.edit("requests", "awaited").set(requestId, { ...awaited, storedAt });
  turn.edit("requests", "awaited").delete(requestId);
  turn.reply(requestId, existing.answer);
};
