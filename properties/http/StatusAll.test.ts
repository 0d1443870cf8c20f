/** `custody status --all` against real peers, and against what is none. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { fakeService, jsonReply } from "../cli/FakeService.ts";
import { runInProcess } from "../cli/InProcess.ts";
import { freePort } from "../drill/FreePorts.ts";
import { registration, ServerCluster } from "./ServerCluster.ts";

let cluster: ServerCluster;
beforeAll(async () => {
  cluster = await ServerCluster.found(3);
  await cluster.register(2, registration("alice"));
  // Its caller is answered before every member knows that all have it.
  for (const id of cluster.ids)
    await vi.waitFor(async () => {
      const { json } = await cluster.get(id, "/v1/custody/system/status");
      expect(json["detail"]).toMatchObject({ uncommitted: 0, locks: 0, outbox: 0 });
    }, 20_000);
});
afterAll(() => cluster.close());

const services = (...urls: ReadonlyArray<string>): ReadonlyArray<string> => urls.flatMap((url) => ["--service", url]);
const all = (): ReadonlyArray<string> => services(...cluster.ids.map((id) => cluster.server(id).url));

const status = (args: ReadonlyArray<string>, token: string | undefined = cluster.token) =>
  runInProcess(["status", ...args], token === undefined ? {} : { CUSTODY_TOKEN: token });

interface Shown {
  readonly ready: boolean;
  readonly peers: ReadonlyArray<Readonly<Record<string, unknown>>>;
}
const parsed = (text: string): Shown => JSON.parse(text);

describe("custody status --all", () => {
  it("shows every peer in a row, and ends with 0 when all are ready", async () => {
    const { code, stdout, stderr } = await status(["--all", ...all()]);
    expect([code, stderr]).toEqual([0, ""]);
    const [heading, ...rows] = stdout.trimEnd().split("\n");
    expect(heading).toMatch(/^PEER +URL +STATE +READY +UNDECIDED +LOCKS +OUTBOX +EPOCH +INCARNATION +CLOCK +FLUSH$/);
    expect(rows).toHaveLength(6);
    expect(rows[3]).toMatch(/^peer 1 warns: CUSTODY_BOOTSTRAP_SECRET: this cluster is founded/);
    rows
      .slice(0, 3)
      .forEach((row, index) =>
        expect(row).toMatch(
          new RegExp(
            `^${index + 1} +http://127\\.0\\.0\\.1:\\d+ +UNSEALED +yes +0 +0 +0 +1 +1 +[+-]?\\d+ ms +[\\d.]+ ms$`,
          ),
        ),
      );
  });

  it("gives the same as JSON, with versions and the digest that is the same everywhere", async () => {
    const { code, stdout } = await status(["--all", ...all(), "--json"]);
    const { ready, peers } = parsed(stdout);
    expect([code, ready]).toEqual([0, true]);
    expect(peers.map(({ peerId }) => peerId)).toEqual([1, 2, 3]);
    expect(new Set(peers.map(({ configDigest }) => configDigest)).size).toBe(1);
    for (const peer of peers) {
      expect(peer["version"]).toMatch(/^\d+\.\d+\.\d+/);
      expect(Math.abs(Number(peer["clockMillis"]))).toBeLessThan(1_000);
      expect(peer).toMatchObject({ reason: null, undecided: 0, locks: 0, outbox: 0 });
    }
  });

  it("says what it may without the permission for more", async () => {
    const reader = await cluster.mint(["service.approvers.read"]);
    const { code, stdout } = await status(["--all", ...all()], reader);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^- +http:\S+ +UNSEALED +yes +- +-/m);
    expect(stdout).toContain("the token lacks service.control.system");
  });

  it("goes on where a peer is out of reach, is none, or is sealed, and ends with 1", async () => {
    const none = `http://127.0.0.1:${await freePort()}`;
    const other = await fakeService(() => jsonReply(200, { hello: "\u001b[2J" }));
    const refusing = await fakeService(() => jsonReply(503, { status: 503, code: "VERIFYING", detail: "Wait\u0007." }));
    const reached = all();
    await cluster.stop(3);
    await cluster.unready(1);
    try {
      const args = ["--all", ...reached, ...services(none, other.url, refusing.url)];
      const { code, stdout, stderr } = await status(args);
      expect(code).toBe(1);
      expect(stderr).toMatch(/^custody: 6 of 6 peers are not ready/);
      const lines = stdout.split("\n");
      expect(lines.slice(1, 7).map((line) => line.split(/ +/)[3])).toEqual(Array.from({ length: 6 }, () => "no"));
      expect(stdout).toContain("peer 1 is not ready: peer 3: it does not answer\n  next: start it; where it runs,");
      expect(stdout).toContain(`${none} is not ready: could not reach the service at ${none}: nothing listens there`);
      expect(stdout).toContain(`${other.url} is not ready: it answered in a form`);
      expect(stdout).toContain(`${refusing.url} is not ready: VERIFYING: Wait\u{fffd}.`);
      const json = parsed((await status([...args, "--json"])).stdout);
      expect(json.ready).toBe(false);
      expect(json.peers[3]).toMatchObject({ url: none, peerId: null, state: null, ready: false, flushMillis: null });
    } finally {
      await other.close();
      await refusing.close();
      await cluster.run(3);
      await cluster.unseal(3);
      await cluster.ready(1);
    }
  });

  it("says what stands in the way of the founding, which each peer knows for itself", async () => {
    const fault = "peer 3 does not know this cluster's bootstrap secret";
    const detail = {
      peerId: 1,
      incarnation: 1,
      uncommitted: 0,
      locks: 0,
      outbox: 0,
      clock: { now: 0 },
      founding: { introduced: [1, 2], signed: [], faults: [{ peerId: 3, reason: fault }] },
    };
    const founding = await fakeService(({ path }) =>
      path.endsWith("/status")
        ? jsonReply(200, { state: "UNSEALED", detail })
        : jsonReply(503, {
            status: 503,
            code: "NOT_READY",
            members: [{ peerId: 1, reason: "the cluster is not founded yet" }],
          }),
    );
    try {
      const { code, stdout } = await status(["--all", ...services(founding.url)]);
      expect([code, stdout]).toEqual([
        1,
        expect.stringContaining(`the cluster is not founded yet; ${fault}\n  next: correct it`),
      ]);
    } finally {
      await founding.close();
    }
  });

  it("finds the peers and the token of a development folder", async () => {
    const folder = join(cluster.folder, "dev");
    mkdirSync(join(folder, "dev-secrets"), { recursive: true });
    const peers = cluster.ids.map((id) => ({
      id,
      httpPort: Number(new URL(cluster.server(id).url).port),
      peerPort: cluster.member(id).peerPort,
    }));
    writeFileSync(join(folder, "cluster.json"), JSON.stringify({ version: 1, audience: "a", issuer: "i", peers }));
    writeFileSync(join(folder, "dev-secrets", "operator.token"), cluster.token, { mode: 0o600 });
    const { code, stdout } = await status(["--all", "--data", folder, "--json"], undefined);
    expect(code).toBe(0);
    expect(parsed(stdout).peers.map(({ peerId }) => peerId)).toEqual([1, 2, 3]);
    const reader = await cluster.mint(["service.approvers.read"]);
    const given = await status(["--all", "--data", folder, "--json"], reader);
    expect(parsed(given.stdout).peers.map(({ peerId }) => peerId)).toEqual([null, null, null]);
  });

  it.each([
    { args: ["--all"], why: "no peer is named" },
    { args: ["--service", "http://127.0.0.1:1"], why: "belong to --all" },
    { args: ["--watch", "2s"], why: "belong to --all" },
    { args: ["--all", "--url", "http://127.0.0.1:1"], why: "--url names one peer" },
    { args: ["--all", ...services("http://127.0.0.1:1", "http://127.0.0.1:1")], why: "names a peer twice" },
    { args: ["--all", "--data", "x", ...services("http://127.0.0.1:1")], why: "keep one of them" },
    { args: ["--all", ...services("http://10.0.0.1:1")], why: "--service would carry the token in clear" },
    { args: ["--all", "--data", "nowhere"], why: "cluster.json does not exist" },
  ])("is refused as wrong usage, and asks nobody: $args", async ({ args, why }) => {
    const { code, stdout, stderr } = await status(args);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(why);
  });
});
