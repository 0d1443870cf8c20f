/** A message of a module, as checkers and pictures read it. */
import type { ModuleMessage } from "../../core/protocol/Message.ts";
import type { SignedStatement } from "../../core/protocol/Statement.ts";

// Methods: a model of a narrower message is one, too.
export interface MessageModel {
  /** Every statement in it, whoever signed it (S2). */
  statementsIn(message: ModuleMessage): ReadonlyArray<SignedStatement>;
  /** The requests that it is about. */
  requestsIn(message: ModuleMessage): ReadonlyArray<string>;
  /** Its content, in words. */
  wordsOf(message: ModuleMessage): ReadonlyArray<string>;
}

/** By tag. */
export interface MessageModels {
  readonly [tag: string]: MessageModel;
}
