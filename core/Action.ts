/** What a step asks the driver to do, with everything that any command or module may send and answer. */
import type { ApproverAnswer } from "./commands/approvers/Answers.ts";
import type { OptionsAnswer } from "./commands/enrollPasskey/Offer.ts";
import type { KeyAnswer } from "./commands/keys/Answers.ts";
import type { Message } from "./Message.ts";
import type { PeerState } from "./protocol/PeerState.ts";
import type { Reply as ReplyOf, Send as SendOf, SetTimer } from "./protocol/Action.ts";
import type { ProtocolAnswer } from "./protocol/Answer.ts";
import type { Write } from "./Tables.ts";

export type Answer = ApproverAnswer | KeyAnswer | OptionsAnswer | ProtocolAnswer;

export type Send = SendOf<Message>;
export type Reply = ReplyOf<Answer>;
export type Action = Send | Reply | SetTimer;

/**
 * A step's decisions. `sendNow` may leave before the flush, because it consists
 * only of statements that were flushed before; `thenSend` waits for the flush of
 * `writes`. Empty `writes` means: no transaction.
 */
export interface StepResult {
  readonly state: PeerState;
  readonly sendNow: ReadonlyArray<Action>;
  readonly writes: ReadonlyArray<Write>;
  readonly thenSend: ReadonlyArray<Action>;
}
