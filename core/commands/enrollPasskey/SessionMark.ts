/** The parts of every stored session that are needed to count it and to forget it in time. */
import { requestKey } from "../../protocol/Forward.ts";
import type { Actor } from "../../protocol/Proposal.ts";
import type { Session } from "./Session.ts";
import type { SessionRow } from "./SessionTables.ts";

export interface SessionMark
  extends Pick<Session, "createdAt" | "expiresAt" | "topologyDigest" | "configDigest" | "incarnations"> {
  readonly registrar: Pick<Actor, "iss" | "sub">;
  /** The request it was opened for, as `requestKey` names it. */
  readonly request: string;
  readonly isCompleted: boolean;
}

/** The part of a stored session that stays in memory. */
export const markOf = ({ session, completed }: Omit<SessionRow, "ack">): SessionMark => ({
  registrar: { iss: session.registrar.iss, sub: session.registrar.sub },
  request: requestKey(session),
  createdAt: session.createdAt,
  expiresAt: session.expiresAt,
  topologyDigest: session.topologyDigest,
  configDigest: session.configDigest,
  incarnations: session.incarnations,
  isCompleted: completed !== undefined,
});
