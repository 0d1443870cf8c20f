/**
 * What source and targets say to each other. A target has no topology yet, so every message shows the key that signs its
 * envelope; who it belongs to is judged against what operators have said.
 */
import {
  bool,
  type Codec,
  digest,
  list,
  nullable,
  publicKey,
  record,
  signature,
  text,
  type TypeOf,
  uint,
} from "../codec/Codec.ts";
import { formsOf } from "../codec/Versioned.ts";
import { Limits } from "../base/Limits.ts";
import { draftCodec, promotedCodec } from "./PromotionDraft.ts";
import { EPOCHS_SINCE, pinnedCodec } from "./Topology.ts";

const shown = { identityKey: publicKey };
const since = <A>(codec: Codec<A>) => formsOf(codec, EPOCHS_SINCE);

export const promotionMessages = {
  /** Whether the receiver would accept; nothing is durable yet. */
  "Promotion.Ask": since(
    record({
      ...shown,
      nonce: digest,
      members: list(promotedCodec, Limits.members),
      threshold: uint,
      development: bool,
      configDigest: digest,
    }),
  ),
  /** The answer; why it would not, if so. */
  "Promotion.Standing": since(record({ ...shown, nonce: digest, fault: nullable(text(Limits.promotionFaultBytes)) })),
  /** The pinned draft, until every target has accepted it. */
  "Promotion.Draft": since(record({ ...shown, draft: draftCodec, previous: pinnedCodec })),
  /** The sender's signature under the topology that the draft makes, flushed before. */
  "Promotion.Accepted": since(record({ ...shown, transferId: digest, signature })),
  "Promotion.Refused": since(record({ ...shown, transferId: digest, fault: text(Limits.promotionFaultBytes) })),
  /** The decision: the new topology with all signatures, and what it takes to verify it. */
  "Promotion.Decided": since(record({ ...shown, draft: draftCodec, previous: pinnedCodec, pinned: pinnedCodec })),
  /** The sender has the whole registry. */
  "Promotion.Installed": since(record({ ...shown, transferId: digest })),
};

type Tag = keyof typeof promotionMessages;
export type PromotionMessageOf<T extends Tag> = { readonly _tag: T } & TypeOf<(typeof promotionMessages)[T]>;
export type PromotionMessage = { readonly [T in Tag]: PromotionMessageOf<T> }[Tag];

/** Messages of strangers: they say nothing in the name of a topology. */
export const isOfPromotion = (message: { readonly _tag: string }): message is PromotionMessage =>
  Object.hasOwn(promotionMessages, message._tag);
