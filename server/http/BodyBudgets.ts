/** The room for bodies of the public API: of requests, and of long answers. */
import type { Config } from "../config/ConfigSchema.ts";
import { AnswerRoom } from "./AnswerRoom.ts";
import { BodyBudget } from "../../runtime/BodyBudget.ts";
import { maxSystemBodyBytes } from "./SystemBodies.ts";

export interface BodyBudgets {
  readonly budget: BodyBudget;
  readonly operatorBudget: BodyBudget;
  readonly answerRoom: AnswerRoom;
}

/** Operators are few and their bodies small: so many of the largest at once, and from one address half of them. */
const OPERATOR_BODIES = 64;

export const bodyBudgets = ({ limits }: Config): BodyBudgets => {
  const all = OPERATOR_BODIES * maxSystemBodyBytes;
  return {
    budget: new BodyBudget({
      all: limits.bodyBytesInFlight,
      ofActor: limits.bodyBytesPerActor,
      ofAddress: limits.bodyBytesPerAddress,
    }),
    operatorBudget: new BodyBudget({ all, ofActor: all, ofAddress: all / 2 }),
    answerRoom: new AnswerRoom(),
  };
};
