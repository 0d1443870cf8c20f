import { describe, expect, it } from "vitest";
import { founded } from "../../properties/cluster/Cluster.ts";
import { turnOf } from "../../properties/cluster/TurnOf.ts";
import type { Turn } from "./Turn.ts";
import { step } from "../Peer.ts";

const cluster = founded(1);
const publicKey = cluster.keys.get(1)?.publicKey;
if (publicKey === undefined) throw new Error("peer 1 has a key");

describe("a new integrity key", () => {
  const rotate = (become: (turn: Turn) => void) => {
    const turn = turnOf(cluster, 1);
    become(turn);
    const asked = { _tag: "RotateIntegrity", requestId: "rotate", publicKey, blob: new Uint8Array(8) } as const;
    return step(turn.state, asked, turn.context);
  };

  it("has the next version, and a row of its own that is flushed before the answer", () => {
    const step = rotate(() => undefined);
    expect(step.state.standing.integrityVersion).toBe(2);
    expect(step.writes.filter(({ table }) => table === "integrity")).toMatchObject([
      { op: "insert", row: { publicKey } },
    ]);
    expect(step.sendNow).toEqual([]);
    expect(step.thenSend).toEqual([{ _tag: "Reply", requestId: "rotate", answer: { _tag: "Rotated", version: 2 } }]);
  });

  it.each<readonly [string, string, (turn: Turn) => void]>([
    ["was never initialized", "NOT_INITIALIZED", (turn) => void (turn.draft("cluster").peer = undefined)],
    ["is sealed", "SEALED", (turn) => void (turn.draft("standing").unsealed = false)],
    [
      "has records that do not hold",
      "INTEGRITY_FAILURE",
      (turn) => void (turn.draft("standing").integrityFault = "peer/self"),
    ],
  ])("is refused by a peer that %s, and nothing is written", (_why, code, become) => {
    const step = rotate(become);
    expect(step.writes).toEqual([]);
    expect(step.state.standing.integrityVersion).toBe(1);
    expect(step.thenSend).toMatchObject([{ answer: { _tag: "Rejected", rejection: { code } } }]);
  });
});
