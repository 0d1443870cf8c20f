import { describe, expect, it } from "vitest";
import { type Cluster, founded } from "../../properties/cluster/Cluster.ts";
import { enrolling, options } from "../../properties/cluster/Enrolling.ts";
import { stateOf } from "../../properties/cluster/Restoring.ts";
import { openStep } from "../../properties/cluster/OpenStep.ts";
import { enrollmentIn } from "../commands/enrollPasskey/EnrollmentState.ts";
import type { Message } from "../Message.ts";
import { onIntegrityLost } from "./Seal.ts";

const SEALED = [{ peerId: 1, reason: "it is sealed" }];
const seal = (cluster: Cluster): void => cluster.peers.get(1)?.dispatch({ _tag: "Sealed" });
const keepBack = (cluster: Cluster, tag: Message["_tag"]): void => {
  cluster.tamper = (_from, _to, message) => (message._tag === tag ? undefined : message);
};

describe("a peer that is sealed", () => {
  it("tells who waits for its readiness that it is not ready, and why", () => {
    const cluster = founded();
    cluster.pass(10_000);
    keepBack(cluster, "Ready");
    cluster.peers.get(1)?.dispatch({ _tag: "CheckReadiness", requestId: "ready?" });
    cluster.settle();
    expect(cluster.answers.has("ready?")).toBe(false);
    seal(cluster);
    expect(cluster.answers.get("ready?")).toEqual({ _tag: "Readiness", faults: SEALED });
    expect(stateOf(cluster, 1).probing.readinessWaiters).toEqual([]);
  });

  it.each([
    ["that members are asked to keep: what they may have kept takes room", "Session.Mirror", 1],
    ["that is not made yet", "Ready", 0],
  ] as const)("tells who waits for a session %s", (_which, tag, givenUp) => {
    const cluster = enrolling(3);
    cluster.pass(10_000);
    keepBack(cluster, tag);
    options(cluster, 1, "options");
    cluster.settle();
    expect(cluster.answers.has("options")).toBe(false);
    seal(cluster);
    expect(cluster.answers.get("options")).toMatchObject({ rejection: { members: SEALED, outcomeUnknown: false } });
    expect(enrollmentIn(stateOf(cluster, 1)).givenUp.size).toBe(givenUp);
  });
});

it("has nobody to tell of damage, where a peer does not even know who it is", () => {
  const step = openStep(founded(), 1);
  step.draft("cluster").peer = undefined;
  onIntegrityLost(step, "peer/self");
  expect(step.state.fitness.integrityFault).toBe("peer/self");
  expect(step.finish(() => undefined).thenSend).toEqual([]);
});
