import { utf8ToBytes } from "@noble/hashes/utils.js";
import { describe, expect, it } from "vitest";
import { actor } from "../../../properties/cluster/Cluster.ts";
import { enrolling, options } from "../../../properties/cluster/Enrolling.ts";
import { forgedBy } from "../../../properties/cluster/Forging.ts";
import { stateOf } from "../../../properties/cluster/Restoring.ts";
import { fires, heard, openStep } from "../../../properties/cluster/OpenStep.ts";
import type { Digest } from "../../base/Digest.ts";
import { CAPACITIES } from "../../base/Capacities.ts";
import { Limits } from "../../base/Limits.ts";
import type { MessageOf } from "../../Message.ts";
import type { SignedStatement } from "../../protocol/Statement.ts";
import type { PeerId } from "../../protocol/Topology.ts";
import type { Step } from "../../protocol/Step.ts";
import { OPTIONS_PATH } from "./Enrollment.ts";
import { enrollmentIn, enrollments } from "./EnrollmentState.ts";
import { giveUp, onSessionVotes, openSessions } from "./SessionWriter.ts";

const other = "22".repeat(32) as Digest;

/** The writer has asked both others to keep a session, and their answers have not reached it. */
const cluster = enrolling(3);
const answers = new Map<PeerId, MessageOf<"Session.Votes">>();
cluster.tamper = (from, _to, message) => {
  if (message._tag !== "Session.Votes") return message;
  answers.set(from, message);
  return undefined;
};
options(cluster, 3, "options");
cluster.settle();
const answerOf = (peerId: PeerId): MessageOf<"Session.Votes"> => {
  const answer = answers.get(peerId);
  if (answer === undefined) throw new Error(`peer ${peerId} was not asked`);
  return answer;
};
const ackOf = (peerId: PeerId): SignedStatement => {
  const [ack] = answerOf(peerId).acks;
  if (ack === undefined) throw new Error(`peer ${peerId} keeps no session`);
  return ack;
};
const [offer] = enrollmentIn(stateOf(cluster, 1)).offers.values();
const begun = offer?.mirror;
if (offer === undefined || begun === undefined) throw new Error("a session is under way");

/** The members whose acknowledgements the writer has of the one session under way; undefined once there is none. */
const acknowledgedBy = (step: Step): ReadonlyArray<PeerId> | undefined => {
  const [pending] = step.slice(enrollments).offers.values();
  return pending && [...(pending.mirror?.acks.keys() ?? [])];
};
const sent = (step: Step) => step.finish(() => undefined).thenSend;
const refusedFor = (...members: ReadonlyArray<{ readonly peerId: PeerId; readonly reason: string }>) =>
  expect.objectContaining({
    message: expect.objectContaining({
      outcome: { _tag: "Rejected", rejection: expect.objectContaining({ members }) },
    }),
  });

describe("a writer that waits for members to keep a session", () => {
  it.each<readonly [string, PeerId, SignedStatement, ReadonlyArray<PeerId>]>([
    ["takes a member's acknowledgement of it", 2, ackOf(2), [2]],
    ["takes none of another session", 2, forgedBy(cluster, 2, ackOf(2), { proposalId: other }), []],
    ["takes no other statement about it", 2, forgedBy(cluster, 2, ackOf(2), { kind: "REFUSAL" }), []],
    ["takes none of another incarnation", 2, forgedBy(cluster, 2, ackOf(2), {}, { incarnation: 2 }), []],
    ["takes none from anybody but its signer", 2, ackOf(3), []],
    ["takes none that is forged", 2, { ...ackOf(2), signature: ackOf(3).signature }, []],
  ])("%s", (_what, from, ack, taken) => {
    const step = openStep(cluster, 1);
    onSessionVotes(step, from, { _tag: "Session.Votes", acks: [ack], refusals: [] });
    expect(acknowledgedBy(step)).toEqual(taken);
  });

  it.each<readonly [string, Digest, ReadonlyArray<PeerId> | undefined]>([
    ["ends with a refusal of it", begun.digest, undefined],
    ["does not end with a refusal of another", other, []],
  ])("%s", (_what, sessionDigest, left) => {
    const step = openStep(cluster, 1);
    const refusals = [{ sessionDigest, code: "EXPIRED" }];
    onSessionVotes(step, 2, { _tag: "Session.Votes", acks: [], refusals });
    expect(acknowledgedBy(step)).toEqual(left);
  });

  it("offers none that a member may have lost, because it was restored after it had acknowledged it", () => {
    const step = openStep(cluster, 1);
    onSessionVotes(step, 2, answerOf(2));
    const known = step.state.signed.seen.get(2);
    if (known === undefined) throw new Error("every member has a row");
    step.edit("signed", "seen").set(2, { ...known, incarnation: known.incarnation + 1 });
    onSessionVotes(step, 3, answerOf(3));
    expect(acknowledgedBy(step)).toBeUndefined();
    expect(sent(step)).toEqual([refusedFor({ peerId: 1, reason: "a member was restored meanwhile" })]);
  });

  it("neither asks nor listens once it knows that its disk is old", () => {
    const step = openStep(cluster, 1, cluster.now);
    step.quarantine("its disk is old");
    for (const peerId of [2, 3]) {
      const { state, thenSend } = heard(step, peerId, answerOf(peerId));
      expect(enrollmentIn(state).offers).toBe(enrollmentIn(step.state).offers);
      expect(thenSend).toEqual([]);
    }
    expect(fires(step, "Session.mirror").thenSend).toEqual([]);
  });

  it("asks nobody again whether all are ready: that is asked for a session to come", () => {
    const step = openStep(cluster, 1);
    step.draft("probing").verdict = undefined;
    openSessions(step);
    expect(sent(step)).toEqual([]);
  });

  it("names every other member where it has come to ask none", () => {
    const { mirror: _, ...unasked } = offer;
    const step = openStep(cluster, 1);
    giveUp(step, unasked);
    const reason = "it has not acknowledged the session";
    expect(sent(step)).toEqual([refusedFor({ peerId: 2, reason }, { peerId: 3, reason })]);
  });
});

describe("members are asked to keep sessions", () => {
  /** A cluster in which the next request to peer 3 to keep a session is lost, and the members that were sent one. */
  const losing = () => {
    const lossy = enrolling(3);
    const asked: Array<PeerId> = [];
    const lose = (): void => {
      let isLost = false;
      lossy.tamper = (_from, to, message) => {
        if (message._tag !== "Session.Mirror") return message;
        asked.push(to);
        if (to !== 3 || isLost) return message;
        isLost = true;
        return undefined;
      };
    };
    return { lossy, asked, lose };
  };

  it("again after half a second, where they have not answered", () => {
    const { lossy, asked, lose } = losing();
    lose();
    options(lossy, 1, "options");
    lossy.pass(499);
    expect(asked).toEqual([2, 3]);
    lossy.pass(1);
    expect(asked).toEqual([2, 3, 3]);
    expect(lossy.answers.get("options")).toMatchObject({ _tag: "Offered" });
  });

  it("again in their time, where the timer was that of an earlier request", () => {
    const { lossy, asked, lose } = losing();
    options(lossy, 1, "first");
    lossy.pass(300);
    expect(lossy.answers.get("first")).toMatchObject({ _tag: "Offered" });
    lose();
    options(lossy, 1, "second");
    lossy.pass(499);
    expect(asked).toEqual([2, 3]);
    lossy.pass(501);
    expect(asked).toEqual([2, 3, 3]);
    expect(lossy.answers.get("second")).toMatchObject({ _tag: "Offered" });
  });

  // Sixteen of the longest bodies are as many bytes as there may be in a message.
  it.each([
    [CAPACITIES.proposalsPerMessage, 0, [CAPACITIES.proposalsPerMessage]],
    [CAPACITIES.proposalsPerMessage + 1, 0, [CAPACITIES.proposalsPerMessage, 1]],
    [17, Limits.requestBodyBytes, [16, 1]],
  ])("in messages that hold them, whenever they are asked: %i of at least %i bytes in %j", (total, least, messages) => {
    const busy = enrolling(2);
    const items: Array<number> = [];
    busy.tamper = (_from, _to, message) => {
      if (message._tag !== "Session.Mirror") return message;
      items.push(message.items.length);
      return undefined;
    };
    if (actor._tag !== "Verified") throw new Error("the test actor is verified");
    const { claims } = actor;
    for (let at = 0; at < total; at++) {
      const sub = `registrar ${at}`;
      busy.judge = () => ({ _tag: "Verified", claims: { ...claims, sub } });
      const text = JSON.stringify({ id: "alice" }).padEnd(least, " ");
      busy.ask(1, `o${at}`, { method: "POST", path: OPTIONS_PATH, ifMatch: undefined, rawBody: utf8ToBytes(text) });
    }
    busy.settle();
    expect(items).toEqual(messages);
    busy.pass(500);
    expect(items).toEqual([...messages, ...messages]);
  });
});
