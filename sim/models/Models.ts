/** The models of this version: of every command, exchange and message of a module; one more is one more line here. */
import { commands } from "../../core/commands/Commands.ts";
import { enrollmentIn } from "../../core/commands/enrollPasskey/EnrollmentState.ts";
import { approverSubject } from "./approvers/ApproverSubject.ts";
import { enrollPasskey, options } from "./Enrollment.ts";
import { type Parts, Product } from "./Product.ts";
import { destroyKey, makeKey, repairShare, signWithKey } from "./keys/KeyModels.ts";
import { keyMessages } from "./keys/KeyMessages.ts";
import { coveredGenerations, keySubject } from "./keys/KeySubject.ts";
import { promotionMessages } from "./PromotionMessages.ts";
import { registerKey } from "./RegisterKey.ts";
import { replaceMetadata } from "./ReplaceMetadata.ts";
import { sessionMessages } from "./SessionMessages.ts";

export const models = {
  composition: commands,
  subjects: [approverSubject, keySubject],
  covered: [coveredGenerations],
  models: [registerKey, replaceMetadata, options, enrollPasskey, makeKey, destroyKey, signWithKey, repairShare],
  messages: { ...sessionMessages, ...keyMessages, ...promotionMessages },
  remembered: { sessions: (state) => [...enrollmentIn(state).sessions.keys()].toSorted().join(" ") },
} satisfies Parts;

export const production = new Product(models);
