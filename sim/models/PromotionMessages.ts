/** The content of the messages between the source of a promotion and its targets. */
import type { PromotionMessageOf } from "../../core/protocol/PromotionMessages.ts";
import type { MessageModels } from "./MessageModel.ts";

const none = (): ReadonlyArray<never> => [];
const plain = { statementsIn: none, requestsIn: none, wordsOf: none };

export const promotionMessages = {
  "Promotion.Ask": plain,
  "Promotion.Standing": {
    ...plain,
    wordsOf: ({ fault }: PromotionMessageOf<"Promotion.Standing">) => [fault ?? "it would accept"],
  },
  "Promotion.Draft": plain,
  "Promotion.Accepted": plain,
  "Promotion.Refused": {
    ...plain,
    wordsOf: ({ fault }: PromotionMessageOf<"Promotion.Refused">) => [fault],
  },
  "Promotion.Decided": plain,
  "Promotion.Installed": plain,
} satisfies MessageModels;
