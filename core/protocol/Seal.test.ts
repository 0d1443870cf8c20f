import { describe, expect, it } from "vitest";
import { founded } from "../../properties/cluster/Cluster.ts";
import { openStep } from "../../properties/cluster/OpenStep.ts";
import { Step } from "./Step.ts";
import { takeStep } from "../Peer.ts";
import { onSealed, onUnsealed } from "./Seal.ts";

describe("an unseal", () => {
  const cluster = founded();

  it("of a peer that was never initialized changes nothing", () => {
    const step = openStep(cluster, 1);
    step.draft("cluster").peer = undefined;
    step.draft("fitness").unsealed = false;
    expect(takeStep(step.state, { _tag: "Unsealed" }, step.context).state.fitness.unsealed).toBe(false);
  });

  it("with the keys of another peer, or with none, shows that the records do not hold", () => {
    for (const [signer, fault] of [
      [cluster.keys.get(1), undefined],
      [cluster.keys.get(2), "peer/self"],
      [undefined, "peer/self"],
    ] as const) {
      const { state, context } = openStep(cluster, 1);
      const step = new Step(state, { ...context, signer });
      onUnsealed(step);
      expect([step.state.fitness.unsealed, step.state.fitness.integrityFault]).toEqual([true, fault]);
    }
  });
});

describe("a seal", () => {
  it("of a peer that is sealed already, or was never initialized, tells nobody anything", () => {
    const step = openStep(founded(), 1);
    onSealed(step);
    expect(step.state.fitness.unsealed).toBe(false);
    onSealed(step);
    step.draft("cluster").peer = undefined;
    onSealed(step);
    expect(step.finish(() => undefined)).toMatchObject({ writes: [], sendNow: [], thenSend: [] });
  });
});
