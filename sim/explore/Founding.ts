/** The first configuration: a cluster that the simulator founded, unsealed and joined, with nothing on its way. */
import { absurd } from "effect";
import type { Settings } from "../../core/protocol/Event.ts";
import { modeOf } from "../../core/protocol/Mode.ts";
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
import { Moves, type Plot } from "./Moves.ts";
import { promotions } from "./Promotions.ts";
import { registrations } from "./Registrations.ts";
import { signings } from "./Signings.ts";
import { Spoken } from "./Spoken.ts";
import { StoredRows } from "./StoredRows.ts";

/** Virtual microseconds in which a calm cluster is surely founded and has come to rest. */
const LONG_ENOUGH = 30_000_000;

/** A founded world of a seed that decides nothing but the keys; before a promotion its last peer is alone. */
const foundedWorld = ({ peers, world: kind }: Scope, { cryptography }: Tampering): World => {
  const choices = new Choices(1);
  const { plan } = planOf({ seed: 1, schedule: "calm", peers, crypto: "fast" }, choices);
  const promotion = kind === "promotion" ? { promotion: { source: peers, afterMicros: 0, hasRivals: false } } : {};
  const still = { ...plan, ...promotion, clockOffsetMillis: 0, clockDriftPerMillion: 0, redelivery: 0 };
  const world = new World(still, choices, new Trace(), {
    tampering: cryptography === undefined ? {} : { cryptography },
  });
  for (const peer of world.peers) world.processes.start(peer);
  world.run(LONG_ENOUGH);
  return world;
};

/** What is planted in the drivers of its members. */
const tamperOf = (world: World, { written, answered, stepped }: Tampering): Tamper => ({
  written: (peerId, writes) => {
    const peer = world.peers.find((each) => each.peerId === peerId);
    return peer === undefined ? writes : (written?.(world, peer, writes) ?? writes);
  },
  answered: (answer) => answered?.(world, answer) ?? answer,
  stepped: (peerId, state) => {
    const peer = world.peers.find((each) => each.peerId === peerId);
    if (peer === undefined || stepped === undefined) return state;
    // It edits in place, and states are shared here.
    const { promotion } = state.cluster;
    const edited = { ...state, cluster: { ...state.cluster, promotion: { ...promotion } } };
    stepped(world, peer, edited);
    return edited;
  },
});

/** What is asked for in a world of this kind, once it has what that takes. */
const askedIn = (world: World, scope: Scope): Pick<Start, "claims"> & { readonly plot: Plot } => {
  switch (scope.world) {
    case "registrations":
      return registrations(world, scope);
    case "signing":
      return signings(world, scope);
    case "promotion":
      return promotions(world, scope);
    default:
      return absurd(scope.world);
  }
};

export interface Start {
  readonly first: Configuration;
  readonly moves: Moves;
  readonly claims: Claims;
}

/** Where a search begins, the moves that it has, and what must hold. Throws a RangeError when the cluster was not founded. */
export const startOf = (scope: Scope, tampering: Tampering): Start => {
  const world = foundedWorld(scope, tampering);
  const { plot, claims } = askedIn(world, scope);
  const { commands } = world;
  const cryptography: Cryptography = world.cryptography;
  const time = world.now / 1_000;
  const identities = new Map<PeerId, Identity>();
  const members = world.peers.map((peer) => {
    const { state, signer, keys } = peer;
    const isTarget = scope.world === "promotion" && peer.slot < scope.peers;
    if (state === undefined || signer === undefined || modeOf(state) !== (isTarget ? "founding" : "active"))
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
