/**
 * How a restored peer takes the registry from another member, page by page, or at the writer from all of them, and is
 * one of them again when it comes to what was offered (protocol.md 4f, S26).
 */
import { Limits } from "../base/Limits.ts";
import type { Recovery, Sum, Transfer, Union } from "./RecoveryState.ts";
import type { PeerState } from "./PeerState.ts";
import { SELF } from "./Tables.ts";
import type { Turn } from "./Turn.ts";
import { decisionOf } from "./Decision.ts";
import { settleRefusals } from "./Lifecycle.ts";
import { continueSlots } from "./Slots.ts";
import { takeUp } from "./Joining.ts";
import type { MessageOf } from "./Message.ts";
import { type Installed, installOffer } from "./SnapshotInstall.ts";
import type { PeerId } from "./Topology.ts";
import { CONTRADICTION, OTHER_BACKUP, unite } from "./Union.ts";
import { diskThere, installUnited, livesOnRecord, lookAt } from "./UnionPages.ts";

/** Approvers read in one turn, when the root is computed from them. */
const SUM_ROWS = 256;

const UNASKED = "not every member has said yet what it has";

/** A recovery that has yet to begin. */
export const freshRecovery = (waitsFor: string, distrusted: ReadonlySet<PeerId> = new Set()): Recovery => ({
  nonce: undefined,
  startedAt: 0,
  answers: new Map(),
  transfer: undefined,
  inquiries: new Map(),
  writersOwn: 0,
  outbid: undefined,
  isReadable: false,
  distrusted,
  waitsFor,
});

/** Sees to it that a recovery goes on. */
export const recover = (turn: Turn): void => {
  if (turn.state.rejoining.recovery !== undefined) turn.arm("recover", 1);
};

/** Ends the round; the next one begins with the timer. */
export const waitFor = (turn: Turn, waitsFor: string, distrusted: PeerId | undefined = undefined): void => {
  const {
    rejoining: { recovery },
  } = turn.state;
  if (recovery === undefined) return;
  const doubts = new Set(recovery.distrusted);
  if (distrusted !== undefined) doubts.add(distrusted);
  const { inquiries, writersOwn, isReadable } = recovery;
  turn.draft("rejoining").recovery = { ...freshRecovery(waitsFor, doubts), inquiries, writersOwn, isReadable };
};

export const freshTransfer = (
  turn: Turn,
  from: Pick<Transfer, "helper" | "root" | "count" | "isShared">,
): Transfer => ({
  ...from,
  union: undefined,
  after: "",
  undone: false,
  empty: 0,
  applied: 0,
  decided: 0,
  sum: undefined,
  movedAt: turn.elapsed,
  askedAt: turn.elapsed,
});

/** Begins with the first page of the source whose turn it is. */
export const askSource = (turn: Turn, union: Union, undone: boolean): void => {
  const source = union.sources[union.at];
  if (source === undefined) return;
  const { set, approvers: count } = turn.state.registry;
  const root = turn.context.crypto.setDigest(set);
  requestMore(turn, { ...freshTransfer(turn, { helper: source.peerId, root, count, isShared: true }), union, undone });
};

/** Slots that are refused or prepared and not decided fill so many pages of a helper at most. */
const EMPTY_PAGES = 1 + Math.ceil((Limits.preparations + Limits.refusals) / Limits.batchProposals);

export const requestMore = (turn: Turn, transfer: Transfer): void => {
  const {
    rejoining: { recovery, restored },
  } = turn.state;
  if (recovery?.nonce === undefined || restored === undefined) return;
  const { recoveryId } = restored.restoration;
  const { helper, after } = transfer;
  const waitsFor = `takes the registry from peer ${helper}`;
  turn.draft("rejoining").recovery = { ...recovery, transfer: { ...transfer, askedAt: turn.elapsed }, waitsFor };
  turn.send(helper, { _tag: "SnapshotRequest", recoveryId, nonce: recovery.nonce, after });
};

export const onSnapshotOffer = (turn: Turn, from: PeerId, offer: MessageOf<"SnapshotOffer">): void => {
  const {
    rejoining: { recovery, restored },
  } = turn.state;
  const transfer = recovery?.transfer;
  if (recovery === undefined || transfer === undefined) return;
  if (turn.mode === "announcing" && transfer.isShared) return;
  if (from !== transfer.helper || transfer.sum !== undefined || offer.after !== transfer.after) return;
  if (offer.recoveryId !== restored?.restoration.recoveryId || offer.nonce !== recovery.nonce) return;
  const empty = offer.items.length === 0 ? transfer.empty + 1 : 0;
  if (empty > EMPTY_PAGES) return waitFor(turn, `peer ${from} offers page after page with nothing in it`, from);
  if (transfer.union !== undefined) return onOwnRegistry(turn, { ...transfer, empty }, transfer.union, offer);
  if (offer.own !== undefined) return waitFor(turn, `peer ${from} is being restored itself`);
  const { topologyDigest, root, count } = offer.cutoff;
  if (topologyDigest !== turn.membership.digest || root !== transfer.root || count !== transfer.count)
    return waitFor(turn, `peer ${from} offers another registry than it had`, from);
  const installed = installOffer(turn, offer);
  if (installed === undefined) return waitFor(turn, `peer ${from} offers what does not hold`, from);
  if (installed.isSeen) hide(turn);
  const next = { ...settledBy(turn, transfer, installed), empty };
  if (installed.upTo !== undefined) return requestMore(turn, { ...next, after: installed.upTo });
  if (next.undone) return requestMore(turn, { ...next, after: "", undone: false, applied: 0 });
  addUp(turn, next);
};

const settledBy = (turn: Turn, transfer: Transfer, { undone, applied, decided }: Installed): Transfer => ({
  ...transfer,
  undone: transfer.undone || undone,
  applied: transfer.applied + applied,
  decided: Math.max(transfer.decided, decided),
  movedAt: turn.elapsed,
});

/** A page of what a member has that is being restored itself: looked at first, and used when all were. */
const onOwnRegistry = (turn: Turn, transfer: Transfer, union: Union, offer: MessageOf<"SnapshotOffer">): void => {
  const { own } = offer;
  if (own === undefined || own.recoveryId !== union.sources[union.at]?.recoveryId)
    return waitFor(turn, `peer ${transfer.helper} is not in the life any more in which it was asked`);
  if (union.united === undefined) return look(turn, transfer, union, offer, own);
  const { changes } = union.united;
  const installed = installUnited(turn, offer, union.united);
  if (installed === undefined || [...own.refused, ...turn.state.undecided.refused.keys()].some((id) => changes.has(id)))
    return waitFor(turn, `peer ${transfer.helper} shows something else than before`);
  if (installed.isSeen) hide(turn);
  const next = settledBy(turn, transfer, installed);
  if (installed.upTo !== undefined) return requestMore(turn, { ...next, after: installed.upTo });
  if (union.at + 1 < union.sources.length) return askSource(turn, { ...union, at: union.at + 1 }, next.undone);
  // What was taken away may have hidden something that is here.
  if (next.undone) return askSource(turn, { ...union, at: 0 }, false);
  if (next.applied !== changes.size) return waitFor(turn, "a member does not show any more what it had");
  addUp(turn, next);
};

const look = (
  turn: Turn,
  transfer: Transfer,
  union: Union,
  offer: MessageOf<"SnapshotOffer">,
  own: NonNullable<MessageOf<"SnapshotOffer">["own"]>,
): void => {
  const at = union.at + 1;
  const seen = lookAt(turn, offer, at);
  const disk = union.disks[at] ?? diskThere(turn, transfer.helper, own);
  if (seen === undefined || disk === undefined)
    return waitFor(turn, `what peer ${transfer.helper} has does not hold: ${OTHER_BACKUP}`);
  const disks = union.disks[at] === undefined ? [...union.disks, disk] : union.disks;
  const looked = { ...union, disks, looks: [...union.looks, seen.shown] };
  if (seen.upTo !== undefined)
    return requestMore(turn, { ...transfer, union: looked, after: seen.upTo, movedAt: turn.elapsed });
  if (at < union.sources.length) return askSource(turn, { ...looked, at }, false);
  const united = unite(disks, looked.looks.flat());
  if (typeof united === "string") return waitFor(turn, united);
  askSource(turn, { ...looked, at: 0, looks: [], united }, false);
};

const addUp = (turn: Turn, transfer: Transfer): void => {
  const {
    rejoining: { recovery },
  } = turn.state;
  if (recovery === undefined) return;
  const sum = { after: "", set: turn.context.crypto.emptySet, count: 0, revisions: 0, isSound: true };
  turn.draft("rejoining").recovery = { ...recovery, transfer: { ...transfer, sum } };
  recover(turn);
};

/** No read is served any more: what they would show is about to be another registry in parts. */
export const hide = (turn: Turn): void => {
  const {
    rejoining: { recovery },
  } = turn.state;
  if (recovery !== undefined) turn.draft("rejoining").recovery = { ...recovery, isReadable: false };
  if (turn.context.view.get("readable", SELF) !== undefined) turn.write({ op: "remove", table: "readable", key: SELF });
};

/** The registry of a member is here as a whole: reads are served, and everybody is asked again. */
const show = (turn: Turn, registry: PeerState["registry"], waitsFor: string): void => {
  const {
    rejoining: { restored },
  } = turn.state;
  if (restored === undefined) return;
  turn.put("readable", SELF, { recoveryId: restored.restoration.recoveryId });
  turn.state.registry = registry;
  waitFor(turn, waitsFor);
  const {
    rejoining: { recovery },
  } = turn.state;
  if (recovery !== undefined) turn.draft("rejoining").recovery = { ...recovery, isReadable: true };
};

/** Reads the registry as it is now on this disk, a part at a time, and holds it against what was offered. */
export const sumUp = (turn: Turn, recovery: Recovery, transfer: Transfer, sum: Sum): void => {
  const { crypto, view, commands } = turn.context;
  const page = commands.contents(crypto, view, sum.after, SUM_ROWS);
  let { set, revisions, isSound } = sum;
  for (const entry of page) {
    set = entry.addTo(set);
    revisions += entry.revision;
    isSound &&= entry.isSound;
  }
  const count = sum.count + page.length;
  const last = page.at(-1);
  if (last !== undefined && page.length === SUM_ROWS) {
    turn.draft("rejoining").recovery = {
      ...recovery,
      transfer: { ...transfer, sum: { after: last.key, set, count, revisions, isSound } },
    };
    return recover(turn);
  }
  // Every applied slot made one revision: the root alone does not show one left out that others built on.
  const isComplete = isSound && revisions === transfer.applied;
  if (transfer.union !== undefined) {
    if (!isComplete) return waitFor(turn, CONTRADICTION);
  } else if (!isComplete || crypto.setDigest(set) !== transfer.root || count !== transfer.count)
    return waitFor(turn, `what peer ${transfer.helper} offers does not come to its root`, transfer.helper);
  const registry = { set, approvers: count };
  if (transfer.isShared) finish(turn, registry, transfer.decided);
  else show(turn, registry, UNASKED);
};

/** The one step in which the registry becomes visible and this peer a member like any other. */
const finish = (turn: Turn, registry: PeerState["registry"], decided: number): void => {
  const {
    rejoining: { restored },
    undecided: { highSeq },
  } = turn.state;
  const { view } = turn.context;
  if (restored === undefined) return;
  const lives = livesOnRecord(turn);
  turn.write({ op: "replace", table: "restore", key: SELF, row: { ...restored, recovering: false, lives } });
  hide(turn);
  turn.state.registry = registry;
  turn.draft("rejoining").recovery = undefined;
  // Nobody votes further ahead. What the old life reserved there nobody knew, or it would be decided; its life is over.
  const bound = turn.isWriter ? Math.min(highSeq, decided + Limits.slotWindow - 1) : highSeq;
  continueSlots(turn, decided, bound);
  settleRefusals(turn, ({ id, proposal }) => decisionOf(view, id, proposal) !== undefined);
  takeUp(turn);
};
