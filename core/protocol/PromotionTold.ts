/** What a peer can show of a decided promotion: all it takes to verify the new epoch and the slots before it. */
import type { PublicKey } from "../base/Digest.ts";
import type { PromotionMessage, PromotionMessageOf } from "./PromotionMessages.ts";
import type { Step } from "./Step.ts";
import { numberKey } from "./Tables.ts";
import type { PeerId } from "./Topology.ts";

/** This peer's identity key, as it shows it. */
export const ownKey = ({ state }: Step): PublicKey | undefined => state.cluster.peer?.identityKey;

export const tell = (step: Step, message: PromotionMessage, to: ReadonlyArray<PeerId>): void =>
  step.sendAll(message, to);

/** The decision that the pinned epoch came of; undefined where it came of a founding. */
export const decisionTold = (step: Step): PromotionMessageOf<"Promotion.Decided"> | undefined => {
  const { pinned, membership, promotion } = step.state.cluster;
  const { draft } = promotion.own ?? promotion.bound ?? {};
  const identityKey = ownKey(step);
  const before = membership?.before;
  const previous = before && step.view.get("epochs", numberKey(before.topology.epoch));
  if (draft === undefined || pinned === undefined || previous === undefined || identityKey === undefined)
    return undefined;
  return { _tag: "Promotion.Decided", identityKey, draft, previous, pinned };
};
