/**
 * S16: a session is what its members agreed on until a certified response completes it: nothing that was refused, and
 * nothing that was only reserved, leaves a trace on it.
 */
import { onApprover } from "../models/Effects.ts";
import { memoized } from "../../core/base/Memo.ts";
import type { Session } from "../../core/commands/enrollPasskey/Session.ts";
import type { Write } from "../../core/Tables.ts";
import type { Checker } from "./Checker.ts";
import { OneToOne } from "../models/OneToOne.ts";
import { Violation } from "../base/Violation.ts";

/** Whether a transaction applies a response to this session; S15 says which. */
const isApplied = (writes: ReadonlyArray<Write>, session: string): boolean =>
  writes.some(
    (write) =>
      write.table === "certificates" &&
      write.op !== "remove" &&
      onApprover(write.row.proposal)?.registrationId === session,
  );

/** A session as one text, whatever order its members are in. */
const textOf = memoized((session: Session): string =>
  JSON.stringify(session, (_name, value: unknown) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.entries(value).toSorted(([left], [right]) => (left < right ? -1 : 1))
      : value,
  ),
);

/** Two acknowledgements of one name are of one session, to the letter. */
export const S16 = (): Checker => {
  const names = new OneToOne();
  return {
    id: "S16",
    written: {
      sessions: ({ slot, honest }, write, writes) => {
        if (!honest || write.op === "remove") return;
        const { session, ack, completed } = write.row;
        if (!names.fits(ack.statement.proposalId, textOf(session)) || session.registrationId !== write.key)
          throw new Violation("S16", `peer ${slot} acknowledged session ${write.key}`, "its row holds another one");
        if (write.op === "insert" && completed !== undefined)
          throw new Violation("S16", `peer ${slot} began to keep session ${write.key}`, "it is completed already");
        if (write.op === "replace" && (completed === undefined || !isApplied(writes, write.key)))
          throw new Violation(
            "S16",
            `peer ${slot} changed session ${write.key}`,
            "no certified response was applied with it",
          );
      },
    },
  };
};
