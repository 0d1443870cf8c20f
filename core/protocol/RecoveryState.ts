/** A declared restore under way, and how far it has come. */
import type { Digest, SetAccumulator } from "../base/Digest.ts";
import type { Ready, SettleItem } from "./Message.ts";
import type { SignedRestoration } from "./Restoration.ts";
import type { PeerId } from "./Topology.ts";
import type { Disk, Shown, United } from "./Union.ts";

/** What the approvers read so far come to, and what their revisions add up to. */
export interface Sum {
  readonly after: string;
  readonly set: SetAccumulator;
  readonly count: number;
  readonly revisions: number;
  /** Whether each one so far is the owner of its key. */
  readonly isSound: boolean;
}

/** At the writer, where every member is being restored: all their registries become one (Union.ts). */
export interface Union {
  /** Whose registries are put together with its own, in this order, each in the incarnation it must stay in. */
  readonly sources: ReadonlyArray<{ readonly peerId: PeerId; readonly recoveryId: Digest }>;
  /** Which of them is asked. */
  readonly at: number;
  /** This peer's own disk, and those of the sources that were asked so far. */
  readonly disks: ReadonlyArray<Disk>;
  /** What they have shown, page by page. */
  readonly looks: ReadonlyArray<ReadonlyArray<Shown>>;
  /** What they come to, once all were looked at: nothing is changed before. */
  readonly united: United | undefined;
}

/** How far a restored peer has come with taking the registry from another member. */
export interface Transfer {
  readonly helper: PeerId;
  readonly union: Union | undefined;
  /** What every member that offered has: the registry must come to exactly this. */
  readonly root: Digest;
  readonly count: number;
  /** The last slot that is settled here. */
  readonly after: string;
  /** Whether every member was asked and all agree: then this peer is a member again with it. Else it can only show it. */
  readonly isShared: boolean;
  /** Something that nobody else has was taken away in this pass, so that what it hid may still be missing. */
  readonly undone: boolean;
  /** Pages without a slot, one after the other: a helper has no more of them than it may have of what is undecided. */
  readonly empty: number;
  /** Applied slots settled in this pass, and the highest slot that is settled. */
  readonly applied: number;
  readonly decided: number;
  /** Once all slots are settled: the registry read again from the first row, to see what it comes to. */
  readonly sum: Sum | undefined;
  /** Monotonic milliseconds: when it last moved on, and when it was last asked for more. */
  readonly movedAt: number;
  readonly askedAt: number;
}

/** What all others are asked about before a restored peer refuses it. */
export interface Inquiry {
  readonly item: SettleItem;
  /** Members that have not said yet that they have not applied it. */
  readonly silent: ReadonlySet<PeerId>;
  /** Whether somebody has said that it has prepared it, and whether a member other than the writer has. */
  readonly isOpen: boolean;
  readonly isShared: boolean;
}

/** A declared restore under way: this peer votes for nothing new. */
export interface Recovery {
  /** Of the round in which all members are asked what they have; undefined between rounds. */
  readonly nonce: Digest | undefined;
  /** Monotonic milliseconds. */
  readonly startedAt: number;
  readonly answers: ReadonlyMap<PeerId, Ready>;
  readonly transfer: Transfer | undefined;
  readonly inquiries: ReadonlyMap<Digest, Inquiry>;
  /** Proposals that nobody but the writer had prepared, and that this incarnation was to refuse, in this process. */
  readonly writersOwn: number;
  /** Another incarnation of this peer has this incarnation, or a higher one: somebody has it on record, or shows what it signed. */
  readonly superseded: number | undefined;
  /** Whether it has the whole registry of a member that was not restored, and serves reads from it. */
  readonly isReadable: boolean;
  /** Members that offered what does not hold. */
  readonly distrusted: ReadonlySet<PeerId>;
  /** What it waits for; for the operator. */
  readonly waitsFor: string;
}

/** How this peer becomes a member again after a start or a declared restore. */
export interface Rejoining {
  /** This peer's own last declared restore. */
  readonly restored: SignedRestoration | undefined;
  readonly recovery: Recovery | undefined;
  /** An operator has declared a restore of this sealed peer: it begins with the unseal. */
  readonly isDeclared: boolean;
  /** Members that have not yet shown this process that its memory is whole, and the nonce they are asked with. */
  readonly unproven: ReadonlySet<PeerId>;
  readonly joinNonce: Digest | undefined;
}

export const notRejoining = (): Rejoining => ({
  restored: undefined,
  recovery: undefined,
  isDeclared: false,
  unproven: new Set(),
  joinNonce: undefined,
});
