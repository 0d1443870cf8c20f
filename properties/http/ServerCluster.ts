/** Real peers inside the test's process: SQLite in a temporary folder, HTTP on free loopback ports. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Effect, Exit, Scope } from "effect";
import { vi } from "vitest";
import { type RunningServer, startServer } from "../../server/peer/Server.ts";
import { openClient } from "../../server/sqlite/Database.ts";
import { databaseFile } from "../../server/sqlite/StoreDirectory.ts";
import { freePort } from "../drill/FreePorts.ts";
import { type Mint, openIssuer } from "../Issuer.ts";
import { undescribed } from "./Described.ts";

export { freshKey64, registration } from "../Registration.ts";

export const allPermissions: ReadonlyArray<string> = [
  "service.approvers.register",
  "service.approvers.read",
  "service.approvers.metadata",
  "service.system.*",
  "service.control.system",
];

export const bootstrapSecret = "a secret of this test alone, 32+ ".replaceAll(" ", "-").padEnd(40, "x");

type Extra = string | ((httpPorts: ReadonlyArray<number>) => string);

interface Member {
  readonly id: number;
  readonly peerPort: number;
  readonly configFile: string;
  readonly dataDir: string;
  shares: ReadonlyArray<string>;
  server: RunningServer | undefined;
  scope: Scope.CloseableScope | undefined;
}

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: { readonly [name: string]: unknown };
}

/** Asks, and fails for an answer that the API's description has not. */
const asked = async (url: string, target: string, init: RequestInit): Promise<Answered> => {
  const response = await fetch(`${url}${target}`, init);
  const { status, headers } = response;
  const text = await response.text();
  const wrong = undescribed({ method: init.method ?? "GET", target, status, headers, text });
  if (wrong.length > 0) throw new Error(`${target} answers what is not described: ${wrong.join("; ")}`);
  const parsed: unknown = text === "" ? {} : JSON.parse(text);
  const json = typeof parsed === "object" && parsed !== null ? Object.fromEntries(Object.entries(parsed)) : {};
  return { status: response.status, headers: response.headers, text, json };
};

export class ServerCluster {
  readonly folder: string;
  /** Makes tokens. */
  readonly mint: Mint;
  readonly logs: Array<string> = [];
  readonly halted: Array<number> = [];
  readonly #members = new Map<number, Member>();
  readonly #extra: string;
  readonly #httpPorts: ReadonlyArray<number>;
  readonly #scheme: "http" | "https";
  token = "";

  private constructor(folder: string, mint: Mint, extra: string, httpPorts: ReadonlyArray<number>) {
    this.folder = folder;
    this.mint = mint;
    this.#extra = extra;
    this.#httpPorts = httpPorts;
    this.#scheme = extra.includes("tls:") ? "https" : "http";
  }

  /**
   * Starts peers that are not initialized yet. `extra` is more YAML for each configuration, made from the public ports
   * where it has to name them, or `tls: {…}` for the peer APIs.
   */
  static async start(total: number, extra: Extra = ""): Promise<ServerCluster> {
    const httpPorts = typeof extra === "string" ? [] : await Promise.all(Array.from({ length: total }, freePort));
    const folder = mkdtempSync(join(tmpdir(), "custody-http-"));
    const mint = await openIssuer(join(folder, "issuer"));
    const cluster = new ServerCluster(folder, mint, typeof extra === "string" ? extra : extra(httpPorts), httpPorts);
    cluster.token = await cluster.mint(allPermissions);
    const ports = await Promise.all(Array.from({ length: total }, freePort));
    ports.forEach((peerPort, index) => cluster.#configure(index + 1, peerPort, ports));
    for (const id of cluster.#members.keys()) await cluster.run(id);
    return cluster;
  }

  /** Starts, initializes and unseals all peers, and waits until mutations are accepted. */
  static async found(total: number, extra: Extra = ""): Promise<ServerCluster> {
    const cluster = await ServerCluster.start(total, extra);
    for (const id of cluster.ids) await cluster.initialize(id);
    for (const id of cluster.ids) await cluster.unseal(id);
    for (const id of cluster.ids) await cluster.ready(id);
    return cluster;
  }

  get ids(): ReadonlyArray<number> {
    return [...this.#members.keys()];
  }

  member(id: number): Member {
    const member = this.#members.get(id);
    if (member === undefined) throw new Error(`there is no peer ${id}`);
    return member;
  }

  server(id: number): RunningServer {
    const { server } = this.member(id);
    if (server === undefined) throw new Error(`peer ${id} does not run`);
    return server;
  }

  #configure(id: number, peerPort: number, ports: ReadonlyArray<number>): void {
    const folder = join(this.folder, `peer-${id}`);
    mkdirSync(folder);
    const others = ports.flatMap((port, index) =>
      index + 1 === id ? [] : [`    - {id: ${index + 1}, url: "${this.#scheme}://127.0.0.1:${port}"}`],
    );
    const lines = [
      "peer: {data-dir: data, log-level: debug}",
      `http: {port: ${this.#httpPorts[id - 1] ?? 0}}`,
      `peer-http: {port: ${peerPort}${this.#scheme === "https" ? `, ${this.#extra}` : ""}}`,
      ...(others.length === 0 ? [] : ["cluster:", "  peers:", ...others]),
      `auth: {audience: custody, jwks: {file: ../issuer/jwks.json}}`,
      "seal: {shares: 3, threshold: 2}",
      ...(this.#scheme === "https" ? [] : [this.#extra]),
    ];
    const configFile = join(folder, "config.yaml");
    writeFileSync(configFile, `${lines.join("\n")}\n`);
    this.#members.set(id, {
      id,
      peerPort,
      configFile,
      dataDir: join(folder, "data"),
      shares: [],
      server: undefined,
      scope: undefined,
    });
  }

  /** Starts one peer; the bootstrap secret is there until it is founded. */
  async run(id: number, env: Readonly<Record<string, string>> = {}, devSecretsDir?: string): Promise<void> {
    const member = this.member(id);
    const founded = member.shares.length > 0;
    const secret = founded || this.#members.size === 1 ? {} : { CUSTODY_BOOTSTRAP_SECRET: bootstrapSecret };
    const scope = await Effect.runPromise(Scope.make());
    const host = { writeLog: (line: string) => void this.logs.push(line), halt: () => void this.halted.push(id) };
    const starting = startServer({ configFile: member.configFile, devSecretsDir, env: { ...secret, ...env } }, host);
    const started = await Effect.runPromiseExit(Scope.extend(starting, scope));
    if (Exit.isFailure(started)) {
      await Effect.runPromise(Scope.close(scope, Exit.void));
      throw new Error(String(started.cause));
    }
    member.server = started.value;
    member.scope = scope;
  }

  /** Changes a peer's database without its knowledge. */
  tamper(id: number, sql: string, parameters: ReadonlyArray<string> = []): Promise<void> {
    return Effect.gen(this, function* () {
      const client = yield* openClient(databaseFile(this.member(id).dataDir), "write");
      const connection = yield* client.reserve;
      yield* connection.execute(sql, parameters, undefined);
    }).pipe(Effect.scoped, Effect.runPromise);
  }

  async stop(id: number): Promise<void> {
    const member = this.member(id);
    const { scope } = member;
    member.server = undefined;
    member.scope = undefined;
    if (scope !== undefined) await Effect.runPromise(Scope.close(scope, Exit.void));
  }

  async close(): Promise<void> {
    await Promise.all(this.ids.map((id) => this.stop(id)));
    rmSync(this.folder, { recursive: true, force: true });
  }

  get(id: number, path: string, headers: Readonly<Record<string, string>> = {}): Promise<Answered> {
    return asked(this.server(id).url, path, { headers: { "x-jwt-token": this.token, ...headers } });
  }

  post(id: number, path: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Answered> {
    return this.send("POST", id, path, body, headers);
  }

  send(
    method: "POST" | "PUT",
    id: number,
    path: string,
    body: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answered> {
    return asked(this.server(id).url, path, {
      method,
      headers: { "x-jwt-token": this.token, "content-type": "application/json", ...headers },
      body: typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body),
    });
  }

  register(id: number, body: unknown): Promise<Answered> {
    return this.post(id, "/v1/custody/approvers", body);
  }

  read(id: number, ref: string): Promise<Answered> {
    return this.get(id, `/v1/custody/approvers/${encodeURIComponent(ref)}`);
  }

  /** Replaces metadata; without `ifMatch` the header is missing. */
  replace(id: number, ref: string, ifMatch: string | undefined, body: unknown): Promise<Answered> {
    const path = `/v1/custody/approvers/${encodeURIComponent(ref)}/metadata`;
    return this.send("PUT", id, path, body, ifMatch === undefined ? {} : { "if-match": ifMatch });
  }

  async initialize(id: number, threshold = this.#members.size === 1 ? 1 : 2): Promise<Answered> {
    const total = this.#members.size;
    const answered = await this.post(id, "/v1/custody/system/init", { peerId: id, threshold, total });
    const { shares64 } = answered.json;
    if (!Array.isArray(shares64)) throw new Error(`init of peer ${id}: ${answered.text}`);
    this.member(id).shares = shares64.map(String);
    return answered;
  }

  async unseal(id: number): Promise<Answered> {
    const [first, second] = this.member(id).shares;
    await this.post(id, "/v1/custody/system/unseal", { share64: first });
    return this.post(id, "/v1/custody/system/unseal", { share64: second });
  }

  /** Waits until a peer would accept mutations. */
  ready(id: number): Promise<void> {
    return this.#readiness(id, 200);
  }

  /** Waits until a peer would not; until then its last probe, up to a second old, still counts. */
  unready(id: number): Promise<void> {
    return this.#readiness(id, 503);
  }

  async #readiness(id: number, wanted: number): Promise<void> {
    await vi.waitFor(
      async () => {
        const { status, text } = await this.get(id, "/v1/custody/system/ready");
        if (status !== wanted) throw new Error(text);
      },
      { timeout: 20_000, interval: 20 },
    );
  }
}
