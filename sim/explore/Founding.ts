/** The first configuration: a cluster that the simulator founded, unsealed and joined, with nothing on its way. */
import type { Settings } from "../../core/protocol/Event.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import { tableNames } from "../../core/Tables.ts";
import { Choices } from "../base/Choices.ts";
import type { Cryptography } from "../crypto/Cryptography.ts";
import { planOf } from "../run/Planning.ts";
import type { Tampering } from "../world/Tampering.ts";
import { Trace } from "../world/Trace.ts";
import { World } from "../world/World.ts";
import type { Claims } from "./Claims.ts";
import { type Configuration, configurationOf, type Scope } from "./Configuration.ts";
import { Bench, type Identity, memberOf, memoryOf, type Tamper } from "./Member.ts";
import { Moves } from "./Moves.ts";
import { registrations } from "./Registrations.ts";
import { signings } from "./Signings.ts";
import { Spoken } from "./Spoken.ts";
import { StoredRows } from "./StoredRows.ts";

/** Virtual microseconds in which a calm cluster is surely founded and has come to rest. */
const LONG_ENOUGH = 30_000_000;

/** A founded world of a seed that decides nothing but the keys. */
const foundedWorld = (peers: number, { cryptography }: Tampering): World => {
  const choices = new Choices(1);
  const { plan } = planOf({ seed: 1, schedule: "calm", peers, crypto: "fast" }, choices);
  const still = { ...plan, clockOffsetMillis: 0, clockDriftPerMillion: 0, redelivery: 0 };
  const world = new World(still, choices, new Trace(), {
    tampering: cryptography === undefined ? {} : { cryptography },
  });
  for (const peer of world.peers) world.processes.start(peer);
  world.run(LONG_ENOUGH);
  return world;
};

/** What is planted in the drivers of its members. */
const tamperOf = (world: World, { written, answered }: Tampering): Tamper => ({
  written: (peerId, writes) => {
    const peer = world.peers.find((each) => each.peerId === peerId);
    return peer === undefined ? writes : (written?.(world, peer, writes) ?? writes);
  },
  answered: (answer) => answered?.(world, answer) ?? answer,
});

export interface Start {
  readonly first: Configuration;
  readonly moves: Moves;
  readonly claims: Claims;
}

/** Where a search begins, the moves that it has, and what must hold. Throws a RangeError when the cluster was not founded. */
export const startOf = (scope: Scope, tampering: Tampering): Start => {
  const world = foundedWorld(scope.peers, tampering);
  const { plot, claims } = scope.world === "signing" ? signings(world, scope) : registrations(world, scope);
  const { commands } = world;
  const cryptography: Cryptography = world.cryptography;
  const time = world.now / 1_000;
  const identities = new Map<PeerId, Identity>();
  const members = world.peers.map((peer) => {
    const { state, signer, keys } = peer;
    if (state?.cluster.membership === undefined || signer === undefined || state.rejoining.unproven.size > 0)
      throw new RangeError(`peer ${peer.slot} did not come to rest`);
    const settings: Settings = peer.settings;
    const inUse = { signer, shareVault: keys.shareVault };
    identities.set(peer.peerId, { settings, keys: inUse });
    return memberOf({
      peerId: peer.peerId,
      rows: StoredRows.of(peer.store, tableNames),
      memory: memoryOf({ state: { ...state, timers: new Map() }, keys: inUse }, undefined),
      flushing: undefined,
      draws: new Map(),
    });
  });
  const first = configurationOf({
    members,
    flying: [],
    calls: plot.requests.map(() => "unsent" as const),
    spoken: Spoken.nothing,
    time,
    budget: scope.budget,
    origin: undefined,
  });
  const bench = new Bench(cryptography, identities, tamperOf(world, tampering));
  return { first, moves: new Moves(bench, cryptography, commands, plot), claims };
};
