/** A declared restore under way, and how far it has come. */
import type { Digest, SetAccumulator } from "../base/Digest.ts";
import type { Ready, SettleItem } from "./Message.ts";
import type { SignedRestoration } from "./Restoration.ts";
import type { PeerId } from "./Topology.ts";
import type { Disk, Shown, United } from "./Union.ts";

/** The set of the approvers read so far, and the sum of their revisions. */
export interface Sum {
  readonly after: string;
  readonly set: SetAccumulator;
  readonly count: number;
  readonly revisions: number;
  /** Whether each approver so far is the owner of its key. */
  readonly isSound: boolean;
}

/** What is left of the old disk beside the registry goes once that is known to be true, a part at a time. */
export interface Sweep {
  readonly registry: { readonly set: SetAccumulator; readonly approvers: number };
  /** Which of the modules that have such rows is swept, and its last row that was looked at. */
  readonly at: number;
  readonly after: string;
}

/** At the writer, where every member is being restored: all their registries become one (Union.ts). */
export interface Union {
  /** The members whose registries are united with its own, in this order, each in the incarnation it must stay in. */
  readonly sources: ReadonlyArray<{ readonly peerId: PeerId; readonly recoveryId: Digest }>;
  /** Which of them is being asked. */
  readonly at: number;
  /** This peer's own disk, and those of the sources that were asked so far. */
  readonly disks: ReadonlyArray<Disk>;
  /** Their slots so far, page by page. */
  readonly looks: ReadonlyArray<ReadonlyArray<Shown>>;
  /** The union, decided once all were looked at: nothing is changed before. */
  readonly united: United | undefined;
}

/** How far a restored peer has come with taking the registry from another member. */
export interface Transfer {
  readonly helper: PeerId;
  readonly union: Union | undefined;
  /** The registry of every member that offered: the result must be exactly this. */
  readonly root: Digest;
  readonly count: number;
  /** The last slot that is settled here. */
  readonly after: string;
  /** Whether every member was asked and all agree: else it only serves reads, and is no member with it yet. */
  readonly isShared: boolean;
  /** A change that nobody else has was taken away in this pass, so changes that it hid may still be missing. */
  readonly undone: boolean;
  /**
   * Whether a pass before this one took something away: what is here by now is what the helper has offered. This peer
   * votes for nothing meanwhile, so an honest helper's changes stay as they are, and nothing is left to be taken away.
   */
  readonly isAgain: boolean;
  /** Successive pages without a slot: an honest helper has no more of them than its undecided proposals can fill. */
  readonly empty: number;
  /** Applied slots settled in this pass, and the highest slot that is settled. */
  readonly applied: number;
  readonly decided: number;
  /**
   * How far the slots go at most by what other active members have said; undefined where none has. A writer that lies can
   * prove any number of aborted slots by its own receipts.
   */
  readonly reach: number | undefined;
  /** The highest slot that was applied; 0 where there is none. */
  readonly newest: number;
  /** Once all slots are settled: the registry read again from the first row, to compare its root. */
  readonly sum: Sum | undefined;
  /** Once it was found to be the offered one, and all members agree on it. */
  readonly sweep: Sweep | undefined;
  /** Monotonic milliseconds: when it last moved on, and when it was last asked for more; undefined before it is. */
  readonly movedAt: number;
  readonly askedAt: number | undefined;
}

/** A proposal that all others are asked about before a restored peer refuses it. */
export interface Inquiry {
  readonly item: SettleItem;
  /** Members that have not yet said that they have not applied it. */
  readonly silent: ReadonlySet<PeerId>;
  /** Whether a member has said that it has prepared it, and whether a member other than the writer has. */
  readonly isOpen: boolean;
  readonly isShared: boolean;
}

/** A declared restore under way: this peer votes for nothing new. */
export interface Recovery {
  /** Of the round in which all members are asked for their registry; undefined between rounds. */
  readonly nonce: Digest | undefined;
  /** Monotonic milliseconds. */
  readonly startedAt: number;
  readonly answers: ReadonlyMap<PeerId, Ready>;
  readonly transfer: Transfer | undefined;
  readonly inquiries: ReadonlyMap<Digest, Inquiry>;
  /** Proposals, in this process, that only the writer had prepared and that this incarnation was to refuse. */
  readonly writersOwn: number;
  /** Another incarnation of this peer has this number or a higher one: it is on record, or its signature was shown. */
  readonly superseded: number | undefined;
  /** Whether it has the whole registry of a member that was not restored, and serves reads from it. */
  readonly isReadable: boolean;
  /** Members whose offer did not hold, or did not come: others are asked first. */
  readonly distrusted: ReadonlySet<PeerId>;
  /** How often all were asked anew because slots went on behind the last change, and nobody else could be asked. */
  readonly leaps: number;
  /** What it waits for, for the operator. */
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
