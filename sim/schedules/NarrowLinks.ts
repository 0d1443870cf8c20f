/** Links, answers kept open and mailboxes with so little room that a few messages use it up. */
import type { Choices } from "../base/Choices.ts";
import type { NarrowPlan, Plan } from "../base/Plan.ts";

/** In one run of six. */
export const narrowed = (choices: Choices): Pick<Plan, "narrow"> => {
  const unit = choices.plan("narrow links");
  if (!unit.chance("happens", 160)) return {};
  const narrow: NarrowPlan = {
    connections: unit.between("connections", 16, 2, 4, 2, 16),
    roundConnections: 1,
    queuedMessages: unit.between("queued messages", 1_024, 1, 8, 1, 1_024),
    held: unit.between("answers kept open", 64, 1, 4, 1, 64),
    backlog: unit.between("backlog", 4_096, 2, 24, 2, 4_096),
    memberMessages: unit.between("messages of a member", 1_024, 2, 12, 2, 1_024),
    silenceMillis: unit.oneOf("milliseconds of silence", 5_000, [20, 500, 5_000]),
  };
  return { narrow };
};
