/**
 * A message of another cluster whose peers have the same ids: a real message of
 * this one, under another topology, signed by a stranger's key or by the very same one.
 */
import type { Digest } from "../../core/base/Digest.ts";
import type { Unit } from "../base/Choices.ts";
import type { World } from "../world/World.ts";
import { anyPacket } from "./Victims.ts";

const FOREIGN = "d".repeat(64) as Digest;

export const foreignCluster = (world: World, unit: Unit): void => {
  const old = anyPacket(world, unit);
  const state = old?.from.state;
  if (old === undefined || state?.cluster.membership === undefined) return;
  const elsewhere = { ...state, membership: { ...state.cluster.membership, digest: FOREIGN } };
  const signer = unit.chance("under the same key", 500) ? old.from.keys.identity : world.strangerKeys.identity;
  const packet = world.cryptography.wire.seal(elsewhere, signer, () => world.entropy.digest(), old.to, old.message);
  if (packet !== undefined)
    world.mail.transmit(old.to, packet, 500, { from: old.from.slot, message: old.message, how: "forged" });
};
