import { describe, expect, it } from "vitest";
import { credential, enrolling, finish, offerOf, sessionsOf } from "../../../properties/cluster/Enrolling.ts";
import { openStep } from "../../../properties/cluster/OpenStep.ts";
import type { Digest } from "../../base/Digest.ts";
import { Limits } from "../../base/Limits.ts";
import type { EvaluationContext } from "../../protocol/EvaluationContext.ts";
import { sessionLock } from "../approvers/Locks.ts";
import { completionOf } from "./Completion.ts";
import { isVoid, sessionStanding } from "./SessionStanding.ts";

const other = "22".repeat(32) as Digest;
const cluster = enrolling(1);
offerOf(cluster, 1, "open");
const [open] = sessionsOf(cluster, 1);
if (open === undefined) throw new Error("a session is open");
const { registrationId, createdAt, expiresAt } = open.session;
const offer = offerOf(cluster, 1, "finished");
finish(cluster, 1, "finish", offer.invitation, credential(offer));
cluster.pass(100);
const finished = sessionsOf(cluster, 1).find(({ completed }) => completed !== undefined)?.session;
if (finished === undefined) throw new Error("a session is finished");
const done = completionOf(openStep(cluster, 1).context.view, finished.registrationId);
if (done === undefined) throw new Error("the finish is known");

const codeOf = (evaluation: EvaluationContext, of: Digest, responseDigest: Digest): string => {
  const found = sessionStanding(evaluation, { registrationId: of, responseDigest });
  return found._tag === "Refused" ? found.rejection.code : found._tag;
};

/** The standing of the sent response, or of another one, to a session at that time. */
const standing = (of: Digest, now: number, responseDigest: Digest = done.responseDigest): string =>
  codeOf(openStep(cluster, 1, now), of, responseDigest);

const locks = [registrationId, finished.registrationId].map(sessionLock);

it("stays known while a finish of it is unsettled, however long that takes", () => {
  const late = (now: number, isReserved: boolean): EvaluationContext => {
    const { context, membership } = openStep(cluster, 1, now + Limits.sessionRetentionMillis + 1);
    return {
      context,
      membership,
      isCurrent: () => true,
      isLocked: (lock) => isReserved && locks.includes(lock),
      slice: ({ empty }) => empty,
    };
  };
  const codes = [true, false].map((isReserved) => [
    codeOf(late(expiresAt, isReserved), registrationId, other),
    codeOf(late(finished.expiresAt, isReserved), finished.registrationId, other),
  ]);
  expect(codes).toEqual([
    ["REGISTRATION_EXPIRED", "REGISTRATION_COMPLETED"],
    ["REGISTRATION_NOT_FOUND", "REGISTRATION_NOT_FOUND"],
  ]);
});

describe("a session that nothing has finished", () => {
  it("is open up to its deadline, expired for an hour, and then unknown", () => {
    const remembered = expiresAt + Limits.sessionRetentionMillis;
    expect(
      [createdAt, expiresAt, expiresAt + 1, remembered, remembered + 1].map((now) => standing(registrationId, now)),
    ).toEqual(["Open", "Open", "REGISTRATION_EXPIRED", "REGISTRATION_EXPIRED", "REGISTRATION_NOT_FOUND"]);
  });

  it("is void where it was opened later than clocks may differ", () => {
    expect(standing(registrationId, createdAt - Limits.clockSkewMillis)).toBe("Open");
    expect(standing(registrationId, createdAt - Limits.clockSkewMillis - 1)).toBe("REGISTRATION_EXPIRED");
  });

  const step = openStep(cluster, 1, createdAt);
  const { context, membership } = step;
  const evaluation: EvaluationContext = {
    context,
    membership,
    isCurrent: () => true,
    isLocked: () => false,
    slice: ({ empty }) => empty,
  };
  it.each<readonly [string, EvaluationContext, boolean]>([
    ["all is as it was", evaluation, false],
    ["the topology is another one", { ...evaluation, membership: { ...membership, digest: other } }, true],
    [
      "the configuration is another one",
      { ...evaluation, context: { ...context, settings: { ...context.settings, configDigest: other } } },
      true,
    ],
    ["a member has another incarnation", { ...evaluation, isCurrent: () => false }, true],
  ])("is void or not where %s", (_what, where, expected) => {
    expect(isVoid(where, open.session)).toBe(expected);
  });
});

describe("a session that a response has finished", () => {
  it("is finished for that response up to its deadline, and for no other", () => {
    const of = finished.registrationId;
    const remembered = finished.expiresAt + Limits.sessionRetentionMillis;
    const times = [finished.expiresAt, finished.expiresAt + 1, remembered, remembered + 1];
    expect(times.map((now) => standing(of, now))).toEqual([
      "Completed",
      "REGISTRATION_EXPIRED",
      "REGISTRATION_EXPIRED",
      "REGISTRATION_NOT_FOUND",
    ]);
    expect(times.map((now) => standing(of, now, other))).toEqual([
      "REGISTRATION_COMPLETED",
      "REGISTRATION_COMPLETED",
      "REGISTRATION_COMPLETED",
      "REGISTRATION_NOT_FOUND",
    ]);
  });
});
