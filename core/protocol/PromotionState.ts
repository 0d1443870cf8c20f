/** What a peer knows of a promotion: of its own to a cluster, or of one that it is a target of. */
import type { ActorCheck } from "../auth/ActorCheck.ts";
import type { Digest, Signature } from "../base/Digest.ts";
import { oneOf, record, type TypeOf } from "../codec/Codec.ts";
import { formsOf } from "../codec/Versioned.ts";
import { draftCodec } from "./PromotionDraft.ts";
import type { PromotionPlan } from "./PromotionPlan.ts";
import { type RowsOf, type RowView, SELF, type View, viewOf } from "./Tables.ts";
import { EPOCHS_SINCE, pinnedCodec, type PeerId } from "./Topology.ts";

export const promotionTables = {
  /**
   * At a source, one row: the draft it has pinned for ever; that every target has accepted it, which is when the next
   * epoch begins; and that every target has the whole registry, which is when it goes on.
   */
  promotion: formsOf(record({ draft: draftCodec, stage: oneOf(["PINNED", "DECIDED", "DONE"]) }), EPOCHS_SINCE),
  /** At a target, one row: the one draft it has accepted, for ever, and the topology of its source. */
  transfer: formsOf(record({ draft: draftCodec, previous: pinnedCodec }), EPOCHS_SINCE),
};
export type PromotionRows = RowsOf<typeof promotionTables>;

/** A request that waits until all targets have said whether they can. */
export interface Waiter {
  readonly requestId: string;
  readonly bearer: ActorCheck;
  /** It is told, and nothing is pinned for it. */
  readonly dryRun: boolean;
}

/** At the source, before anything is durable: every target is asked whether it would accept. */
export interface Inquiry {
  /** In order. */
  readonly plan: PromotionPlan;
  readonly nonce: Digest;
  /** Monotonic milliseconds. */
  readonly startedAt: number;
  readonly waiters: ReadonlyArray<Waiter>;
  /** Why a target would not accept; undefined where it would. */
  readonly answers: ReadonlyMap<PeerId, string | undefined>;
}

/** Whom an instance that is alone has asked, since its process was started, whether it was promoted. */
export interface Witnesses {
  readonly nonce: Digest;
  /** Monotonic milliseconds. */
  readonly since: number;
  readonly silent: ReadonlySet<PeerId>;
}

export interface Promotion {
  readonly own: (PromotionRows["promotion"] & { readonly transferId: Digest }) | undefined;
  readonly bound: (PromotionRows["transfer"] & { readonly transferId: Digest }) | undefined;
  /** The source that this peer waits for, while it belongs to no cluster; known from the first unseal on. */
  readonly awaits: PeerId | undefined;
  readonly inquiry: Inquiry | undefined;
  readonly witnesses: Witnesses | undefined;
  /** At the source: signatures of targets under the new topology, and why others refuse; a crash forgets both. */
  readonly accepted: ReadonlyMap<PeerId, Signature>;
  readonly refused: ReadonlyMap<PeerId, string>;
  /** At the source: targets that have the whole registry. */
  readonly installed: ReadonlySet<PeerId>;
}

export const noPromotion = (): Promotion => ({
  own: undefined,
  bound: undefined,
  awaits: undefined,
  inquiry: undefined,
  witnesses: undefined,
  accepted: new Map(),
  refused: new Map(),
  installed: new Set(),
});

const rowsIn = (view: RowView): View<PromotionRows> => viewOf(view, promotionTables);

/** What the store remembers. */
export const promotionAtBoot = (
  view: RowView,
  transferIdOf: (row: PromotionRows["transfer"]["draft"]) => Digest,
): Promotion => {
  const own = rowsIn(view).get("promotion", SELF);
  const bound = rowsIn(view).get("transfer", SELF);
  return {
    ...noPromotion(),
    own: own && { ...own, transferId: transferIdOf(own.draft) },
    bound: bound && { ...bound, transferId: transferIdOf(bound.draft) },
  };
};

export type Stage = TypeOf<(typeof promotionTables)["promotion"]>["stage"];
