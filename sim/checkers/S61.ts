/**
 * S61: an enrollment is refused as over only where its deadline was past by some member's clock, as void only where
 * something happened that makes it void, as unknown only where somebody may have forgotten it (contract 3.1); and the
 * response that completed it succeeds no more once its deadline is past by every clock. Asked where no clock was far
 * from another, no member lies and none has lost anything.
 */
import type { RejectionCode } from "../../core/base/Rejection.ts";
import type { Session } from "../../core/commands/enrollPasskey/Session.ts";
import { isFinish } from "../requests/EnrollmentRequests.ts";
import { isSuccess } from "../requests/Success.ts";
import type { Checker, Reply, Watched } from "./Checker.ts";
import type { Ghost } from "./Ghost.ts";
import { Violation } from "../base/Violation.ts";

/** protocol.md 1: a session from so far ahead is void. */
const SKEW_MILLIS = 5_000;
/** By how much a clock may have drifted since it was compared. */
const LEEWAY_MILLIS = 1_000;

const VOID = "The enrollment is void";

const gone: ReadonlySet<RejectionCode> = new Set(["REGISTRATION_EXPIRED", "REGISTRATION_NOT_FOUND"]);

export const S61 = (ghost: Ghost): Checker => {
  const sessions = new Map<string, Session>();
  /** By slot and session: in which microsecond it was completed there. */
  const completed = new Map<string, number>();
  /** Slots that have kept sessions; and whether one of them began anew on another disk. */
  const keepers = new Set<number>();
  let hasLost = false;
  /** Of all peers that ever ran. */
  const configurations = new Set<string | undefined>();
  /** Milliseconds: the latest time that any clock showed, and by how much clocks were ahead of the right one. */
  let latest = 0;
  let least = Number.POSITIVE_INFINITY;
  let most = Number.NEGATIVE_INFINITY;

  const look = ({ lastReading, decidedAt }: Watched): void => {
    if (lastReading === 0) return;
    if (lastReading > latest) latest = lastReading;
    const ahead = lastReading - decidedAt / 1_000;
    if (ahead < least) least = ahead;
    if (ahead > most) most = ahead;
  };

  const isVoid = ({ topologyDigest, incarnations }: Session): boolean =>
    ghost.membership?.digest !== topologyDigest ||
    configurations.size > 1 ||
    ghost.membership.peerIds.some(
      (peerId, index) => ghost.recoveryIdOf(peerId, (incarnations[index] ?? 0) + 1) !== undefined,
    );

  const assertGone = (requestId: string, session: Session, code: RejectionCode, detail: string): void => {
    const { registrationId, expiresAt } = session;
    const saysVoid = detail.startsWith(VOID);
    if (isVoid(session) || (!saysVoid && latest > expiresAt)) return;
    throw new Violation(
      "S61",
      `request ${requestId} was answered ${code}: ${detail}`,
      saysVoid
        ? `session ${registrationId} has the members, incarnations and configuration of now`
        : `session ${registrationId} lasts until ${expiresAt}, and no clock had shown more than ${latest}`,
    );
  };

  const judge = ({ slot }: Watched, { requestId, answer, asked, askedAt }: Reply): void => {
    if (asked === undefined || askedAt === undefined || !isFinish(asked) || most - least > SKEW_MILLIS / 2) return;
    const session = sessions.get(asked.registrationId);
    if (session === undefined || hasLost || (ghost.lying | ghost.forgetful) !== 0) return;
    if (answer._tag === "Rejected" && asked.isHonest && gone.has(answer.rejection.code))
      assertGone(requestId, session, answer.rejection.code, answer.rejection.detail);
    const isLate = askedAt / 1_000 + least > session.expiresAt + LEEWAY_MILLIS;
    if (!isLate || !isSuccess(answer) || !((completed.get(`${slot} ${asked.registrationId}`) ?? askedAt) < askedAt))
      return;
    throw new Violation(
      "S61",
      `session ${asked.registrationId}, which peer ${slot} knew to be completed, lasted until ${session.expiresAt}`,
      `request ${requestId}, which came after that by every clock, was answered ${answer._tag}`,
    );
  };

  return {
    id: "S61",
    booted: ({ settings }) => void configurations.add(settings?.configDigest),
    sent: look,
    replied: (peer, reply) => {
      look(peer);
      judge(peer, reply);
    },
    written: {
      restore: ({ slot }) => {
        if (keepers.has(slot)) hasLost = true;
      },
      sessions: ({ slot, decidedAt }, write) => {
        if (write.op === "remove") {
          // Where rows are many, some go before their hour is up; then nobody there knows the deadline.
          completed.delete(`${slot} ${write.key}`);
          return;
        }
        keepers.add(slot);
        sessions.set(write.key, write.row.session);
        if (write.row.completed !== undefined) completed.set(`${slot} ${write.key}`, decidedAt);
      },
    },
  };
};
