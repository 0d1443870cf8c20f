/** Three peers as docs/operations.md sets them up: one folder for each machine, TLS on both ports, no development mode. */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import type { Agent } from "node:http";
import { join } from "node:path";
import { Effect } from "effect";
import { parse, stringify } from "yaml";
import { decode } from "../../core/codec/CborReader.ts";
import { SELF } from "../../core/protocol/Tables.ts";
import { rowCodec } from "../../core/Tables.ts";
import { freePorts } from "../../server/dev/Ports.ts";
import { boundedCall } from "../../server/net/BoundedCall.ts";
import { readTables } from "../chaos/FinalStore.ts";
import { agentFor, type Answered, call } from "../chaos/HttpCall.ts";
import { openIssuer } from "../Issuer.ts";
import type { Installed } from "./Package.ts";
import { Failed, must, mustRun, Program, run, until } from "./Programs.ts";

const TOTAL = 3;
const HOST = "127.0.0.1";
const SECRET = { mode: 0o600 };

const permissions = [
  "service.system.*",
  "service.control.system",
  "service.approvers.*",
  "service.audit.read",
  "service.dkg.*",
  "service.recover",
  "service.key.*.*",
];

interface Machine {
  readonly id: number;
  readonly folder: string;
  readonly config: string;
  readonly dataDir: string;
  readonly url: string;
  readonly peerUrl: string;
  /** Of what it runs or has run last. */
  process: Program | undefined;
  shares: ReadonlyArray<string>;
}

interface Detail {
  readonly incarnation: number;
  readonly approvers: number;
  readonly outbox: number;
  readonly uncommitted: number;
  readonly locks: number;
  readonly version: string;
  readonly members: ReadonlyArray<{
    readonly peerId: number;
    readonly reason?: string;
    readonly versions: { readonly lowest: number; readonly highest: number } | null;
  }>;
}

export class Machines {
  readonly folder: string;
  readonly token: string;
  /** The authority of the peers' certificates, in PEM. */
  readonly ca: string;
  readonly agent: Agent;
  readonly #machines: ReadonlyArray<Machine>;

  private constructor(folder: string, token: string, machines: ReadonlyArray<Machine>) {
    this.folder = folder;
    this.token = token;
    this.ca = readFileSync(join(folder, "tls/ca.pem"), "utf8");
    this.agent = agentFor(this.ca, { keepAlive: true });
    this.#machines = machines;
  }

  /** Writes what every machine needs. `more` is set in each configuration. */
  static async prepare(folder: string, package_: string, more: object = {}): Promise<Machines> {
    mkdirSync(folder, { recursive: true });
    await mustRun(["sh", join(package_, "deploy/make-tls.sh"), "tls", HOST], { cwd: folder });
    const issuer = join(folder, "issuer");
    const token = await (await openIssuer(issuer))(permissions);
    const ports = await Effect.runPromise(freePorts(2 * TOTAL));
    const httpPort = (id: number): number => ports[id - 1] ?? 0;
    const peerPort = (id: number): number => ports[TOTAL + id - 1] ?? 0;
    const peerUrl = (id: number): string => `https://${HOST}:${peerPort(id)}`;
    const secret = await mustRun(["openssl", "rand", "-base64", "48"], { cwd: folder });
    const ids = Array.from({ length: TOTAL }, (_, index) => index + 1);
    const machines = ids.map((id): Machine => {
      const own = join(folder, `machine-${id}`);
      mkdirSync(join(own, "tls"), { recursive: true });
      for (const end of ["pem", "key"]) copyFileSync(join(folder, `tls/${HOST}.${end}`), join(own, `tls/peer.${end}`));
      copyFileSync(join(folder, "tls/ca.pem"), join(own, "tls/ca.pem"));
      copyFileSync(join(issuer, "jwks.json"), join(own, "jwks.json"));
      writeFileSync(join(own, "bootstrap.secret"), secret, SECRET);
      const settings = parse(readFileSync(join(package_, "docs/config.minimal.yaml"), "utf8"));
      Object.assign(settings, more);
      settings.peer.id = id;
      Object.assign(settings.http, { host: HOST, port: httpPort(id) });
      Object.assign(settings["peer-http"], { host: HOST, port: peerPort(id) });
      settings.cluster.peers = ids.flatMap((other) => (other === id ? [] : [{ id: other, url: peerUrl(other) }]));
      const config = join(own, "peer.yaml");
      writeFileSync(config, stringify(settings), SECRET);
      const url = `https://${HOST}:${httpPort(id)}`;
      const dataDir = join(own, "data");
      return { id, folder: own, config, dataDir, url, peerUrl: peerUrl(id), process: undefined, shares: [] };
    });
    return new Machines(folder, token, machines);
  }

  get ids(): ReadonlyArray<number> {
    return this.#machines.map(({ id }) => id);
  }

  of(id: number): Machine {
    const machine = this.#machines.find((each) => each.id === id);
    if (machine === undefined) throw new Failed(`there is no machine ${id}`);
    return machine;
  }

  /** What its process has printed since its last start. */
  saidBy(id: number): string {
    return this.of(id).process?.text ?? "";
  }

  /** Writes a secret file of the same content on every machine. */
  share(name: string, content: Uint8Array): void {
    for (const { folder } of this.#machines) writeFileSync(join(folder, name), content, SECRET);
  }

  /** Starts a peer from an installation, and waits until it serves. */
  async start(id: number, { program }: Pick<Installed, "program">): Promise<void> {
    const machine = this.of(id);
    const words = [process.execPath, program, "server", "--config", machine.config];
    const started = new Program(words, { cwd: machine.folder, log: join(machine.folder, "peer.log") });
    machine.process = started;
    await until(`peer ${id} serves`, async () => {
      must(!started.isOver, `peer ${id} did not start: ${started.lastWords}`);
      return (await this.ask(id, "system/health")).status === 200;
    });
  }

  /** A start that must not come off: returns what the peer said, and its exit code. */
  async refusesToStart(id: number, { program }: Pick<Installed, "program">) {
    const { folder, config } = this.of(id);
    return run([process.execPath, program, "server", "--config", config], { cwd: folder });
  }

  /** Ends a peer by SIGTERM. It must end with 0. */
  async stop(id: number): Promise<void> {
    const { process: running } = this.of(id);
    if (running === undefined || running.isOver) return;
    running.signal("SIGTERM");
    const { code } = await running.ended();
    must(code === 0, `peer ${id} ended with ${code} at SIGTERM: ${running.lastWords}`);
  }

  async stopAll(): Promise<void> {
    await Promise.all(this.ids.map((id) => this.stop(id)));
    this.agent.destroy();
  }

  ask(id: number, path: string, body?: object, method?: string): Promise<Answered> {
    return call(this.agent, this.of(id).url, `/v1/custody/${path}`, {
      token: this.token,
      body: body && Buffer.from(JSON.stringify(body)),
      ...(method !== undefined && { method }),
    });
  }

  async initialize(id: number): Promise<void> {
    const { status, text } = await this.ask(id, "system/init", { peerId: id, threshold: 2, total: TOTAL });
    must(status === 200 || status === 201, `peer ${id} was not initialized: ${text}`);
    this.of(id).shares = JSON.parse(text).shares64;
  }

  async unseal(id: number): Promise<void> {
    for (const share64 of this.of(id).shares) {
      const { status, text } = await this.ask(id, "system/unseal", { share64 });
      must(status === 200, `peer ${id} took no share: ${status} ${text}`);
      if (JSON.parse(text).state === "UNSEALED") return;
    }
    throw new Failed(`peer ${id} is sealed after all of its shares`);
  }

  /** What becomes of a call to the peer API with the certificate of a machine, or with none. */
  callPeerApi(id: number, certificateOf: number | undefined) {
    const own = certificateOf === undefined ? undefined : join(this.of(certificateOf).folder, "tls/peer");
    const shown = own === undefined ? {} : { cert: readFileSync(`${own}.pem`), key: readFileSync(`${own}.key`) };
    return boundedCall({
      url: `${this.of(id).peerUrl}/peer/v1/nothing`,
      method: "GET",
      tls: { ca: Buffer.from(this.ca), ...shown },
      timeoutMillis: 10_000,
      mostBytes: () => 0,
    });
  }

  async ready(...ids: ReadonlyArray<number>): Promise<void> {
    for (const id of ids)
      await until(`peer ${id} is ready`, async () => (await this.ask(id, "system/ready")).status === 200);
  }

  /** Starts, initializes and unseals all, and waits for the founding. */
  async found(by: Pick<Installed, "program">): Promise<void> {
    await Promise.all(this.ids.map((id) => this.start(id, by)));
    for (const id of this.ids) await this.initialize(id);
    for (const id of this.ids) await this.unseal(id);
    await this.ready(...this.ids);
  }

  async detail(id: number): Promise<Detail> {
    const { status, text } = await this.ask(id, "system/status");
    must(status === 200, `peer ${id} tells no status: ${status} ${text}`);
    return JSON.parse(text).detail;
  }

  /** Waits until nothing is undecided anywhere. */
  async settled(): Promise<void> {
    for (const id of this.ids)
      await until(`peer ${id} settles`, async () => {
        const { outbox, uncommitted, locks } = await this.detail(id);
        return outbox + uncommitted + locks === 0;
      });
  }

  /**
   * The stored rows of peers that have ended: with how many approvers, and under which root.
   *
   * @param newest the newest version that may be found in them
   */
  async ends(newest: number) {
    return Promise.all(
      this.#machines.map(async ({ dataDir, id }) => {
        const tables = await Effect.runPromise(readTables(dataDir));
        const counters = tables.get("counters")?.get(SELF);
        const read = counters && decode(rowCodec("counters"), counters.row, newest);
        if (read === undefined || read._tag === "Left") throw new Failed(`peer ${id} has no counters that can be read`);
        const { approvers, registrySet } = read.right;
        return { tables, approvers, root: Buffer.from(registrySet).toString("hex") };
      }),
    );
  }
}
