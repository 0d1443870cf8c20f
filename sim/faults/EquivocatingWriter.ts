/**
 * A writer that proposes more than one thing for a slot, or one thing in more than
 * one slot: some members get one proposal and some another, or all get both, at
 * once or when one of them has long been decided. Each is one that its members
 * would accept alone.
 */
import { absurd } from "effect";
import type { Digest } from "../../core/base/Digest.ts";
import type { PrepareItem } from "../../core/protocol/Message.ts";
import type { Proposal } from "../../core/protocol/Proposal.ts";
import type { Lie, Traitor } from "./Traitor.ts";

/** The same request, proposed a moment later: another id in the same slot. */
const twinOf = ({ world }: Traitor, proposal: Proposal): Proposal =>
  world.product.changing(proposal.kind).restamped(proposal, proposal.proposedAt + 1);

const elsewhere = (proposal: Proposal): Proposal => ({ ...proposal, seq: proposal.seq + 1 });

const treatments = ["true", "split", "both", "only the twin", "two slots", "late"] as const;
const WEIGHTS = [4, 2, 2, 2, 2, 2];
type Treatment = (typeof treatments)[number];

/** How many slots ahead of the truth a traitor claims to have everybody's acknowledgement. */
const BOAST = 1_000;
const LATEST = 6_000_000;

const sendLate = (traitor: Traitor, to: number, item: PrepareItem): void =>
  traitor.world.after(traitor.next().between("comes late by", 1_000_000, 50_000, LATEST), () => {
    const { world, peer } = traitor;
    if (!world.healed && peer.isUp) world.mail.utter(peer, to, { _tag: "Prepare", items: [item], stableSeq: 0 });
  });

const itemsFor = (
  traitor: Traitor,
  to: number,
  item: PrepareItem,
  treatment: Treatment,
): ReadonlyArray<PrepareItem> => {
  const twin = () => traitor.forge(item, twinOf(traitor, item.proposal)) ?? item;
  switch (treatment) {
    case "split":
      return [(to + item.proposal.seq) % 2 === 0 ? twin() : item];
    case "both":
      return traitor.next().chance("the twin comes first", 500) ? [twin(), item] : [item, twin()];
    case "only the twin":
      return [twin()];
    case "two slots":
      return [item, traitor.forge(item, elsewhere(item.proposal)) ?? item];
    case "late":
      sendLate(traitor, to, twin());
      return [item];
    case "true":
      return [item];
    default:
      return absurd(treatment);
  }
};

/** Makes a lie with a memory: a message that is sent again is treated as before. */
export const equivocatingWriter = (): Lie => {
  const treated = new Map<Digest, Treatment>();
  return (traitor, to, message) => {
    if (message._tag === "Commit" && traitor.next().chance("boasts", 300))
      return [{ ...message, stableSeq: message.stableSeq + BOAST }];
    if (message._tag !== "Prepare") return [message];
    const items = message.items.flatMap((item) => {
      const id = traitor.idOf(item.proposal);
      const treatment = treated.get(id) ?? traitor.next().named("proposes", "true", treatments, WEIGHTS);
      treated.set(id, treatment);
      if (treatment !== "true") traitor.world.marks.add(`an equivocating writer: ${treatment}`);
      return itemsFor(traitor, to, item, treatment);
    });
    // A message holds 64 at most, so the rest are sent by themselves.
    const messages = [];
    for (let from = 0; from < items.length; from += 32)
      messages.push({ ...message, items: items.slice(from, from + 32) });
    return messages;
  };
};
