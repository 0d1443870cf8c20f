/**
 * S56: a registrar is told that there is no room for an enrollment only where it has opened as many as one may have
 * unfinished, or all have opened as many as there may be. Asked where no member lies or came back on an old disk.
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
  const callers = new Map<string, string>();
  /** By registration id: every session that was ever offered to a member or stored. */
  const sessions = new Map<string, Session>();
  const opened = (session: Session): void => void sessions.set(session.registrationId, session);

  const countFor = (caller: string): number => {
    let count = 0;
    for (const { requestId } of sessions.values()) if ((callers.get(requestId) ?? caller) === caller) count += 1;
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
      if (what === "came") callers.set(requestId, caller);
    },
    sent: (_peer, message) => {
      if (message._tag === "Session.Mirror") for (const { session } of message.items) opened(session);
    },
    written: {
      sessions: (_peer, write) => {
        if (write.op !== "remove") opened(write.row.session);
      },
    },
    replied: (peer, { requestId, answer }) => {
      if (answer._tag !== "Rejected" || answer.rejection.code !== "SESSION_CAPACITY") return;
      const caller = callers.get(requestId);
      if (caller === undefined || (ghost.lying | ghost.forgetful) !== 0) return;
      const { detail } = answer.rejection;
      const { process } = peer;
      told.push(() => {
        // A process that ended in the middle of a step has not said everything.
        if (peer.process !== process || peer.state === undefined) return;
        if (detail.startsWith(OF_ONE))
          assertFull(requestId, countFor(caller), most.sessionsPerRegistrar, "of its registrar");
        if (detail.startsWith(OF_ALL)) assertFull(requestId, sessions.size, most.sessions, "of all registrars");
      });
    },
  };
};
