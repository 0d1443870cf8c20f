/**
 * How a restored peer takes the registry from another member, page by page, or at the writer from all of them, and
 * becomes a member again when its registry is the one that was offered (protocol.md 4f, S26).
 */
import type { Capacities } from "../base/Capacities.ts";
import type { Recovery, Sum, Sweep, Transfer, Union } from "./RecoveryState.ts";
import type { PeerState } from "./PeerState.ts";
import { SELF } from "./Tables.ts";
import type { Step } from "./Step.ts";
import { decisionOf } from "./Decision.ts";
import { settleRefusals } from "./Lifecycle.ts";
import { continueSlots } from "./Slots.ts";
import { takeUp } from "./Joining.ts";
import type { MessageOf } from "./Message.ts";
import { type Installed, installAlike, installOffer, ownSlots, seqIn } from "./SnapshotInstall.ts";
import { nextSpan } from "./SnapshotSpan.ts";
import type { PeerId } from "./Topology.ts";
import { CONTRADICTION, OTHER_BACKUP, unite } from "./Union.ts";
import { diskThere, installUnited, incarnationsOnRecord, lookAt } from "./UnionPages.ts";

const UNASKED = "not every member has said yet what it has";

/** A recovery that has yet to begin. */
export const freshRecovery = (waitsFor: string, distrusted: ReadonlySet<PeerId> = new Set()): Recovery => ({
  nonce: undefined,
  startedAt: 0,
  answers: new Map(),
  transfer: undefined,
  inquiries: new Map(),
  writersOwn: 0,
  superseded: undefined,
  isReadable: false,
  distrusted,
  leaps: 0,
  waitsFor,
});

/** Makes sure that a recovery goes on. */
export const recover = (step: Step): void => {
  if (step.state.rejoining.recovery !== undefined) step.arm("recover", 1);
};

/** Ends the round; the next one begins with the timer. */
export const waitFor = (step: Step, waitsFor: string, distrusted: PeerId | undefined = undefined): void => {
  const {
    rejoining: { recovery },
  } = step.state;
  if (recovery === undefined) return;
  const doubts = new Set(recovery.distrusted);
  if (distrusted !== undefined) doubts.add(distrusted);
  const { inquiries, writersOwn, isReadable, leaps } = recovery;
  step.draft("rejoining").recovery = { ...freshRecovery(waitsFor, doubts), inquiries, writersOwn, isReadable, leaps };
};

export const freshTransfer = (
  step: Step,
  from: Pick<Transfer, "helper" | "root" | "count" | "isShared" | "reach">,
): Transfer => ({
  ...from,
  union: undefined,
  after: "",
  undone: false,
  isAgain: false,
  empty: 0,
  applied: 0,
  decided: 0,
  newest: 0,
  sum: undefined,
  sweep: undefined,
  movedAt: step.elapsed,
  askedAt: step.elapsed,
});

/** Begins with the first page of the source whose turn it is. */
export const askSource = (step: Step, union: Union, undone: boolean): void => {
  const source = union.sources[union.at];
  if (source === undefined) return;
  const { set, approvers: count } = step.state.registry;
  const root = step.context.crypto.setDigest(set);
  requestMore(step, {
    ...freshTransfer(step, { helper: source.peerId, root, count, isShared: true, reach: undefined }),
    union,
    undone,
  });
};

/** At most this many pages of a helper hold only refused or prepared slots that are not decided. */
const emptyPages = ({ preparations, refusals, offeredSlots }: Capacities): number =>
  1 + Math.ceil((preparations + refusals) / offeredSlots);

/** Whether there is anything between the ends of a page, there or here: this disk may be far ahead of the helper's. */
const bringsOn = (step: Step, { items, after, upTo }: MessageOf<"SnapshotOffer">): boolean =>
  items.length > 0 || ownSlots(step, after, upTo).rows.size > 0;

export const requestMore = (step: Step, transfer: Transfer): void => {
  const {
    rejoining: { recovery, restored },
  } = step.state;
  if (recovery?.nonce === undefined || restored === undefined) return;
  const { recoveryId } = restored.restoration;
  const { helper, after, union } = transfer;
  const waitsFor = `takes the registry from peer ${helper}`;
  step.draft("rejoining").recovery = { ...recovery, transfer: { ...transfer, askedAt: step.elapsed }, waitsFor };
  // Disks that are to be united are shown whole: each is looked at by itself.
  const here = union === undefined ? nextSpan(step, after) : undefined;
  step.send(helper, { _tag: "SnapshotRequest", recoveryId, nonce: recovery.nonce, after, here });
};

export const onSnapshotOffer = (step: Step, from: PeerId, offer: MessageOf<"SnapshotOffer">): void => {
  const {
    rejoining: { recovery, restored },
  } = step.state;
  const transfer = recovery?.transfer;
  if (recovery === undefined || transfer === undefined) return;
  if (step.mode === "announcing" && transfer.isShared) return;
  if (from !== transfer.helper || transfer.sum !== undefined || offer.after !== transfer.after) return;
  if (offer.recoveryId !== restored?.restoration.recoveryId || offer.nonce !== recovery.nonce) return;
  const empty = bringsOn(step, offer) ? 0 : transfer.empty + 1;
  if (empty > emptyPages(step.capacities))
    return waitFor(step, `peer ${from} offers page after page with nothing in it`, from);
  if (transfer.union !== undefined) return onOwnRegistry(step, { ...transfer, empty }, transfer.union, offer);
  if (offer.own !== undefined) return waitFor(step, `peer ${from} is being restored itself`, from);
  const { topologyDigest, root, count } = offer.cutoff;
  if (topologyDigest !== step.membership.digest || root !== transfer.root || count !== transfer.count)
    return waitFor(step, `peer ${from} offers another registry than it had`, from);
  if (isFar(step, offer, transfer, recovery)) return leave(step, transfer);
  const installed = offer.alike === undefined ? installOffer(step, offer) : installAlike(step, offer);
  if (installed === undefined) return waitFor(step, `peer ${from} offers what does not hold`, from);
  if (installed.isSeen) hide(step);
  const next = { ...settledBy(step, transfer, installed), empty };
  if (next.undone && next.isAgain) return waitFor(step, `peer ${from} leaves out what it offered before`, from);
  if (installed.upTo !== undefined) return requestMore(step, { ...next, after: installed.upTo });
  // What is asked for says which slots are here, and that is known once those of this pass are committed.
  if (next.undone)
    return goOn(step, { ...next, after: "", undone: false, isAgain: true, applied: 0, askedAt: undefined });
  addUp(step, next);
};

/**
 * Whether a page goes past the highest slot that is believed. Every member has voted on a change that was applied, so
 * that no slot within the window of one is strange, nor one that others know; an abort too needs the votes of all. A
 * certificate in it that does not hold has the page refused anyway.
 */
const isFar = (
  { capacities: { slotWindow } }: Step,
  { items }: MessageOf<"SnapshotOffer">,
  { reach, newest }: Transfer,
  { leaps }: Recovery,
): boolean => {
  const applied = items.filter(({ certificate }) => certificate !== undefined);
  const change = Math.max(newest, ...applied.map(({ key }) => seqIn(key)));
  const believed = reach === undefined ? change + slotWindow * 2 ** leaps : Math.max(reach, change) + slotWindow;
  return items.some(({ key }) => seqIn(key) > believed);
};

/** Slots go on and on: others are asked first from now on, or where there are none, whether there are some by now. */
const leave = (step: Step, { helper, reach }: Transfer): void => {
  if (reach !== undefined)
    return waitFor(step, `peer ${helper} offers slots that no other member has come near`, helper);
  waitFor(step, `peer ${helper} offers slot after slot without a change, and no other member is active`);
  const {
    rejoining: { recovery },
  } = step.state;
  if (recovery !== undefined) step.draft("rejoining").recovery = { ...recovery, leaps: recovery.leaps + 1 };
};

const settledBy = (step: Step, transfer: Transfer, { undone, applied, decided, newest }: Installed): Transfer => ({
  ...transfer,
  undone: transfer.undone || undone,
  applied: transfer.applied + applied,
  decided: Math.max(transfer.decided, decided),
  newest: Math.max(transfer.newest, newest),
  movedAt: step.elapsed,
});

/** A page of a member that is being restored itself: looked at first, and used once all pages are known. */
const onOwnRegistry = (step: Step, transfer: Transfer, union: Union, offer: MessageOf<"SnapshotOffer">): void => {
  const { own } = offer;
  if (own === undefined || own.recoveryId !== union.sources[union.at]?.recoveryId)
    return waitFor(step, `peer ${transfer.helper} is not in the incarnation any more in which it was asked`);
  if (union.united === undefined) return look(step, transfer, union, offer, own);
  const { changes } = union.united;
  const installed = installUnited(step, offer, union.united);
  if (installed === undefined || [...own.refused, ...step.state.undecided.refused.keys()].some((id) => changes.has(id)))
    return waitFor(step, `peer ${transfer.helper} shows something else than before`);
  if (installed.isSeen) hide(step);
  const next = settledBy(step, transfer, installed);
  if (installed.upTo !== undefined) return requestMore(step, { ...next, after: installed.upTo });
  if (union.at + 1 < union.sources.length) return askSource(step, { ...union, at: union.at + 1 }, next.undone);
  // The removed changes may have hidden one that is here.
  if (next.undone) return askSource(step, { ...union, at: 0 }, false);
  if (next.applied !== changes.size) return waitFor(step, "a member does not show any more what it had");
  addUp(step, next);
};

const look = (
  step: Step,
  transfer: Transfer,
  union: Union,
  offer: MessageOf<"SnapshotOffer">,
  own: NonNullable<MessageOf<"SnapshotOffer">["own"]>,
): void => {
  const at = union.at + 1;
  const seen = lookAt(step, offer, at);
  const disk = union.disks[at] ?? diskThere(step, transfer.helper, own);
  if (seen === undefined || disk === undefined)
    return waitFor(step, `what peer ${transfer.helper} has does not hold: ${OTHER_BACKUP}`);
  const disks = union.disks[at] === undefined ? [...union.disks, disk] : union.disks;
  const looked = { ...union, disks, looks: [...union.looks, seen.shown] };
  if (seen.upTo !== undefined)
    return requestMore(step, { ...transfer, union: looked, after: seen.upTo, movedAt: step.elapsed });
  if (at < union.sources.length) return askSource(step, { ...looked, at }, false);
  const united = unite(disks, looked.looks.flat());
  if (typeof united === "string") return waitFor(step, united);
  askSource(step, { ...looked, at: 0, looks: [], united }, false);
};

/** Goes on in a step of its own, which sees the rows that this one leaves. */
const goOn = (step: Step, transfer: Transfer): void => {
  const {
    rejoining: { recovery },
  } = step.state;
  if (recovery === undefined) return;
  step.draft("rejoining").recovery = { ...recovery, transfer };
  recover(step);
};

const addUp = (step: Step, transfer: Transfer): void => {
  const sum = { after: "", set: step.context.crypto.emptySet, count: 0, revisions: 0, isSound: true };
  goOn(step, { ...transfer, sum });
};

/** Reads stop: they would show parts of two registries. */
export const hide = (step: Step): void => {
  const {
    rejoining: { recovery },
  } = step.state;
  if (recovery !== undefined) step.draft("rejoining").recovery = { ...recovery, isReadable: false };
  if (step.context.view.get("readable", SELF) !== undefined) step.write({ op: "remove", table: "readable", key: SELF });
};

/** The registry of a member is here as a whole: reads are served, and all members are asked again. */
const show = (step: Step, registry: PeerState["registry"], waitsFor: string): void => {
  const {
    rejoining: { restored },
  } = step.state;
  if (restored === undefined) return;
  step.put("readable", SELF, { recoveryId: restored.restoration.recoveryId });
  step.state.registry = registry;
  waitFor(step, waitsFor);
  const {
    rejoining: { recovery },
  } = step.state;
  if (recovery !== undefined) step.draft("rejoining").recovery = { ...recovery, isReadable: true };
};

/**
 * Before its first change a promoted cluster has the registry that all its members have signed for. A source that says it
 * is a member like any other already, and has another one, would be believed otherwise (S27).
 */
const isPromised = (step: Step, { newest, root, count }: Transfer): boolean => {
  const { own, bound } = step.state.cluster.promotion;
  const { draft } = own ?? bound ?? {};
  if (draft === undefined || newest >= draft.firstSlot) return true;
  return root === draft.root && count === draft.approvers;
};

/** Reads the registry as it is now on this disk, a part at a time, and compares it with the offered one. */
export const sumUp = (step: Step, recovery: Recovery, transfer: Transfer, sum: Sum): void => {
  const { crypto, view, commands } = step.context;
  const page = commands.contents(crypto, view, sum.after, step.capacities.summedRecords);
  let { set, count, revisions, isSound } = sum;
  for (const entry of page) {
    set = entry.addTo(set);
    if (entry.isCounted) count += 1;
    revisions += entry.revision;
    isSound &&= entry.isSound;
  }
  const last = page.at(-1);
  if (last !== undefined && page.length === step.capacities.summedRecords) {
    step.draft("rejoining").recovery = {
      ...recovery,
      transfer: { ...transfer, sum: { after: last.key, set, count, revisions, isSound } },
    };
    return recover(step);
  }
  // Every applied slot made one revision: the root alone would not show a missing one that others built on.
  const isComplete = isSound && revisions === transfer.applied;
  if (transfer.union !== undefined) {
    if (!isComplete) return waitFor(step, CONTRADICTION);
  } else if (!isComplete || crypto.setDigest(set) !== transfer.root || count !== transfer.count)
    return waitFor(step, `what peer ${transfer.helper} offers does not come to its root`, transfer.helper);
  else if (!isPromised(step, transfer))
    return waitFor(step, `what peer ${transfer.helper} offers is not the registry of the promotion`, transfer.helper);
  const registry = { set, approvers: count };
  if (transfer.isShared) sweepOn(step, recovery, transfer, { registry, at: 0, after: "" });
  else show(step, registry, UNASKED);
};

/** Erases a part of what the registry does not bear out, and takes part with it once nothing of that is left. */
export const sweepOn = (step: Step, recovery: Recovery, transfer: Transfer, { registry, at, after }: Sweep): void => {
  const sweeps = step.context.commands.modules.flatMap(({ sweep }) => sweep ?? []);
  const last = sweeps[at]?.(step, after, step.capacities.summedRecords);
  const next = last === undefined ? { at: at + 1, after: "" } : { at, after: last };
  if (next.at >= sweeps.length) return finish(step, registry, transfer.decided);
  step.draft("rejoining").recovery = { ...recovery, transfer: { ...transfer, sweep: { registry, ...next } } };
  recover(step);
};

/** The one step in which the registry becomes visible and this peer a member like any other. */
const finish = (step: Step, registry: PeerState["registry"], decided: number): void => {
  const {
    rejoining: { restored },
    undecided: { highSeq },
  } = step.state;
  const { view } = step.context;
  if (restored === undefined) return;
  const incarnations = incarnationsOnRecord(step);
  step.write({ op: "replace", table: "restore", key: SELF, row: { ...restored, recovering: false, incarnations } });
  hide(step);
  step.state.registry = registry;
  step.draft("rejoining").recovery = undefined;
  // Nobody votes further ahead: slots beyond were reserved by an incarnation that is superseded, or are a lie.
  continueSlots(step, decided, Math.min(highSeq, decided + step.capacities.slotWindow - 1));
  settleRefusals(step, ({ id, proposal }) => decisionOf(view, id, proposal) !== undefined);
  takeUp(step);
};
