/** A development cluster of real processes whose peers reach each other through wires of ours. */
import { existsSync, readFileSync } from "node:fs";
import { Agent } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Effect, Either, Redacted, Schema } from "effect";
import { bringUp } from "../../server/dev/BringUp.ts";
import type { Cluster, ClusterPeer } from "../../server/dev/ClusterFile.ts";
import { type DevFolder, devFolder } from "../../server/dev/DevFolder.ts";
import { openDevFolder, prepareCluster } from "../../server/dev/DevSetup.ts";
import { httpUrl } from "../../server/dev/PeerConfigFile.ts";
import { mintToken, operatorPermissions, operatorTtlMillis } from "../../server/dev/Tokens.ts";
import { developmentShares } from "../../server/peer/DevelopmentSecrets.ts";
import type { Violation } from "../../sim/Violation.ts";
import { buildFaultPort } from "./FaultPortBuild.ts";
import { Chance } from "./Chance.ts";
import type { Moment } from "./History.ts";
import { type Answered, call } from "./HttpCall.ts";
import { PeerUnderTest } from "./PeerUnderTest.ts";
import { Tokens } from "./Tokens.ts";
import { CALM, Wire } from "./Wire.ts";

/** The product as it is shipped. */
const entry = fileURLToPath(new URL("../../dist/server/bin/custody.js", import.meta.url));

/** How often the peers are waited for, a minute each time. */
const STARTS = 3;
/** Who draws which connections break. */
const WIRES = 2_000;

const Status = Schema.parseJson(
  Schema.Struct({
    state: Schema.String,
    detail: Schema.optional(
      Schema.Struct({
        uncommitted: Schema.Number,
        locks: Schema.Number,
        outbox: Schema.Number,
        waiting: Schema.Number,
      }),
    ),
  }),
);

const decodeStatus = Schema.decodeEither(Status);

export type PeerStatus = typeof Status.Type;

export interface ClusterOptions {
  readonly folder: string;
  readonly peers: number;
  readonly seed: number;
  readonly note: (moment: Moment) => void;
  readonly broken: (violation: Violation) => void;
}

/** The peers cannot be started at all. */
export class CannotStart extends Error {
  override readonly name = "CannotStart";
}

export class ChaosCluster {
  readonly folder: DevFolder;
  readonly urls: ReadonlyArray<string>;
  readonly tokens: Tokens;
  readonly peers: ReadonlyArray<PeerUnderTest>;
  readonly #wires: ReadonlyMap<string, Wire>;
  readonly #operator: string;
  readonly #agent = new Agent({ keepAlive: false });

  private constructor(
    folder: DevFolder,
    cluster: Cluster,
    tokens: Tokens,
    operator: string,
    peers: ReadonlyArray<PeerUnderTest>,
    wires: ReadonlyMap<string, Wire>,
  ) {
    this.folder = folder;
    this.urls = cluster.peers.map(httpUrl);
    this.tokens = tokens;
    this.#operator = operator;
    this.peers = peers;
    this.#wires = wires;
  }

  /** Prepares a folder, starts every peer and waits until all are ready. Rejects with {@link CannotStart}. */
  static async start({ folder: path, peers: count, seed, note, broken }: ClusterOptions): Promise<ChaosCluster> {
    if (!existsSync(entry)) throw new CannotStart(`${entry} is missing; run npm run build first`);
    const folder = devFolder(join(path, "cluster"));
    const order = { peers: count, port: 0 };
    const prepared = await Effect.runPromise(
      Effect.gen(function* () {
        const known = yield* openDevFolder(folder, order);
        const cluster = yield* prepareCluster(folder, order, known);
        const ttl = { subject: "operator", permissions: operatorPermissions, ttlMillis: operatorTtlMillis };
        return { cluster, operator: yield* mintToken(folder, cluster, ttl) };
      }).pipe(Effect.either),
    );
    if (Either.isLeft(prepared)) throw new CannotStart(prepared.left.message);
    const { cluster, operator } = prepared.right;
    const faultPort = buildFaultPort(join(path, "fault-port"));
    const wires = await openWires(cluster, seed);
    const peers = cluster.peers.map(({ id }) => {
      const others = cluster.peers.filter((other) => other.id !== id);
      const reach = others.map((other) => `${other.id}=http://127.0.0.1:${wires.get(`${id} ${other.id}`)?.port ?? 0}`);
      return new PeerUnderTest({ slot: id, entry, faultPort, folder, peers: reach.join(","), note, broken });
    });
    const tokens = await Tokens.open(folder.issuer, cluster);
    const made = new ChaosCluster(folder, cluster, tokens, Redacted.value(operator), peers, wires);
    for (const peer of peers) peer.start();
    const started = cluster.peers.flatMap((peer) => {
      const process = peers[peer.id - 1]?.asProcess;
      return process === undefined ? [] : [{ peer, process }];
    });
    const bring = bringUp(folder, cluster, started, operator);
    let up = await Effect.runPromise(Effect.either(bring));
    // A busy machine takes longer than the minute that a developer would wait.
    for (let again = 1; again < STARTS && Either.isLeft(up) && peers.every(({ isUp }) => isUp); again++)
      up = await Effect.runPromise(Effect.either(bring));
    if (Either.isLeft(up)) {
      await made.kill();
      throw new CannotStart(up.left.message);
    }
    return made;
  }

  peer(slot: number): PeerUnderTest {
    const peer = this.peers[slot - 1];
    if (peer === undefined) throw new RangeError(`there is no peer ${slot}`);
    return peer;
  }

  /** The wire that carries what one peer sends to another, with the answers. */
  wire(from: number, to: number): Wire {
    const wire = this.#wires.get(`${from} ${to}`);
    if (wire === undefined) throw new RangeError(`there is no wire from ${from} to ${to}`);
    return wire;
  }

  /** Every wire at one end of which this peer is. */
  wiresOf(slot: number): ReadonlyArray<Wire> {
    return this.peers
      .filter((other) => other.slot !== slot)
      .flatMap((other) => [this.wire(slot, other.slot), this.wire(other.slot, slot)]);
  }

  get resets(): number {
    return [...this.#wires.values()].reduce((sum, wire) => sum + wire.resets, 0);
  }

  calm(): void {
    for (const wire of this.#wires.values()) wire.mode = CALM;
  }

  /** A request as the operator. */
  ask(slot: number, path: string, body?: unknown): Promise<Answered> {
    const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    return call(this.#agent, this.urls[slot - 1] ?? "", `/v1/custody/system/${path}`, {
      token: this.#operator,
      body: bytes,
    });
  }

  async status(slot: number): Promise<PeerStatus | undefined> {
    const { status, text } = await this.ask(slot, "status");
    return status === 200 ? Either.getOrUndefined(decodeStatus(text)) : undefined;
  }

  async shares(slot: number): Promise<ReadonlyArray<string>> {
    return Effect.runPromise(developmentShares(this.folder.secrets, slot));
  }

  async unseal(slot: number): Promise<void> {
    for (const share64 of await this.shares(slot)) await this.ask(slot, "unseal", { share64 });
  }

  /** What no stored byte, answer or log line may hold: what tokens begin with, the unseal shares, the founding secret. */
  async secrets(): Promise<ReadonlyArray<string>> {
    const shares = await Promise.all(this.peers.map(({ slot }) => this.shares(slot)));
    const bootstrap = readFileSync(this.folder.bootstrap, "utf8").trim();
    return [await this.tokens.mark(), bootstrap, ...shares.flat()];
  }

  /** Ends every process at once and closes the wires. */
  async kill(): Promise<void> {
    await Promise.all(this.peers.map((peer) => peer.kill()));
    await this.closeWires();
  }

  async closeWires(): Promise<void> {
    this.#agent.destroy();
    await Promise.all([...this.#wires.values()].map((wire) => wire.close()));
  }
}

const openWires = async (cluster: Cluster, seed: number): Promise<ReadonlyMap<string, Wire>> => {
  const wires = new Map<string, Wire>();
  const random = new Chance(seed, WIRES);
  const chance = (perMille: number): boolean => random.happens(perMille);
  const pairs = cluster.peers.flatMap((from) =>
    cluster.peers.filter((to) => to.id !== from.id).map((to): readonly [ClusterPeer, ClusterPeer] => [from, to]),
  );
  for (const [from, to] of pairs) wires.set(`${from.id} ${to.id}`, await Wire.open({ target: to.peerPort, chance }));
  return wires;
};
