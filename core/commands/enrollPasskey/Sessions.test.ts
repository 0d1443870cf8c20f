import { describe, expect, it } from "vitest";
import { credential, enrolling, finish, offerOf, sessionsOf } from "../../../properties/cluster/Enrolling.ts";
import { openStep } from "../../../properties/cluster/OpenStep.ts";
import { sessionLock } from "../approvers/Locks.ts";
import type { Digest } from "../../base/Digest.ts";
import { CAPACITIES } from "../../base/Capacities.ts";
import { enrollmentIn, enrollments } from "./EnrollmentState.ts";
import type { SessionMark } from "./SessionMark.ts";
import type { Step } from "../../protocol/Step.ts";
import { markOf } from "./SessionMark.ts";
import { keepSession, type Load, storedLoad } from "./Sessions.ts";

const cluster = enrolling(1);
const offer = offerOf(cluster, 1, "finished");
finish(cluster, 1, "finish", offer.invitation, credential(offer));
cluster.pass(100);
offerOf(cluster, 1, "open");
const open = sessionsOf(cluster, 1).find(({ completed }) => completed === undefined);
if (open === undefined) throw new Error("a session is open");
const { registrationId, registrar, expiresAt } = open.session;
const mark = markOf(open);
const late = expiresAt + 1;
const proposal = "22".repeat(32) as Digest;

/** Gives a peer these sessions and no others. */
const remember = (step: Step, sessions: ReadonlyMap<Digest, SessionMark>): void => {
  const known = step.editIn(enrollments, "sessions");
  known.clear();
  for (const [id, each] of sessions) known.set(id, each);
};

describe("stored sessions", () => {
  it("take up room whether or not they are finished, and count as unfinished where they are not", () => {
    const step = openStep(cluster, 1);
    remember(step, new Map(sessionsOf(cluster, 1).map((row) => [row.session.registrationId, markOf(row)])));
    expect(storedLoad(step, registrar)).toEqual({ unexpired: 2, unfinished: 1 });
  });

  it.each<readonly [string, { now: number; isReserved: boolean; isCompleted: boolean }, Load]>([
    [
      "up to their deadline",
      { now: expiresAt, isReserved: false, isCompleted: false },
      { unexpired: 1, unfinished: 1 },
    ],
    ["not after it", { now: late, isReserved: false, isCompleted: false }, { unexpired: 0, unfinished: 0 }],
    [
      "after it while a response is reserved",
      { now: late, isReserved: true, isCompleted: false },
      { unexpired: 1, unfinished: 1 },
    ],
    [
      "not after it once a response has finished them",
      { now: late, isReserved: true, isCompleted: true },
      { unexpired: 0, unfinished: 0 },
    ],
  ])("take up room %s", (_when, { now, isReserved, isCompleted }, load) => {
    const step = openStep(cluster, 1, now);
    remember(step, new Map([[registrationId, { ...mark, isCompleted }]]));
    if (isReserved) step.edit("undecided", "locks").set(sessionLock(registrationId), proposal);
    expect(storedLoad(step, registrar)).toEqual(load);
  });
});

describe("a session that is written", () => {
  const older = "a0".repeat(32) as Digest;
  const younger = "b0".repeat(32) as Digest;
  const past = (id: Digest, millis: number): readonly [Digest, SessionMark] => [
    id,
    { ...mark, expiresAt: late - millis },
  ];
  const both = [past(younger, 1), past(older, 2)];

  /** The removed sessions where so many are stored: these, and for the rest ones that may still be finished. */
  const removed = (
    some: ReadonlyArray<readonly [Digest, SessionMark]>,
    total: number,
    prepare: (step: Step) => void = () => undefined,
  ): ReadonlyArray<string> => {
    const step = openStep(cluster, 1, late);
    const sessions = new Map(some);
    for (let at = sessions.size; at < total; at++)
      sessions.set(at.toString(16).padStart(64, "0") as Digest, { ...mark, expiresAt: late });
    remember(step, sessions);
    prepare(step);
    keepSession(step, open.session, open.ack);
    const { writes, state } = step.finish(() => undefined);
    const gone = writes.flatMap(({ op, table, key }) => (table === "sessions" && op === "remove" ? [key] : []));
    expect(enrollmentIn(state).sessions.size).toBe(total + 1 - gone.length);
    return gone;
  };

  it("takes the place of the one that expired first, where there are as many as may be", () => {
    expect(removed(both, CAPACITIES.sessionRows)).toEqual([older]);
  });

  it("leaves what expired within the hour where there is room", () => {
    expect(removed(both, CAPACITIES.sessionRows - 1)).toEqual([]);
  });

  it("takes no place of one that may still be finished, or that a response is reserved for", () => {
    expect(removed([], CAPACITIES.sessionRows)).toEqual([]);
    for (const isCompleted of [true, false])
      expect(
        removed(
          [past(younger, 1), [older, { ...mark, expiresAt: late - 2, isCompleted }]],
          CAPACITIES.sessionRows,
          (step) => step.edit("undecided", "locks").set(sessionLock(older), proposal),
        ),
      ).toEqual([younger]);
  });
});
