/**
 * A writer that proposes without end what nobody has asked for. Every member refuses each, all together abort it, and
 * every outcome is kept for ever.
 */
import { absurd } from "effect";
import type { Digest } from "../../core/base/Digest.ts";
import type { Message } from "../../core/Message.ts";
import type { PrepareItem } from "../../core/protocol/Message.ts";
import type { Lie, Traitor } from "./Traitor.ts";

/** Proposals beside each true one. */
const MORE = 8;
const MOST = 32;

/** Slots from the one behind the true one on, which the true ones to come find taken. */
const endless = (traitor: Traitor, item: PrepareItem): ReadonlyArray<PrepareItem> => {
  const unit = traitor.next();
  if (!unit.chance("goes on", 500)) return [];
  const more = unit.between("as many more", MORE, 1, MOST);
  return Array.from({ length: more }, (_, index) => index + 1).flatMap((ahead) => {
    const { proposal } = item;
    const requestId = `${proposal.requestId}-${ahead}`;
    return traitor.forge(item, { ...proposal, requestId, seq: proposal.seq + ahead }) ?? [];
  });
};

/** Nobody listens for the answers. */
const ANY = "a".repeat(64) as Digest;

/** Members are asked to vote on them, to abort them, or to say for good that they will not take them. */
const ways = ["Prepare", "AbortRequest", "SettleQuery"] as const;

const asking = (traitor: Traitor, items: ReadonlyArray<PrepareItem>): Message => {
  const unknown = items.map(({ proposal, receipt }) => ({ proposal, receipt }));
  const way = traitor.next().named("asks with a", "Prepare", ways, [3, 1, 1]);
  switch (way) {
    case "Prepare":
      return { _tag: "Prepare", items, stableSeq: 0 };
    case "AbortRequest":
      return { _tag: "AbortRequest", items: unknown.map((item) => ({ ...item, votes: [] })) };
    case "SettleQuery":
      return { _tag: "SettleQuery", items: unknown, demandFinal: true, nonce: ANY };
    default:
      return absurd(way);
  }
};

/** Beside every true message it sends one of these. */
export const endlessWriter = (): Lie => (traitor, _to, message) => {
  if (message._tag !== "Prepare") return [message];
  const more = message.items.slice(0, 1).flatMap((item) => endless(traitor, item));
  if (more.length === 0) return [message];
  traitor.world.marks.add("a writer proposed what nobody had asked for");
  return [message, asking(traitor, more)];
};
