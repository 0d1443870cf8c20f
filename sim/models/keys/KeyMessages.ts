/** The content of the messages of key generations, signatures and repairs. */
import type { KeygenMessageOf } from "../../../core/commands/makeKey/KeygenMessages.ts";
import type { RepairMessageOf } from "../../../core/commands/repairShare/RepairMessages.ts";
import type { SignMessageOf } from "../../../core/commands/signWithKey/SignMessages.ts";
import type { ModuleMessage } from "../../../core/protocol/Message.ts";
import type { MessageModels } from "../MessageModel.ts";

type OfSession = ModuleMessage & { readonly sessionId: string };

const none = (): ReadonlyArray<never> => [];

const session = ({ sessionId }: Pick<OfSession, "sessionId">): ReadonlyArray<string> => [
  `session ${sessionId.slice(0, 8)}`,
];

const plain = { statementsIn: none, requestsIn: none, wordsOf: (message: OfSession) => session(message) };

export const keyMessages = {
  "Keygen.Open": {
    ...plain,
    requestsIn: ({ evidence }: KeygenMessageOf<"Keygen.Open">) => [evidence.requestId],
  },
  "Keygen.Package": plain,
  "Keygen.Share": plain,
  "Keygen.Stored": plain,
  "Keygen.Ended": {
    ...plain,
    wordsOf: ({ sessionId, code }: KeygenMessageOf<"Keygen.Ended">) => [...session({ sessionId }), code],
  },
  "Sign.Open": {
    ...plain,
    wordsOf: ({ sessionId, evidence }: SignMessageOf<"Sign.Open">) => [...session({ sessionId }), evidence.path],
  },
  "Sign.Commit": plain,
  "Sign.Refused": {
    ...plain,
    wordsOf: ({ sessionId, code }: SignMessageOf<"Sign.Refused">) => [...session({ sessionId }), code],
  },
  "Sign.Package": {
    ...plain,
    wordsOf: ({ items }: SignMessageOf<"Sign.Package">) => items.flatMap(session),
  },
  "Sign.Share": plain,
  "Repair.Open": {
    ...plain,
    wordsOf: ({ sessionId, evidence }: RepairMessageOf<"Repair.Open">) => [...session({ sessionId }), evidence.path],
  },
  "Repair.Key": plain,
  "Repair.Part": plain,
  "Repair.Sum": plain,
  "Repair.Refused": {
    ...plain,
    wordsOf: ({ sessionId, code }: RepairMessageOf<"Repair.Refused">) => [...session({ sessionId }), code],
  },
} satisfies MessageModels;
