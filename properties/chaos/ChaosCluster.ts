/** A development cluster of real processes whose peers reach each other through wires of ours. */
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import type { Agent } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Effect, Either, Redacted, Schema } from "effect";
import { type Cluster, type ClusterPeer, SOURCE, thresholdOf } from "../../server/dev/ClusterFile.ts";
import { type DevFolder, devFolder } from "../../server/dev/DevFolder.ts";
import { openDevFolder, prepareCluster } from "../../server/dev/DevSetup.ts";
import { mintToken, operatorPermissions, operatorTtlMillis } from "../../server/dev/Tokens.ts";
import { FINISH_PATH } from "../../core/commands/enrollPasskey/Finish.ts";
import { MESSAGE_TYPE, MESSAGES_PATH } from "../../server/transport/Posts.ts";
import { developmentShares } from "../../server/peer/DevelopmentSecrets.ts";
import { Backups } from "./Backups.ts";
import { Running } from "../cli/Running.ts";
import { CannotStart, type ClusterOptions, type PromotionPlan } from "./ClusterOptions.ts";
import { type Authority, makeAuthority, nameSource, settle } from "./ClusterSettings.ts";
import { buildFaultPort } from "./FaultPortBuild.ts";
import { agentFor, type Answered, call } from "./HttpCall.ts";
import { KeySets } from "./KeySets.ts";
import { keepInMind } from "./Children.ts";
import { type OldDisk, OldDisks } from "./OldDisks.ts";
import { PeerUnderTest } from "./PeerUnderTest.ts";
import type { Target } from "./Strangers.ts";
import { Tokens } from "./Tokens.ts";
import { decodeStatus, type PeerStatus } from "./PeerStatus.ts";
import { CALM, type Wire } from "./Wire.ts";
import { openWires } from "./Wires.ts";

/** The product as it is shipped. */
const entry = fileURLToPath(new URL("../../dist/server/bin/custody.js", import.meta.url));

/** How long to wait until all peers are ready. */
const START_MILLIS = 180_000;
const START_POLL_MILLIS = 100;

const InitAnswer = Schema.parseJson(Schema.Struct({ shares64: Schema.Array(Schema.String) }));

export class ChaosCluster {
  readonly folder: DevFolder;
  /** The public addresses of the peers that callers know: of an instance alone, until there are targets. */
  readonly urls: Array<string>;
  readonly #urls: ReadonlyArray<string>;
  /** The ports on which strangers find the peers, by peer. */
  readonly ports: ReadonlyArray<Pick<ClusterPeer, "httpPort" | "peerPort">>;
  readonly tokens: Tokens;
  readonly peers: ReadonlyArray<PeerUnderTest>;
  readonly keySets: KeySets;
  /** The authority of the peers' certificates, in PEM; undefined where they speak in clear. */
  readonly ca: string | undefined;
  readonly #wires: ReadonlyMap<string, Wire>;
  readonly #operator: string;
  readonly #agent: Agent;
  readonly backups: Backups;
  readonly #disks: ReadonlyArray<OldDisks>;
  readonly #undeclared = new Set<number>();
  /** Each peer's disk right after its first unsealing: of before the founding, except for the last one's. */
  readonly #earliest = new Map<number, OldDisk>();

  private constructor(
    folder: DevFolder,
    { peers: ports }: Cluster,
    {
      broken,
      tokens,
      operator,
      peers,
      wires,
      keySets,
      authority,
      isAlone,
    }: {
      readonly broken: ClusterOptions["broken"];
      readonly tokens: Tokens;
      readonly operator: string;
      readonly peers: ReadonlyArray<PeerUnderTest>;
      readonly wires: ReadonlyMap<string, Wire>;
      readonly keySets: KeySets;
      readonly authority: Authority | undefined;
      readonly isAlone: boolean;
    },
  ) {
    this.folder = folder;
    this.ca = authority?.certificate;
    const scheme = authority === undefined ? "http" : "https";
    this.#urls = ports.map(({ httpPort }) => `${scheme}://127.0.0.1:${httpPort}`);
    this.urls = this.#urls.slice(0, isAlone ? 1 : ports.length);
    this.ports = ports;
    this.tokens = tokens;
    this.#operator = operator;
    this.peers = peers;
    this.keySets = keySets;
    this.#wires = wires;
    this.#agent = agentFor(this.ca, { keepAlive: false });
    this.#disks = peers.map(({ slot }) => new OldDisks(join(folder.peer(slot).folder, "disks"), this.dataOf(slot)));
    this.backups = new Backups({
      folder: join(folder.root, "backups"),
      custody: (slot, ...words) => this.custody(slot, ...words),
      processes: (slot) => this.peer(slot).processes,
      broken,
    });
  }

  /** The data directory of a peer. */
  dataOf(slot: number): string {
    return join(this.folder.peer(slot).folder, "data");
  }

  /** Runs a command as the operator of one peer, who has an authority's certificate and a token. */
  custody(slot: number, ...words: ReadonlyArray<string>): Running {
    const ca = join(this.folder.root, "ca.pem");
    const isCall = (words[0] === "promote" || words[0] === "backup") && words[1] !== "verify" && this.ca !== undefined;
    if (isCall && this.ca !== undefined) writeFileSync(ca, this.ca, { mode: 0o600 });
    const running = new Running([entry, ...words, ...(isCall ? ["--tls-ca", ca] : [])], {
      env: { CUSTODY_URL: this.#urls[slot - 1] ?? "", CUSTODY_TOKEN: this.#operator },
    });
    keepInMind(running.child);
    return running;
  }

  /** Prepares a folder, starts every peer, or the first, and waits until it is ready. Rejects with {@link CannotStart}. */
  static async start({
    folder: path,
    peers: count,
    seed,
    isAlone,
    tls,
    isLeaking,
    planted,
    sessionMillis,
    note,
    broken,
  }: ClusterOptions): Promise<ChaosCluster> {
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
    const authority = tls ? makeAuthority() : undefined;
    const scheme = tls ? "https" : "http";
    const tokens = await Tokens.open(folder.issuer, cluster);
    const keySets = await KeySets.open(join(folder.issuer, "jwks.json"));
    for (const { id } of cluster.peers) settle(folder, id, { authority, keysUrl: keySets.url });
    const wires = await openWires(cluster, seed);
    const peers = cluster.peers.map(({ id }) => {
      const others = cluster.peers.filter((other) => other.id !== id);
      const reach = others.map(
        (other) => `${other.id}=${scheme}://127.0.0.1:${wires.get(`${id} ${other.id}`)?.port ?? 0}`,
      );
      return new PeerUnderTest({
        slot: id,
        entry,
        faultPort,
        isLeaking,
        planted,
        sessionMillis,
        folder,
        peers: reach.join(","),
        note,
        broken,
      });
    });
    const own = { broken, tokens, operator: Redacted.value(operator), peers, wires, keySets, authority, isAlone };
    const made = new ChaosCluster(folder, cluster, own);
    const members = isAlone ? cluster.peers.slice(0, 1) : cluster.peers;
    for (const { id } of members) made.peer(id).start();
    try {
      await made.#found(
        members.map(({ id }) => id),
        performance.now() + START_MILLIS,
      );
      return made;
    } catch (fault) {
      await made.kill();
      throw fault;
    }
  }

  /** From started processes to a ready cluster, with a copy of each disk between its unsealing and the founding. */
  async #found(ids: ReadonlyArray<number>, until: number): Promise<void> {
    const body = { threshold: thresholdOf(ids.length), total: ids.length };
    for (const id of ids) await this.#initialize(id, body, until);
    for (const id of ids) await this.#open(id);
    for (const id of ids) await this.#reaches(id, until, "ready", { unseal: true });
  }

  async #initialize(id: number, body: object, until: number): Promise<void> {
    await this.#reaches(id, until, "health", {});
    const { status, text } = await this.ask(id, "init", { peerId: id, ...body });
    if (status !== 200 && status !== 201) throw new CannotStart(`peer ${id} was not initialized: ${text}`);
    const { shares64 } = Schema.decodeSync(InitAnswer)(text);
    writeFileSync(this.folder.peer(id).shares, `${JSON.stringify({ peerId: id, shares: shares64 })}\n`, {
      mode: 0o600,
    });
  }

  async #open(id: number): Promise<void> {
    await this.unseal(id);
    this.#earliest.set(id, await this.oldDisk(id));
  }

  /** Starts all peers but the first, as targets of its promotion that callers know. Rejects with {@link CannotStart}. */
  async openTargets(): Promise<PromotionPlan> {
    const until = performance.now() + START_MILLIS;
    const identityKey = await this.#identityKey(SOURCE);
    const total = this.peers.length;
    const numbers = { threshold: thresholdOf(total), total };
    const targets = this.peers.map(({ slot }) => slot).filter((slot) => slot !== SOURCE);
    for (const slot of targets) {
      nameSource(this.folder, slot, { id: SOURCE, "identity-key": identityKey });
      this.peer(slot).start();
    }
    for (const slot of targets) {
      await this.#initialize(slot, { ...numbers, join: true }, until);
      await this.#open(slot);
    }
    this.urls.push(...this.#urls.slice(1));
    const scheme = this.ca === undefined ? "http" : "https";
    const named = targets.map(async (peerId) => ({
      peerId,
      url: `${scheme}://127.0.0.1:${this.wire(SOURCE, peerId).port}`,
      identityKey: await this.#identityKey(peerId),
    }));
    return { ...numbers, targets: await Promise.all(named) };
  }

  async #identityKey(slot: number): Promise<string> {
    const key = (await this.status(slot))?.detail?.identityKey;
    if (key === undefined) throw new CannotStart(`peer ${slot} does not show its identity key`);
    return key;
  }

  /** Waits until a peer answers 200. */
  async #reaches(slot: number, until: number, path: string, { unseal }: { readonly unseal?: boolean }): Promise<void> {
    for (;;) {
      const { status, text } = await this.ask(slot, path);
      if (status === 200) return;
      if (performance.now() > until || !this.peer(slot).isUp) {
        const words = this.peer(slot).lastWords(5).join("\n  ");
        throw new CannotStart(`peer ${slot} does not come to 200 for ${path}: ${text}\n  ${words}`);
      }
      if (unseal === true && (await this.status(slot))?.state === "SEALED") await this.unseal(slot);
      await new Promise((resolve) => void setTimeout(resolve, START_POLL_MILLIS));
    }
  }

  /** A copy of a peer's disk as it is now. */
  oldDisk(slot: number): Promise<OldDisk> {
    return this.#disksOf(slot).take();
  }

  /** Its disk right after its first unsealing. */
  earliest(slot: number): OldDisk {
    const disk = this.#earliest.get(slot);
    if (disk === undefined) throw new RangeError(`there is no old disk of peer ${slot}`);
    return disk;
  }

  /** Gives a peer that has ended an older disk: its operator will declare that, or the peer will find it out. */
  putBack(slot: number, disk: OldDisk, how: "declared" | "found out"): void {
    this.peer(slot).putBack(this.#disksOf(slot).putBack(disk), disk.transactions, how);
    if (how === "declared") this.#undeclared.add(slot);
  }

  /** Declares a peer's disk old, and unseals it; tells whether it took note. Unsealed first, it would be forgetful. */
  async declare(slot: number): Promise<boolean> {
    const { status } = await this.ask(slot, "restore", {});
    if (status !== 200) return false;
    this.#undeclared.delete(slot);
    await this.unseal(slot);
    return true;
  }

  /** Whether its operator has still to declare that its disk is an old one. */
  isUndeclared(slot: number): boolean {
    return this.#undeclared.has(slot);
  }

  /** Starts a peer without the shares by which a development peer unseals itself, and waits until it answers. */
  async startSealed(slot: number): Promise<void> {
    const { shares } = this.folder.peer(slot);
    const aside = `${shares}.aside`;
    renameSync(shares, aside);
    try {
      this.peer(slot).start();
      await this.#reaches(slot, performance.now() + START_MILLIS, "health", {});
    } finally {
      renameSync(aside, shares);
    }
  }

  /** The address at which strangers find a peer. */
  async target(slot: number, port: "httpPort" | "peerPort"): Promise<Target> {
    const isPublic = port === "httpPort";
    return {
      port: this.ports[slot - 1]?.[port] ?? 0,
      ca: this.ca,
      readPath: isPublic ? "/v2/custody/config" : "/metrics",
      bodyPath: isPublic ? FINISH_PATH : MESSAGES_PATH,
      bodyType: isPublic ? "application/json" : MESSAGE_TYPE,
      token: await this.tokens.of("forbidden", "stranger"),
    };
  }

  #disksOf(slot: number): OldDisks {
    const disks = this.#disks[slot - 1];
    if (disks === undefined) throw new RangeError(`there is no peer ${slot}`);
    return disks;
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

  /** Every wire that ends at this peer. */
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
    return call(this.#agent, this.#urls[slot - 1] ?? "", `/v1/custody/system/${path}`, {
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

  /** What no stored byte, answer or log line may hold: the mark of tokens, the unseal shares, the founding secret. */
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
    await this.keySets.close();
  }
}
