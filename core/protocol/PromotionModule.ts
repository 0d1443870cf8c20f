/** Promotion, as a part of what peers store, say and do at times. */
import type { Module } from "./Module.ts";
import { isPresent, type Mode, modes } from "./Mode.ts";
import { type PromotionMessageOf, promotionMessages } from "./PromotionMessages.ts";
import { forgetInquiry, inquireAgain, onStanding } from "./PromotionRequest.ts";
import {
  goOnPromoting,
  onAccepted,
  onInstalled,
  onOwnDecision,
  onRefused,
  PROMOTION_AGAIN_MILLIS,
  PROMOTION_TIMER,
} from "./PromotionSource.ts";
import { promotionTables } from "./PromotionState.ts";
import { install, onAsk, onDraft, sayInstalled } from "./PromotionTarget.ts";
import type { Step } from "./Step.ts";
import type { PeerId } from "./Topology.ts";

const PRESENT: ReadonlySet<Mode> = new Set(modes.filter(isPresent));
/** Modes in which it says what it is to whoever asks: a peer that belongs to a cluster refuses by name. */
const ANSWERING: ReadonlySet<Mode> = new Set([...PRESENT, "founding", "quarantined"]);

const SHOWN: ReadonlySet<Mode> = new Set([...PRESENT, "founding"]);
const TIMED: ReadonlySet<Mode> = new Set([...PRESENT, "quarantined"]);
const ACTIVE: ReadonlySet<Mode> = new Set(["active"]);
const PROMOTING: ReadonlySet<Mode> = new Set(["promoting"]);

const onDecided = (step: Step, from: PeerId, told: PromotionMessageOf<"Promotion.Decided">): void => {
  if (step.mode === "founding") return install(step, from, told);
  onOwnDecision(step, told);
  if (step.mode === "quarantined") forgetInquiry(step, "it has decided a promotion before, and does not remember it");
  sayInstalled(step, from, told);
};

const noTokens = (): ReadonlyArray<string> => [];

export const promotions = {
  name: "promotion",
  supplies: undefined,
  tables: promotionTables,
  contents: undefined,
  slice: undefined,
  exchanges: [],
  services: [],
  messages: {
    "Promotion.Ask": {
      codec: promotionMessages["Promotion.Ask"],
      tokensIn: noTokens,
      modes: ANSWERING,
      run: onAsk,
    },
    "Promotion.Standing": {
      codec: promotionMessages["Promotion.Standing"],
      tokensIn: noTokens,
      modes: ACTIVE,
      run: onStanding,
    },
    "Promotion.Draft": {
      codec: promotionMessages["Promotion.Draft"],
      tokensIn: noTokens,
      modes: ANSWERING,
      run: onDraft,
    },
    "Promotion.Accepted": {
      codec: promotionMessages["Promotion.Accepted"],
      tokensIn: noTokens,
      modes: ACTIVE,
      run: onAccepted,
    },
    "Promotion.Refused": {
      codec: promotionMessages["Promotion.Refused"],
      tokensIn: noTokens,
      modes: ACTIVE,
      run: onRefused,
    },
    "Promotion.Decided": {
      codec: promotionMessages["Promotion.Decided"],
      tokensIn: noTokens,
      modes: SHOWN,
      run: onDecided,
    },
    "Promotion.Installed": {
      codec: promotionMessages["Promotion.Installed"],
      tokensIn: noTokens,
      modes: PROMOTING,
      run: onInstalled,
    },
  },
  timers: {
    [PROMOTION_TIMER]: {
      modes: TIMED,
      run: (step) => {
        // The restore that is to come goes on with it.
        if (step.mode === "quarantined") return step.arm(PROMOTION_TIMER, PROMOTION_AGAIN_MILLIS);
        inquireAgain(step);
        goOnPromoting(step);
      },
    },
  },
  goOn: () => undefined,
} satisfies Module;
