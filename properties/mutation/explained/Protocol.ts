/** Of `core/protocol`. */
import { type ExplainedFiles, FOR_TYPES } from "./Reasons.ts";

export const protocol: ExplainedFiles = {
  "core/protocol/Incarnations.ts": {
    [`${FOR_TYPES} Only other members are heard, and each of them has a row from the founding on.`]: [
      ["known === undefined", "false"],
    ],
  },
  "core/protocol/LateCopy.ts": {
    "What is written again is what was there.": [["until < receivedAt", "until <= receivedAt"]],
    "Nothing compares as earlier than what is not there; the condition tells the type checker.": [
      ["until !== undefined", "true"],
    ],
  },
  "core/protocol/Refusals.ts": {
    "Nobody to put first leaves the queue as it was; the condition saves a copy of it.": [
      ["joiners.length > 0", "true"],
      ["joiners.length > 0", "joiners.length >= 0"],
    ],
    [`${FOR_TYPES} There is a signed refusal for each draft.`]: [["entry !== undefined", "true"]],
    [`${FOR_TYPES} A writer aborts what it has pledged to give up, and pledges upon a refusal that it notes with the round at once.`]:
      [["refusal === undefined", "false"]],
  },
  "core/protocol/Rollback.ts": {
    [`${FOR_TYPES} A header is looked at further only where it names this peer, which has a row then.`]: [
      ["peer === undefined", "false"],
    ],
  },
};
