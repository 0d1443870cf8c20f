/** Making keys besides the command that certifies them: sessions of all members, and what waits for its proposal. */
import type { Module } from "../../protocol/Module.ts";
import type { Mode } from "../../protocol/Mode.ts";
import type { Step } from "../../protocol/Step.ts";
import { keygenMessages, type KeygenMessageOf } from "./KeygenMessages.ts";
import { onOpen } from "./KeygenMember.ts";
import { AGAIN_TIMER } from "./KeygenRounds.ts";
import { onAgainTimer, onEnded, onPackage, onShare, onStored, PROCEED_TIMER } from "./KeygenTurn.ts";
import { openSessions } from "./KeygenWriter.ts";
import { closeSessions, forgetSessions } from "./KeygenEnd.ts";
import { forgetJudged } from "./MakingStanding.ts";
import { makings } from "./MakingState.ts";
import { eraseSuperseded } from "./OldShares.ts";
import { PENDING_TIMER, tidyPending } from "./PendingRows.ts";
import { sweepShares } from "./TakenOver.ts";

const ACTIVE: ReadonlySet<Mode> = new Set(["active"]);
/** A peer that recovers keeps what it has until it knows what became of it. */
const TAKING_PART: ReadonlySet<Mode> = new Set(["active", "joining"]);

const goOn = (step: Step): void => {
  if (step.mode !== "active" || !step.isWriter) forgetJudged(step);
  if (!TAKING_PART.has(step.mode)) return forgetSessions(step);
  tidyPending(step);
  closeSessions(step);
  eraseSuperseded(step);
  if (step.mode === "active" && step.isWriter) openSessions(step);
};

const nothing = (): void => undefined;

export const makeKeyModule = {
  name: "makeKey",
  supplies: undefined,
  tables: {},
  contents: undefined,
  slice: makings,
  exchanges: [],
  services: [],
  messages: {
    "Keygen.Open": {
      codec: keygenMessages["Keygen.Open"],
      tokensIn: ({ evidence }: KeygenMessageOf<"Keygen.Open">) => [evidence.token],
      modes: ACTIVE,
      run: onOpen,
    },
    "Keygen.Package": { codec: keygenMessages["Keygen.Package"], tokensIn: () => [], modes: ACTIVE, run: onPackage },
    "Keygen.Share": { codec: keygenMessages["Keygen.Share"], tokensIn: () => [], modes: ACTIVE, run: onShare },
    "Keygen.Stored": { codec: keygenMessages["Keygen.Stored"], tokensIn: () => [], modes: ACTIVE, run: onStored },
    "Keygen.Ended": { codec: keygenMessages["Keygen.Ended"], tokensIn: () => [], modes: ACTIVE, run: onEnded },
  },
  timers: {
    [AGAIN_TIMER]: { modes: TAKING_PART, run: onAgainTimer },
    // What waits is looked at at the end of every event.
    [PENDING_TIMER]: { modes: TAKING_PART, run: nothing },
    [PROCEED_TIMER]: { modes: TAKING_PART, run: nothing },
  },
  sweep: sweepShares,
  goOn,
} satisfies Module;
