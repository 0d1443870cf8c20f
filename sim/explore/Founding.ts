/** The first configuration: a cluster that the simulator founded, unsealed and joined, with nothing on its way. */
import type { Settings } from "../../core/protocol/Event.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import { tableNames } from "../../core/Tables.ts";
import { Choices } from "../base/Choices.ts";
import type { Commands } from "../requests/Commands.ts";
import type { Cryptography } from "../crypto/Cryptography.ts";
import { planOf } from "../run/Planning.ts";
import { EPOCH_MILLIS } from "../world/SimClock.ts";
import { Trace } from "../world/Trace.ts";
import { World } from "../world/World.ts";
import { type Budget, type Configuration, configurationOf } from "./Configuration.ts";
import { Bench, type Identity, memberOf, memoryOf, type Tamper } from "./Member.ts";
import { Moves, type PlannedRequest } from "./Moves.ts";
import { StoredRows } from "./StoredRows.ts";

/** Virtual microseconds in which a calm cluster is surely founded and has come to rest. */
const LONG_ENOUGH = 30_000_000;
const TOKEN_MILLIS = 3_600_000;
const FIRST_KEY = 1;

export interface Scope {
  readonly peers: number;
  /** Conflicting registrations: one key under as many ids, through different peers. */
  readonly requests: number;
  readonly budget: Budget;
}

/** A founded world of a seed that decides nothing but the keys. */
const foundedWorld = (peers: number): World => {
  const choices = new Choices(1);
  const { plan } = planOf({ seed: 1, schedule: "calm", peers, crypto: "fast" }, choices);
  const still = { ...plan, clockOffsetMillis: 0, clockDriftPerMillion: 0, redelivery: 0 };
  const world = new World(still, choices, new Trace());
  for (const peer of world.peers) world.processes.start(peer);
  world.run(LONG_ENOUGH);
  return world;
};

export interface Start {
  readonly first: Configuration;
  readonly moves: Moves;
}

const requestsOf = (commands: Commands, { peers, requests }: Scope): ReadonlyArray<PlannedRequest> =>
  Array.from({ length: requests }, (_, index) => ({
    through: 1 + (index % peers),
    command: commands.command(`approver-${index}`, FIRST_KEY, "team"),
    token: commands.token("good", EPOCH_MILLIS + LONG_ENOUGH / 1_000, TOKEN_MILLIS).text,
  }));

/** Where a search begins, and the moves that it has. Throws a RangeError when the cluster was not founded. */
export const startOf = (scope: Scope, tamper: Tamper): Start => {
  const world = foundedWorld(scope.peers);
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
      draws: 0,
    });
  });
  const first = configurationOf({
    members,
    flying: [],
    calls: Array.from({ length: scope.requests }, () => "unsent" as const),
    time,
    budget: scope.budget,
    origin: undefined,
  });
  const bench = new Bench(cryptography, identities, tamper);
  return { first, moves: new Moves(bench, cryptography, commands, requestsOf(commands, scope)) };
};
