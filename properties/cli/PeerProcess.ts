/** `custody server` as a process of its own: a cluster of one in a folder, with a token for its operator. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Schema } from "effect";
import { openIssuer } from "../Issuer.ts";
import { program } from "./CustodyProcess.ts";
import { Running } from "./Running.ts";

const Line = Schema.parseJson(
  Schema.Struct({ level: Schema.String, event: Schema.String }, { key: Schema.String, value: Schema.Unknown }),
);
type Line = typeof Line.Type;

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
    const mint = await openIssuer(directory);
    this.token = await mint(["service.*.*"]);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export class ServerProcess extends Running {
  constructor({ folder, config }: PeerFolder, env: Readonly<Record<string, string>> = {}) {
    super([program, "server", "--config", config], { cwd: folder, env });
  }

  get lines(): ReadonlyArray<Line> {
    return this.stderr
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line) => Schema.decodeUnknownSync(Line)(line));
  }

  /** Resolves with the first line of the log that fits. */
  said(fits: (line: Line) => boolean): Promise<Line> {
    return this.until(() => this.lines.find(fits));
  }

  /** Where it listens, once it does. */
  async url(): Promise<string> {
    return String((await this.said(({ event }) => event === "listening"))["url"]);
  }
}
