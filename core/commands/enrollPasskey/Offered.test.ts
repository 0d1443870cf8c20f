import { describe, expect, it } from "vitest";
import { crypto, whole } from "../../../properties/cluster/Cluster.ts";
import { enrolling, options, sessionsOf } from "../../../properties/cluster/Enrolling.ts";
import { forgedBy } from "../../../properties/cluster/Forging.ts";
import { stateOf } from "../../../properties/cluster/Restoring.ts";
import { openStep } from "../../../properties/cluster/OpenStep.ts";
import { CAPACITIES } from "../../base/Capacities.ts";
import { Limits } from "../../base/Limits.ts";
import type { Awaited } from "../../protocol/Requests.ts";
import { onOutcome } from "../../protocol/Outcome.ts";
import { signerOf } from "../../protocol/Statement.ts";
import type { RowView } from "../../Tables.ts";
import { Step } from "../../protocol/Step.ts";
import { enrollmentIn, enrollments } from "./EnrollmentState.ts";
import { answerOffered, answerOfferedAgain, isOfferProven } from "./Offered.ts";
import { registrationIdOf, sessionDigest } from "./Session.ts";
import { offers } from "./SessionMessages.ts";

const cluster = enrolling(3);
cluster.tamper = (_from, _to, message) => (message._tag === "Session.Votes" ? undefined : message);
options(cluster, 3, "options");
cluster.settle();
const [offer] = enrollmentIn(stateOf(cluster, 1)).offers.values();
cluster.tamper = whole;
cluster.pass(1_000);
const [offered] = enrollmentIn(stateOf(cluster, 1)).offered.values();
const [row] = sessionsOf(cluster, 3);
if (offer === undefined || offered === undefined || row === undefined) throw new Error("options are offered");
const { forward } = offer;

describe("an offer", () => {
  /** A step of the entry peer, with this on its disk for every session. */
  const keeping = (found: typeof row | undefined): Step => {
    const { state, context } = openStep(cluster, 3);
    return new Step(state, { ...context, view: { get: () => found, scan: () => [] } as unknown as RowView });
  };

  it("is proven to the peer that was asked for it", () => {
    expect(isOfferProven(openStep(cluster, 3), forward, offered)).toBe(true);
  });

  it("proves nothing for another request, to another peer, or where the session is not kept", () => {
    expect(isOfferProven(openStep(cluster, 3), { ...forward, requestId: "another" }, offered)).toBe(false);
    expect(isOfferProven(openStep(cluster, 2), forward, offered)).toBe(false);
    expect(isOfferProven(keeping(undefined), forward, offered)).toBe(false);
  });

  it.each([
    ["the whole of an invitation", Limits.challengeBytes, true],
    ["an invitation that nobody could finish it with", Limits.challengeBytes - 1, false],
  ])("that all members keep is proven or not by %s", (_what, length, expected) => {
    const invitation = new Uint8Array(length).fill(7);
    const session = { ...offered.session, registrationId: registrationIdOf(crypto, invitation) };
    const proposalId = sessionDigest(crypto, session);
    const acks = offered.acks.map((ack) => forgedBy(cluster, signerOf(ack), ack, { proposalId }));
    const ack = forgedBy(cluster, 3, row.ack, { proposalId });
    expect(isOfferProven(keeping({ ...row, session, ack }), forward, { ...offered, session, invitation, acks })).toBe(
      expected,
    );
  });

  it.each(["OPTIONS", "REGISTER"] as const)("is believed by its entry peer where it asked for options: %s", (kind) => {
    const step = openStep(cluster, 3);
    const request = { ...offer.enrollment, kind } as Awaited["request"];
    const unheard = { denial: undefined, storedAt: undefined, actor: "operator", serial: 1 };
    const times = { arrivedAt: 0, forwardedAt: 0, sentAt: 0 };
    step
      .edit("requests", "awaited")
      .set("options", { forward, request, acknowledged: true, isApplied: false, ...unheard, ...times });
    const outcome = { _tag: "Exchanged", answer: offers.encode(offered) } as const;
    onOutcome(step, 1, { _tag: "Outcome", requestId: "options", outcome });
    expect(step.state.requests.awaited.has("options")).toBe(kind !== "OPTIONS");
  });

  it("is sent again up to its deadline", () => {
    const { expiresAt } = offered.session;
    expect(answerOfferedAgain(openStep(cluster, 1, expiresAt), forward)).toBe(true);
    expect(answerOfferedAgain(openStep(cluster, 1, expiresAt + 1), forward)).toBe(false);
  });

  it("is remembered until so many newer ones have been made", () => {
    const step = openStep(cluster, 1);
    step.editIn(enrollments, "offered").clear();
    const requestOf = (at: number) => ({ ...forward, requestId: `request ${at}` });
    const remembered = (): ReadonlyArray<boolean> => [0, 1].map((at) => answerOfferedAgain(step, requestOf(at)));
    for (let at = 0; at < CAPACITIES.offersRemembered; at++)
      answerOffered(step, { ...offer, forward: requestOf(at) }, offered);
    expect(remembered()).toEqual([true, true]);
    answerOffered(step, { ...offer, forward: requestOf(CAPACITIES.offersRemembered) }, offered);
    expect(remembered()).toEqual([false, true]);
  });
});
