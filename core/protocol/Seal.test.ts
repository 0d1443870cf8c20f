import { describe, expect, it } from "vitest";
import { founded } from "../../properties/cluster/Cluster.ts";
import { turnOf } from "../../properties/cluster/TurnOf.ts";
import { Turn } from "./Turn.ts";
import { step } from "../Peer.ts";
import { onSealed, onUnsealed } from "./Seal.ts";

describe("an unseal", () => {
  const cluster = founded();

  it("of a peer that was never initialized changes nothing", () => {
    const turn = turnOf(cluster, 1);
    turn.draft("cluster").peer = undefined;
    turn.draft("standing").unsealed = false;
    expect(step(turn.state, { _tag: "Unsealed" }, turn.context).state.standing.unsealed).toBe(false);
  });

  it("with the keys of another peer, or with none, shows that the records do not hold", () => {
    for (const [signer, fault] of [
      [cluster.keys.get(1), undefined],
      [cluster.keys.get(2), "peer/self"],
      [undefined, "peer/self"],
    ] as const) {
      const { state, context } = turnOf(cluster, 1);
      const turn = new Turn(state, { ...context, signer });
      onUnsealed(turn);
      expect([turn.state.standing.unsealed, turn.state.standing.integrityFault]).toEqual([true, fault]);
    }
  });
});

describe("a seal", () => {
  it("of a peer that is sealed already, or was never initialized, tells nobody anything", () => {
    const turn = turnOf(founded(), 1);
    onSealed(turn);
    expect(turn.state.standing.unsealed).toBe(false);
    onSealed(turn);
    turn.draft("cluster").peer = undefined;
    onSealed(turn);
    expect(turn.finish(() => undefined)).toMatchObject({ writes: [], sendNow: [], thenSend: [] });
  });
});
