/** The room for request bodies of the public API. */
import type { Config } from "../config/ConfigSchema.ts";
import { BodyBudget } from "./BodyBudget.ts";
import { maxSystemBodyBytes } from "./SystemBodies.ts";

export interface BodyBudgets {
  readonly budget: BodyBudget;
  readonly operatorBudget: BodyBudget;
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
  };
};
