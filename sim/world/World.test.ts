import { describe, expect, it } from "vitest";
import { Choices } from "../base/Choices.ts";
import { planOf } from "../run/Planning.ts";
import type { SimPeer } from "./SimPeer.ts";
import { Trace } from "./Trace.ts";
import { World } from "./World.ts";

const MILLI = 1_000;
const SECOND = 1_000 * MILLI;

/** A peer of a quiet world that was asked to seal itself while a flush is under way, which the seal waits for. */
const sealing = (): { readonly world: World; readonly peer: SimPeer } => {
  const choices = new Choices(1);
  const { plan } = planOf({ seed: 1, schedule: "calm", peers: 3 }, choices);
  const world = new World(plan, choices, new Trace(undefined));
  for (const each of world.peers) world.processes.startSoon(each);
  const peer = world.peer(2);
  while (peer.signer === undefined || !peer.disk.flushing) {
    expect(world.now).toBeLessThan(10 * SECOND);
    world.run(world.now + MILLI / 10);
  }
  world.operators.seal(peer);
  expect(peer).toMatchObject({ isSealing: true, isIdle: false });
  return { world, peer };
};

describe("an operator's peer", () => {
  it("is unsealed after a seal that had to wait, where that was asked for meanwhile", () => {
    const { world, peer } = sealing();
    world.operators.unseal(peer);
    expect(peer.isSealing).toBe(true);
    world.run(world.now + SECOND);
    expect(peer.isSealing).toBe(false);
    expect(peer.state?.fitness.unsealed).toBe(true);
    expect(peer.signer).toBeDefined();
  });

  it.each(["nothing else is", "a seal is once more"])("stays sealed after it where %s asked for", (last) => {
    const { world, peer } = sealing();
    if (last === "a seal is once more") {
      world.operators.unseal(peer);
      world.operators.seal(peer);
    }
    world.run(world.now + SECOND);
    expect(peer.isSealing).toBe(false);
    expect(peer.state?.fitness.unsealed).toBe(false);
    expect(peer.signer).toBeUndefined();
  });
});
