/**
 * S56: a registrar is told that there is no room for an enrollment only where it has as many unfinished as one may, or
 * all have opened as many as there may be. Asked where no member lies or came back on an old disk.
 */
import type { Session } from "../../core/commands/enrollPasskey/Session.ts";
import type { Checker } from "./Checker.ts";
import type { Ghost } from "./Ghost.ts";
import { Violation } from "../base/Violation.ts";

/** Contract 8. */
const OF_SERVICE = { sessionsPerRegistrar: 8, sessions: 256 };

/** How a writer begins to say which of the two it is. */
const OF_ONE = "This registrar ";
const OF_ALL = "There are ";

export const S56 = (ghost: Ghost): Checker => {
  const most = { ...OF_SERVICE, ...ghost.capacities };
  /** By request: who asks. */
  const callers = new Map<string, { readonly caller: string; readonly place: number }>();
  /** By registration id: every session that was ever offered to a member or stored. */
  const sessions = new Map<string, Session>();
  /** By registration id: how many requests had come when the writer had durably what completed it. */
  const completed = new Map<string, number>();
  let places = 0;
  const opened = (session: Session): void => void sessions.set(session.registrationId, session);

  /** Those that were unfinished when so many requests had come, or have been opened since. */
  const countFor = (caller: string, place: number): number => {
    let count = 0;
    for (const { requestId, registrationId } of sessions.values()) {
      const isOther = (callers.get(requestId)?.caller ?? caller) !== caller;
      if (!isOther && (completed.get(registrationId) ?? place) >= place) count += 1;
    }
    return count;
  };
  const assertFull = (requestId: string, has: number, may: number, whose: string): void => {
    if (has < may)
      throw new Violation(
        "S56",
        `request ${requestId} is refused, because there is no room for more enrollments ${whose}`,
        `there were ${has} so far, and there may be ${may}`,
      );
  };

  /** Refusals of the last step: what it opened itself leaves after what it answers. */
  let told: Array<() => void> = [];
  const settle = (): void => {
    const all = told;
    told = [];
    for (const assertSo of all) assertSo();
  };

  return {
    id: "S56",
    delivered: settle,
    swept: settle,
    atDesk: (_peer, { what, requestId, caller }) => {
      if (what === "came") callers.set(requestId, { caller, place: ++places });
    },
    sent: (_peer, message) => {
      if (message._tag === "Session.Mirror") for (const { session } of message.items) opened(session);
    },
    written: {
      sessions: ({ slot }, write) => {
        if (write.op === "remove") return;
        opened(write.row.session);
        const isAtWriter = ghost.membership?.writer === slot;
        if (isAtWriter && write.row.completed !== undefined && !completed.has(write.key))
          completed.set(write.key, places);
      },
    },
    replied: (peer, { requestId, answer }) => {
      if (answer._tag !== "Rejected" || answer.rejection.code !== "SESSION_CAPACITY") return;
      const asked = callers.get(requestId);
      if (asked === undefined || (ghost.lying | ghost.forgetful) !== 0) return;
      const { detail } = answer.rejection;
      const { process } = peer;
      told.push(() => {
        // A process that ended in the middle of a step has not said everything.
        if (peer.process !== process || peer.state === undefined) return;
        if (detail.startsWith(OF_ONE))
          assertFull(requestId, countFor(asked.caller, asked.place), most.sessionsPerRegistrar, "of its registrar");
        if (detail.startsWith(OF_ALL)) assertFull(requestId, sessions.size, most.sessions, "of all registrars");
      });
    },
  };
};
