import { describe, expect, it } from "vitest";
import { founded } from "../../properties/cluster/Cluster.ts";
import { openStep } from "../../properties/cluster/OpenStep.ts";
import type { Step } from "./Step.ts";
import { takeStep } from "../Peer.ts";

const cluster = founded(1);
const publicKey = cluster.keys.get(1)?.publicKey;
if (publicKey === undefined) throw new Error("peer 1 has a key");

describe("a new integrity key", () => {
  const rotate = (become: (step: Step) => void) => {
    const step = openStep(cluster, 1);
    become(step);
    const asked = { _tag: "RotateIntegrity", requestId: "rotate", publicKey, blob: new Uint8Array(8) } as const;
    return takeStep(step.state, asked, step.context);
  };

  it("has the next version, and a row of its own that is flushed before the answer", () => {
    const taken = rotate(() => undefined);
    expect(taken.state.fitness.integrityVersion).toBe(2);
    expect(taken.writes.filter(({ table }) => table === "integrity")).toMatchObject([
      { op: "insert", row: { publicKey } },
    ]);
    expect(taken.sendNow).toEqual([]);
    expect(taken.thenSend).toEqual([{ _tag: "Reply", requestId: "rotate", answer: { _tag: "Rotated", version: 2 } }]);
  });

  it.each<readonly [string, string, (step: Step) => void]>([
    ["was never initialized", "NOT_INITIALIZED", (step) => void (step.draft("cluster").peer = undefined)],
    ["is sealed", "SEALED", (step) => void (step.draft("fitness").unsealed = false)],
    [
      "has records that do not hold",
      "INTEGRITY_FAILURE",
      (step) => void (step.draft("fitness").integrityFault = "peer/self"),
    ],
  ])("is refused by a peer that %s, and nothing is written", (_why, code, become) => {
    const taken = rotate(become);
    expect(taken.writes).toEqual([]);
    expect(taken.state.fitness.integrityVersion).toBe(1);
    expect(taken.thenSend).toMatchObject([{ answer: { _tag: "Rejected", rejection: { code } } }]);
  });
});
