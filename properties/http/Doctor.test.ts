/** `custody doctor` on real peers, and on what is wrong with them. */
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { nodeFinding, OLDEST_NODE } from "../../server/doctor/Machine.ts";
import { runInProcess } from "../cli/InProcess.ts";
import { freePort } from "../drill/FreePorts.ts";
import { ServerCluster } from "./ServerCluster.ts";

let cluster: ServerCluster;
beforeAll(async () => {
  cluster = await ServerCluster.found(3, (ports) => `limits: {connections: ${32 + ports.length}}`);
});
afterAll(() => cluster.close());

const doctor = (...args: ReadonlyArray<string>) => runInProcess(["doctor", ...args], { CUSTODY_TOKEN: cluster.token });
const all = (): ReadonlyArray<string> => cluster.ids.flatMap((id) => ["--service", cluster.server(id).url]);

interface Report {
  readonly ok: boolean;
  readonly checks: ReadonlyArray<{ readonly check: string; readonly level: string; readonly message: string }>;
}
const parsed = (text: string): Report => JSON.parse(text);

const listenOn = (port: number): Promise<Server> =>
  new Promise((resolve) => {
    const server = createServer((socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"));
    server.listen(port, "127.0.0.1", () => resolve(server));
  });

/** A peer's file with other ports, in its folder. */
const configWith = (change: (text: string) => string): string => {
  const { configFile, peerPort } = cluster.member(1);
  const text = [
    "peer: {data-dir: other}",
    "http: {port: 0}",
    "peer-http: {port: 0}",
    `cluster: {peers: [{id: 2, url: "http://127.0.0.1:${peerPort}"}], bootstrap-secret: {file: secret}}`,
    "auth: {audience: custody, jwks: {file: ../issuer/jwks.json}}",
    "",
  ].join("\n");
  const folder = join(configFile, "..");
  writeFileSync(join(folder, "secret"), "x".repeat(40), { mode: 0o600 });
  const file = join(folder, "changed.yaml");
  writeFileSync(file, change(text));
  return file;
};

describe("custody doctor", () => {
  it("finds a running peer and its cluster well", async () => {
    const { code, stdout } = await doctor("--config", cluster.member(1).configFile, ...all(), "--json");
    const { ok, checks } = parsed(stdout);
    expect(checks.filter(({ level }) => level === "fail")).toEqual([]);
    expect([code, ok]).toEqual([0, true]);
    const of = (check: string) => checks.find((each) => each.check === check);
    expect(of("configuration")?.message).toMatch(/config\.yaml, shared part [0-9a-f]{64}$/);
    expect(of("http.port")?.message).toContain("a peer listens there already");
    expect(of("peer-http.port")?.message).toContain("a peer listens there already");
    for (const check of ["node", "open files", "space", "flush", "token keys", "way to peer 2", "clock of peer 3"])
      expect([check, of(check)?.level]).toEqual([check, expect.stringMatching(/^(ok|warn)$/)]);
    expect(of("shared configuration")?.level).toBe("ok");
    expect(of("peer 3")).toEqual({ check: "peer 3", level: "ok", message: "ready" });
  });

  it("says in a line each what is wrong with a machine, and ends with 1", async () => {
    const [taken, silent] = [await freePort(), await freePort()];
    const other = await listenOn(taken);
    const file = configWith((text) =>
      text
        .replace("http: {port: 0}", `http: {port: ${taken}}`)
        .replace(/url: "[^"]*"/, `url: "http://127.0.0.1:${silent}"`),
    );
    const { code, stdout, stderr } = await doctor("--config", file);
    other.close();
    expect(code).toBe(1);
    expect(stderr).toMatch(/^custody: 1 of \d+ checks failed/);
    expect(stdout).toMatch(new RegExp(`^fail {2}http\\.port: ${taken} is in use by another program; stop that`, "m"));
    expect(stdout).toMatch(/^ok {4}peer-http\.port: 0: any free port/m);
    expect(stdout).toMatch(/^warn {2}way to peer 2: \S+: nothing listens there; start it/m);
  });

  it("finds that an address is no peer's, and that a file differs from what peers share", async () => {
    const stranger = await listenOn(await freePort());
    const address = stranger.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const file = configWith((text) =>
      text.replace(/url: "[^"]*"/, `url: "http://127.0.0.1:${port}"`).replace("audience: custody", "audience: other"),
    );
    const { code, stdout } = await doctor("--config", file, ...all());
    stranger.close();
    expect(code).toBe(1);
    expect(stdout).toMatch(/^fail {2}way to peer 2: \S+ is not the peer API of this program/m);
    expect(stdout).toMatch(
      /^fail {2}shared configuration: differs: [0-9a-f]{64} at this file; [0-9a-f]{64} at peer 1, /m,
    );
  });

  it("tells every problem of a configuration, and looks no further", async () => {
    const file = configWith((text) => text.replace("jwks.json", "nowhere.json").replace("file: secret", "file: no"));
    const { code, stdout } = await doctor("--config", file);
    expect(code).toBe(1);
    expect(stdout.match(/^fail {2}configuration: /gm)).toHaveLength(2);
    expect(stdout).not.toContain("http.port");
  });

  it("fails where token keys cannot be had", async () => {
    const url = `http://127.0.0.1:${await freePort()}/jwks`;
    const file = configWith((text) => text.replace("file: ../issuer/jwks.json", `url: "${url}"`));
    const { code, stdout } = await doctor("--config", file);
    expect(code).toBe(1);
    expect(stdout).toContain(`fail  token keys: ${url} cannot be reached (ECONNREFUSED); check the address`);
  });

  it("is refused as wrong usage where there is nothing to look at", async () => {
    const { code, stdout, stderr } = await doctor();
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain("give --config FILE");
  });

  it("knows the oldest Node that the package supports", () => {
    const { engines }: { readonly engines: { readonly node: string } } = JSON.parse(
      readFileSync("package.json", "utf8"),
    );
    expect(engines.node).toBe(`>=${OLDEST_NODE}`);
  });

  it.each([
    { version: "20.18.9", level: "fail" },
    { version: "18.99.0", level: "fail" },
    { version: OLDEST_NODE, level: "ok" },
    { version: "24.0.0", level: "ok" },
  ])("judges Node $version as $level", ({ version, level }) => {
    expect(nodeFinding(version).level).toBe(level);
  });
});
