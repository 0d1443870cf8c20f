/**
 * The pages of a union, at the writer: first every disk, its own among them, is read and nothing is changed; once the
 * union is decided (Union.ts), the same pages turn its own disk into it.
 */
import { SELF } from "./Tables.ts";
import { FIRST_INCARNATION } from "./SignedState.ts";
import type { Step } from "./Step.ts";
import type { Digest } from "../base/Digest.ts";
import type { MessageOf } from "./Message.ts";
import type { Proposal } from "./Proposal.ts";
import { type Installed, installSettled, ownSlots, settledHere, settledOf, type Settled } from "./SnapshotInstall.ts";
import { epochOf, type Membership, type PeerId } from "./Topology.ts";
import type { Disk, Incarnations, Shown, United } from "./Union.ts";

type SnapshotOffer = MessageOf<"SnapshotOffer">;

/** The incarnations of all members, in member order, that this peer has on record. */
export const incarnationsOnRecord = (step: Step): Incarnations =>
  step.membership.peerIds.map((peerId) => step.recordedIncarnation(peerId));

/** This peer's own disk, besides its slots. */
export const diskHere = (step: Step): Disk => {
  const { view } = step.context;
  const incarnations = view.get("restore", SELF)?.incarnations ?? [];
  return {
    peerId: step.self,
    incarnations: step.membership.peerIds.map((_, index) => incarnations[index] ?? FIRST_INCARNATION),
    refused: new Set(step.state.undecided.refused.keys()),
    strays: new Set(view.scan("strays", "", step.capacities.refusals).map(({ key }) => key as Digest)),
  };
};

/** The disk of another member; undefined where it claims incarnations later than those on record. */
export const diskThere = (step: Step, peerId: PeerId, own: NonNullable<SnapshotOffer["own"]>): Disk | undefined => {
  const { incarnations, refused, strays } = own;
  const now = incarnationsOnRecord(step);
  if (incarnations.length !== now.length || incarnations.some((each, index) => each > (now[index] ?? 0)))
    return undefined;
  return { peerId, incarnations, refused: new Set(refused), strays: new Set(strays) };
};

/** Those that a proposal pins, of the members of today: whoever was none at its time was in none. */
const incarnationsIn = (newest: Membership, { seq, incarnations }: Proposal): Incarnations => {
  const then = epochOf(newest, seq)?.peerIds ?? [];
  return newest.peerIds.map((peerId) => incarnations[then.indexOf(peerId)] ?? FIRST_INCARNATION);
};

const shownBy = (step: Step, disk: number, { key, id, certificate }: Settled): Shown => {
  if (certificate === undefined) return { disk, key, id, change: undefined };
  const { proposal } = certificate;
  const incarnations = incarnationsIn(step.membership, proposal);
  return { disk, key, id, change: { incarnations, ...step.command(proposal).lineageOf(proposal.effects) } };
};

/** Own slots from `after` to `upTo`, or as many of them as are settled at a time. */
const settledOwn = (step: Step, { after, upTo }: SnapshotOffer) => {
  const here = ownSlots(step, after, upTo);
  return { here, own: [...here.rows].flatMap(([key, row]) => settledHere(step, key, row) ?? []) };
};

/** The slots of a page; for the first source also this peer's own in that range; undefined if the page is invalid. */
export const lookAt = (
  step: Step,
  offer: SnapshotOffer,
  disk: number,
): { readonly shown: ReadonlyArray<Shown>; readonly upTo: string | undefined } | undefined => {
  const all = settledOf(step, offer);
  if (all === undefined) return undefined;
  const theirs = all.map((each) => shownBy(step, disk, each));
  if (disk !== 1) return { shown: theirs, upTo: offer.upTo };
  const { here, own } = settledOwn(step, offer);
  const { upTo } = here;
  const shown = [
    ...own.map((each) => shownBy(step, 0, each)),
    ...theirs.filter(({ key }) => upTo === undefined || key <= upTo),
  ];
  return { shown, upTo };
};

/**
 * Turns this peer's part of the registry between two slots into the union, as far as it is here or in the offer;
 * otherwise like `installOffer`.
 */
export const installUnited = (step: Step, offer: SnapshotOffer, { slots, changes }: United): Installed | undefined => {
  const all = settledOf(step, offer);
  if (all === undefined) return undefined;
  const { here, own } = settledOwn(step, offer);
  const kept = new Map<string, Settled>();
  for (const each of [...own, ...all]) {
    const { key, id, certificate } = each;
    const isDecided = slots.get(key) === id && changes.has(id) === (certificate !== undefined);
    if (isDecided && (here.upTo === undefined || key <= here.upTo) && !kept.has(key)) kept.set(key, each);
  }
  return installSettled(step, here, [...kept.values()]);
};
