/** What is read of keys that an instance had while it was alone, in the cluster that it was promoted to (decision 0047). */
import { Either } from "effect";
import { expect, it } from "vitest";
import type { PeerId } from "../core/protocol/Topology.ts";
import { type Cluster, crypto, inUse, settingsOf } from "../properties/cluster/Cluster.ts";
import { create, keeper, renew } from "../properties/cluster/Keyed.ts";
import { keyActor } from "../properties/cluster/PlantedKeys.ts";
import { beforePromotion, promote } from "../properties/cluster/Promoting.ts";
import { authorityDescription, type CatalogPorts, identityPage } from "./IdentityCatalog.ts";
import { readKey } from "./KeyReads.ts";
import { MemoryByteStore } from "./MemoryByteStore.ts";
import { SealedStore } from "./SealedStore.ts";

const SOURCE = 2;

const portsAt = (cluster: Cluster, peerId: PeerId): CatalogPorts => {
  const driver = cluster.peers.get(peerId);
  const tables = cluster.tables.get(peerId);
  const identity = cluster.keys.get(peerId);
  if (driver === undefined || tables === undefined || identity === undefined) throw new Error("there is no such peer");
  return {
    view: new SealedStore(new MemoryByteStore({ tables }), crypto),
    state: driver.state,
    settings: settingsOf(peerId, 3),
    clock: { now: cluster.now, asBefore: [] },
    crypto,
    shareVault: inUse(identity).shareVault,
    integrityLost: (where) => expect.fail(where),
  };
};

/** At each peer: the keys that it would sign with, and its health with one generation of the key. */
const shown = (cluster: Cluster, number: number) =>
  [1, SOURCE, 3].map((peerId) => {
    const ports = portsAt(cluster, peerId);
    const page = identityPage(() => ports, keyActor, "", 50).next().value;
    const items = page === undefined ? [] : Either.getOrThrow(page).items;
    const { health } = Either.getOrThrow(readKey(ports, "k1", number));
    const described = authorityDescription(ports, keyActor, "k1", "arbitrary");
    // The catalog describes what it lists.
    expect(Either.isRight(described)).toBe(items.length > 0);
    return [items.map(({ keyId }) => keyId), health];
  });

it("shows nobody a key that is whole at one peer as one to sign with, and misses no share of it elsewhere", () => {
  const cluster = beforePromotion(SOURCE);
  cluster.judge = () => keeper;
  create(cluster, SOURCE, "made");
  cluster.pass(1_000);
  promote(cluster);
  cluster.pass(15_000);
  expect(shown(cluster, 1)).toEqual([
    [[], "OK"],
    [[], "OK"],
    [[], "OK"],
  ]);
  const shares = cluster.tables.get(SOURCE)?.get("shares");
  const [[key, whole] = []] = shares ?? [];
  if (shares === undefined || key === undefined || whole === undefined) throw new Error("the source has no share");
  shares.delete(key);
  expect(shown(cluster, 1).map(([, health]) => health)).toEqual(["OK", "SHARE_MISSING", "OK"]);
  shares.set(key, whole);
  renew(cluster, 1, "refresh", "refresh", 1);
  cluster.pass(3_000);
  expect(shown(cluster, 2)).toEqual([
    [["k1"], "OK"],
    [["k1"], "OK"],
    [["k1"], "OK"],
  ]);
});
