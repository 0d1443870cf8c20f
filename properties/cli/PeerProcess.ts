/** `custody server` as a process of its own: a cluster of one in a folder, with a token for its operator. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Effect, Schema } from "effect";
import { openDevelopmentIssuer } from "../../server/auth/DevelopmentIssuer.ts";
import { bundleCommand } from "../../server/bin/bundle.mjs";

const program = bundleCommand();

const Line = Schema.parseJson(
  Schema.Struct({ level: Schema.String, event: Schema.String }, { key: Schema.String, value: Schema.Unknown }),
);
type Line = typeof Line.Type;

const environment = (more: Readonly<Record<string, string>>): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("CUSTODY_"))),
  ...more,
});

/** A folder with the configuration and the token keys of one peer. */
export class PeerFolder {
  readonly folder = mkdtempSync(join(tmpdir(), "custody-process-"));
  readonly config = join(this.folder, "peer.yaml");
  token = "";

  static async make(): Promise<PeerFolder> {
    const made = new PeerFolder();
    await made.newIssuer();
    made.configure("info");
    return made;
  }

  configure(logLevel: string, ...more: ReadonlyArray<string>): void {
    const lines = [
      `peer: {data-dir: data, log-level: ${logLevel}}`,
      "http: {port: 0}",
      "peer-http: {port: 0}",
      "auth: {audience: custody, jwks: {file: issuer/jwks.json}}",
      "seal: {shares: 2, threshold: 2}",
      ...more,
    ];
    writeFileSync(this.config, `${lines.join("\n")}\n`);
  }

  /** Makes new token keys, and a token of theirs. */
  async newIssuer(): Promise<void> {
    const directory = join(this.folder, "issuer");
    rmSync(directory, { recursive: true, force: true });
    const issuer = await Effect.runPromise(openDevelopmentIssuer(directory));
    const claims = { subject: "operator", permissions: ["service.*.*"], ttlMillis: 3_600_000, now: Date.now() };
    this.token = await Effect.runPromise(issuer.mint({ ...claims, audience: "custody", issuer: undefined }));
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export class ServerProcess {
  readonly child: ChildProcess;
  #text = "";

  constructor({ folder, config }: PeerFolder, env: Readonly<Record<string, string>> = {}) {
    this.child = spawn(process.execPath, [program, "server", "--config", config], {
      cwd: folder,
      env: environment(env),
      stdio: ["ignore", "ignore", "pipe"],
    });
    this.child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
      this.#text += chunk;
    });
  }

  /** Everything it has written to standard error. */
  get text(): string {
    return this.#text;
  }

  get lines(): ReadonlyArray<Line> {
    return this.#text
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line) => Schema.decodeUnknownSync(Line)(line));
  }

  /** Resolves with the first line of the log that fits. */
  async said(fits: (line: Line) => boolean): Promise<Line> {
    for (;;) {
      const found = this.lines.find(fits);
      if (found !== undefined) return found;
      if (this.child.exitCode !== null || this.child.signalCode !== null) throw new Error(`it ended: ${this.#text}`);
      const { stderr } = this.child;
      if (stderr !== null) await Promise.race([once(stderr, "data"), once(this.child, "exit")]);
    }
  }

  /** Where it listens, once it does. */
  async url(): Promise<string> {
    return String((await this.said(({ event }) => event === "listening"))["url"]);
  }

  signal(name: NodeJS.Signals): void {
    this.child.kill(name);
  }

  /** Resolves with its exit code, or the signal that killed it. */
  async ended(): Promise<number | string | null> {
    if (this.child.exitCode === null && this.child.signalCode === null) await once(this.child, "exit");
    return this.child.exitCode ?? this.child.signalCode;
  }

  async kill(): Promise<void> {
    this.child.kill("SIGKILL");
    await this.ended();
  }
}
