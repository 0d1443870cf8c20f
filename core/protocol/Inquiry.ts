/**
 * What a restored member does before it refuses a proposal: it asks every other member whether it has applied it. Some
 * member may have pledged on a refusal and been freed by an acknowledgement of this peer's old incarnation; a refusal
 * now would then complete the abort votes of an applied proposal (protocol.md 3.1, 4i, S4). A member that answers has
 * this peer's new incarnation on record, and from then on nothing of the old one frees it.
 */
import type { Digest } from "../base/Digest.ts";
import { hasRoomToAbort } from "./AbortPace.ts";
import type { Inquiry, Recovery } from "./RecoveryState.ts";
import type { PeerState } from "./PeerState.ts";
import type { Step } from "./Step.ts";
import type { MessageOf, SettleItem } from "./Message.ts";
import type { PeerId } from "./Topology.ts";

type Held = Pick<PeerState, "rejoining" | "undecided">;

/**
 * Whether this incarnation was made to refuse more proposals that only the writer has prepared than an honest writer
 * can have open, or over several processes so many that it could never be ready as a member. Some were a lie, and
 * nobody can tell which; the recovery may be waiting for one that is not refused yet.
 */
export const isMisled = ({ state, capacities }: Pick<Step, "capacities"> & { readonly state: Held }): boolean => {
  const { recovery } = state.rejoining;
  const isFull = state.undecided.refused.size >= capacities.refusals;
  return recovery !== undefined && (recovery.writersOwn > capacities.preparations || isFull);
};

const askAbout = (step: Step, items: ReadonlyArray<SettleItem>, to: ReadonlyArray<PeerId>): void => {
  const {
    rejoining: { restored },
  } = step.state;
  if (items.length === 0 || restored === undefined) return;
  // Only members that this incarnation has asked can answer with it.
  const nonce = restored.restoration.recoveryId;
  step.sendAll({ _tag: "SettleQuery", items, demandFinal: false, nonce }, to);
};

/** Asks about at most one message's proposals, without those that are asked about or refused already. */
export const inquire = (step: Step, asked: Iterable<readonly [Digest, SettleItem]>): void => {
  const {
    rejoining: { recovery },
    undecided: { refused },
  } = step.state;
  if (recovery === undefined || step.mode === "announcing") return;
  const inquiries = new Map(recovery.inquiries);
  const fresh: Array<SettleItem> = [];
  for (const [id, { proposal, receipt }] of asked) {
    if (inquiries.has(id) || refused.has(id) || inquiries.size >= step.capacities.preparations) continue;
    // What all of them may come to could not be refused.
    if (!hasRoomToAbort(step, inquiries.size + 1)) continue;
    const item = { proposal, receipt };
    inquiries.set(id, { item, silent: new Set(step.others), isOpen: false, isShared: step.isWriter });
    fresh.push(item);
  }
  step.draft("rejoining").recovery = { ...recovery, inquiries };
  askAbout(step, fresh, step.others);
};

/** Asks the members again that have not answered. */
export const inquireAgain = (step: Step, { inquiries }: Recovery): void => {
  const open = [...inquiries.values()];
  for (const peerId of step.others) {
    const unanswered = open.filter(({ silent }) => silent.has(peerId)).slice(0, step.capacities.proposalsPerMessage);
    askAbout(
      step,
      unanswered.map(({ item }) => item),
      [peerId],
    );
  }
};

/**
 * Takes a member's answer; returns the proposals that some member has prepared and that all members have now said they
 * have not applied. Nobody's recovery waits for any other: proposals that ended elsewhere this peer takes over, or
 * votes on once it is a member again. Of those that only the writer has prepared, it returns no more than an honest
 * writer can have open: a lying writer must not take up room that others need. Slots are no bound here, because a
 * recovering peer does not know how far they go. The rest is left for another incarnation ({@link isMisled}).
 */
export const unappliedAt = (
  step: Step,
  from: PeerId,
  { nonce, items }: MessageOf<"SettleAnswer">,
): ReadonlyArray<readonly [Digest, SettleItem]> => {
  const {
    rejoining: { recovery, restored },
  } = step.state;
  if (recovery === undefined || step.mode === "announcing" || nonce !== restored?.restoration.recoveryId) return [];
  // This incarnation is superseded, and signs nothing more.
  if (recovery.superseded !== undefined) return [];
  const inquiries = new Map(recovery.inquiries);
  const unapplied: Array<readonly [Digest, SettleItem]> = [];
  let { writersOwn } = recovery;
  for (const { proposalId: id, state } of items) {
    const inquiry: Inquiry | undefined = inquiries.get(id);
    if (inquiry === undefined || !inquiry.silent.has(from)) continue;
    const silent = new Set(inquiry.silent);
    silent.delete(from);
    const isPrepared = state === "PREPARED" || state === "PLEDGED";
    const isOpen = inquiry.isOpen || isPrepared;
    const isShared = inquiry.isShared || (isPrepared && from !== step.membership.writer);
    // Applied proposals come with the registry. If a member asks about one again later, this peer inquires again.
    if (state === "APPLIED" || silent.size === 0) inquiries.delete(id);
    else inquiries.set(id, { ...inquiry, silent, isOpen, isShared });
    if (state === "APPLIED" || silent.size > 0 || !isOpen) continue;
    if (!isShared) writersOwn += 1;
    if (isShared || writersOwn <= step.capacities.preparations) unapplied.push([id, inquiry.item]);
  }
  step.draft("rejoining").recovery = { ...recovery, inquiries, writersOwn };
  return unapplied;
};
