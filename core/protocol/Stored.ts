/**
 * Whether every other member stores the result that existed before a request, in the revision that this peer is about
 * to show. The writer's word is no proof, so the entry peer asks each of them itself; a member that stores it says so
 * under its own signature (protocol.md 4b, S14).
 */
import { withEntry } from "../base/Copies.ts";
import type { Awaited } from "./Requests.ts";
import type { Existing } from "./Command.ts";
import type { Step } from "./Step.ts";
import type { MessageOf } from "./Message.ts";
import type { PeerId } from "./Topology.ts";

type StoredAt = NonNullable<Awaited["storedAt"]>;

/**
 * What this peer stores under a name, as a command of this kind finds it; undefined where it stores nothing. `isOwn`
 * where the request that is answered has stored it.
 */
export const stored = (step: Step, kind: string, name: string, isOwn = false): Existing | undefined =>
  step.context.commands.byKind.get(kind)?.existing(step.context.view, name, isOwn);

/** Members that have not said so in the incarnation on record for them. */
export const missingAt = (step: Step, storedAt: StoredAt): ReadonlyArray<PeerId> =>
  step.others.filter((peerId) => storedAt.get(peerId)?.incarnation !== step.recordedIncarnation(peerId));

/** Without those that have said so of an older revision only. */
const asNewAs = (revision: number, storedAt: StoredAt): StoredAt =>
  new Map([...storedAt].filter(([, said]) => said.revision >= revision));

/** Asks members that have not said so, for the first time or again. */
export const askStored = (step: Step, requestId: string, awaited: Awaited): void => {
  const { kind, ref } = awaited.request;
  if (ref === undefined) return;
  const storedAt = awaited.storedAt ?? new Map();
  step.edit("requests", "awaited").set(requestId, { ...awaited, storedAt, sentAt: step.elapsed });
  step.sendAll({ _tag: "StoredQuery", requestId, kind, ref }, missingAt(step, storedAt));
};

/** Answered from committed rows; a member that does not store it says nothing, and is asked again. */
export const onStoredQuery = (step: Step, from: PeerId, { requestId, kind, ref }: MessageOf<"StoredQuery">): void => {
  const existing = stored(step, kind, ref);
  if (existing === undefined) return;
  const { incarnation } = step.state.signed.chain;
  step.send(from, { _tag: "StoredAnswer", requestId, ref, incarnation, revision: existing.revision });
};

/**
 * When the last of them has said so, the caller is told what is stored here. A writer that restarts before it answers
 * finds the result of the request's first copy; this peer knows whose it is.
 */
export const onStoredAnswer = (step: Step, from: PeerId, answer: MessageOf<"StoredAnswer">): void => {
  const { requestId, ref, incarnation, revision } = answer;
  const awaited = step.state.requests.awaited.get(requestId);
  if (awaited?.storedAt === undefined || ref !== awaited.request.ref) return;
  const existing = stored(step, awaited.request.kind, ref, awaited.isApplied);
  const said = withEntry(awaited.storedAt, from, { incarnation, revision });
  const storedAt = asNewAs(existing?.revision ?? 0, said);
  if (existing === undefined || missingAt(step, storedAt).length > 0)
    return void step.edit("requests", "awaited").set(requestId, { ...awaited, storedAt });
  step.edit("requests", "awaited").delete(requestId);
  step.reply(requestId, existing.answer);
};
