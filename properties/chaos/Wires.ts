/** One wire for each peer to each other. */
import type { Cluster, ClusterPeer } from "../../server/dev/ClusterFile.ts";
import { Chance } from "./Chance.ts";
import { Wire } from "./Wire.ts";

/** The number of the draws that break connections. */
const WIRES = 2_000;

/** Opens them all. @returns each by the ids of both ends, with a space between */
export const openWires = async (cluster: Cluster, seed: number): Promise<ReadonlyMap<string, Wire>> => {
  const wires = new Map<string, Wire>();
  const random = new Chance(seed, WIRES);
  const chance = (perMille: number): boolean => random.happens(perMille);
  const pairs = cluster.peers.flatMap((from) =>
    cluster.peers.filter((to) => to.id !== from.id).map((to): readonly [ClusterPeer, ClusterPeer] => [from, to]),
  );
  // Nothing holds the ports of peers yet, so the system may give one of them to a wire.
  const own = new Set(cluster.peers.flatMap(({ httpPort, peerPort }) => [httpPort, peerPort]));
  const aside: Array<Wire> = [];
  for (const [from, to] of pairs) {
    let wire = await Wire.open({ target: to.peerPort, chance });
    for (; own.has(wire.port); wire = await Wire.open({ target: to.peerPort, chance })) aside.push(wire);
    wires.set(`${from.id} ${to.id}`, wire);
  }
  await Promise.all(aside.map((wire) => wire.close()));
  return wires;
};
