/** The content of the messages about enrollment sessions. */
import type { SessionMessageOf } from "../../core/commands/enrollPasskey/SessionMessages.ts";
import type { MessageModels } from "./MessageModel.ts";

export const sessionMessages = {
  "Session.Mirror": {
    statementsIn: () => [],
    requestsIn: ({ items }: SessionMessageOf<"Session.Mirror">) => items.map(({ evidence }) => evidence.requestId),
    wordsOf: ({ items }: SessionMessageOf<"Session.Mirror">) => items.map(({ session }) => session.id),
  },
  "Session.Votes": {
    statementsIn: ({ acks }: SessionMessageOf<"Session.Votes">) => acks,
    requestsIn: () => [],
    wordsOf: ({ acks, refusals }: SessionMessageOf<"Session.Votes">) => [
      ...acks.map(() => "kept"),
      ...refusals.map(({ code }) => code),
    ],
  },
} satisfies MessageModels;
