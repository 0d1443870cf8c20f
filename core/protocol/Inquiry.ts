/**
 * What a restored member does before it refuses: it asks every other member
 * whether it has applied the proposal. Somebody may have pledged on a refusal
 * and been freed by an acknowledgement of this peer's old incarnation; a refusal now
 * would then complete the votes for the end of what is applied (protocol.md
 * 3.1, 4i, S4). Who answers has this peer's new incarnation on record, and from then
 * on nothing of the old one frees it.
 */
import type { Digest } from "../base/Digest.ts";
import { Limits } from "../base/Limits.ts";
import type { Inquiry, Recovery } from "./RecoveryState.ts";
import type { PeerState } from "./PeerState.ts";
import type { Step } from "./Step.ts";
import type { MessageOf, SettleItem } from "./Message.ts";
import type { PeerId } from "./Topology.ts";

/**
 * Whether this incarnation was made to refuse more of what only the writer has prepared than an honest one can have open, or
 * in several processes so much that it would never be ready as a member. Some of it was a lie, and nobody can tell
 * which; what is not refused may be what the recovery waits for.
 */
export const isMisled = ({
  rejoining: { recovery },
  undecided: { refused },
}: Pick<PeerState, "rejoining" | "undecided">): boolean =>
  recovery !== undefined && (recovery.writersOwn > Limits.preparations || refused.size >= Limits.refusals);

const askAbout = (step: Step, items: ReadonlyArray<SettleItem>, to: ReadonlyArray<PeerId>): void => {
  const {
    rejoining: { restored },
  } = step.state;
  if (items.length === 0 || restored === undefined) return;
  // Nobody can have answered with it who had not been asked by this incarnation.
  const nonce = restored.restoration.recoveryId;
  step.sendAll({ _tag: "SettleQuery", items, demandFinal: false, nonce }, to);
};

/** Asks about each of at most one message's proposals, unless it is asked about or refused already. */
export const inquire = (step: Step, asked: Iterable<readonly [Digest, SettleItem]>): void => {
  const {
    rejoining: { recovery },
    undecided: { refused },
  } = step.state;
  if (recovery === undefined || step.mode === "announcing") return;
  const inquiries = new Map(recovery.inquiries);
  const fresh: Array<SettleItem> = [];
  for (const [id, { proposal, receipt }] of asked) {
    if (inquiries.has(id) || refused.has(id) || inquiries.size >= Limits.preparations) continue;
    const item = { proposal, receipt };
    inquiries.set(id, { item, silent: new Set(step.others), isOpen: false, isShared: step.isWriter });
    fresh.push(item);
  }
  step.draft("rejoining").recovery = { ...recovery, inquiries };
  askAbout(step, fresh, step.others);
};

/** Asks those again who have not answered. */
export const inquireAgain = (step: Step, { inquiries }: Recovery): void => {
  const open = [...inquiries.values()];
  for (const peerId of step.others) {
    const unanswered = open.filter(({ silent }) => silent.has(peerId)).slice(0, Limits.proposalsPerMessage);
    askAbout(
      step,
      unanswered.map(({ item }) => item),
      [peerId],
    );
  }
};

/**
 * Takes a member's answer; returns what somebody has prepared and all members have now said of that they have not
 * applied it. Nobody's recovery waits for anything else: what has ended elsewhere this peer takes over, or votes on as
 * a member again. Of what nobody but the writer has prepared that is no more than an honest writer can have open: one
 * that lies must not take the room for what others wait for. Slots are no bound here, because who is recovering does
 * not know how far they go. What is left over is for another incarnation ({@link isMisled}).
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
  // This incarnation is over, and signs nothing more.
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
    // What somebody has applied comes with the registry. Who asks again later gets it asked about again.
    if (state === "APPLIED" || silent.size === 0) inquiries.delete(id);
    else inquiries.set(id, { ...inquiry, silent, isOpen, isShared });
    if (state === "APPLIED" || silent.size > 0 || !isOpen) continue;
    if (!isShared) writersOwn += 1;
    if (isShared || writersOwn <= Limits.preparations) unapplied.push([id, inquiry.item]);
  }
  step.draft("rejoining").recovery = { ...recovery, inquiries, writersOwn };
  return unapplied;
};
