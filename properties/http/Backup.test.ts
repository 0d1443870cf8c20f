/** Backups of running peers, what they are judged by, and how one is put back: over HTTP and the command line. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { runInProcess } from "../cli/InProcess.ts";
import { registration, ServerCluster } from "./ServerCluster.ts";

const patience = { timeout: 60_000, interval: 100 };

let cluster: ServerCluster;
beforeAll(async () => {
  cluster = await ServerCluster.found(3);
}, patience.timeout);
afterAll(() => cluster.close());

const backup = (id: number, file: string, ...more: ReadonlyArray<string>) =>
  runInProcess(["backup", "--url", cluster.server(id).url, "--to", file, ...more], { CUSTODY_TOKEN: cluster.token });
const custody = (...args: ReadonlyArray<string>) => runInProcess(args, {});
const inFolder = (name: string): string => join(cluster.folder, name);

describe("a backup", () => {
  it(
    "taken while changes go on is whole, and holds under verification",
    async () => {
      const load = { isOver: false };
      let count = 0;
      const loading = Promise.all(
        [1, 2, 3].map(async (id) => {
          while (!load.isOver)
            expect((await cluster.register(id, registration(`load-${id}-${(count += 1)}`))).status).toBe(201);
        }),
      );
      await vi.waitFor(() => expect(count).toBeGreaterThan(10), patience);
      const file = inFolder("loaded.tar");
      const taken = await backup(2, file, "--json");
      const after = count;
      await vi.waitFor(() => expect(count).toBeGreaterThan(after + 5), patience);
      load.isOver = true;
      await loading;
      expect([taken.stderr, taken.code]).toEqual(["", 0]);
      const facts = JSON.parse(taken.stdout);
      expect(facts).toMatchObject({ peerId: 2, cluster: { epoch: 1, development: false } });
      expect(facts.approvers).toBeGreaterThan(5);
      expect(statSync(file).mode & 0o777).toBe(0o600);
      const verified = await custody("backup", "verify", file);
      expect([verified.stderr, verified.code]).toEqual(["", 0]);
      expect(verified.stdout).toMatch(/The backup holds:[^]*peer 2 of cluster [0-9a-f]{64}[^]*Not checked:/);
      expect(existsSync(join(cluster.member(2).dataDir, "custody.backup"))).toBe(false);
    },
    patience.timeout,
  );
});

/** A copy of a backup with something else in it. */
const changed = (file: string, name: string, change: (bytes: Buffer) => Buffer): string => {
  const other = inFolder(name);
  writeFileSync(other, change(Buffer.from(readFileSync(file))), { mode: 0o600 });
  return other;
};

const flipped = (at: number) => (bytes: Buffer) => {
  bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
  return bytes;
};

describe("a file that is judged", () => {
  let whole = "";
  beforeAll(async () => {
    whole = inFolder("whole.tar");
    expect((await backup(1, whole)).code).toBe(0);
  });

  const text = (bytes: Buffer): string => bytes.toString("latin1");
  /** The first could become a zero, with which no number begins. */
  const lastDigitOf = (manifest: string, name: string): number =>
    manifest.slice(manifest.indexOf(`"${name}"`)).search(/\d\D/) + manifest.indexOf(`"${name}"`);

  const refused = async (file: string, code: number, says: RegExp): Promise<void> => {
    const verified = await custody("backup", "verify", file);
    expect([verified.code, verified.stdout]).toEqual([code, ""]);
    expect(verified.stderr).toMatch(says);
    const folder = inFolder("never");
    const restored = await custody("restore", "--from", file, "--data", folder);
    expect([restored.code, restored.stdout, existsSync(folder)]).toEqual([code, "", false]);
    expect(restored.stderr).toMatch(says);
  };

  it.each<readonly [name: string, change: (bytes: Buffer) => Buffer, says: RegExp]>([
    ["cut off", (bytes) => bytes.subarray(0, bytes.length - 600), /it is cut off: it has \d+ of \d+ bytes/],
    ["cut off in its manifest", (bytes) => bytes.subarray(0, 700), /ends within its manifest/],
    ["longer", (bytes) => Buffer.concat([bytes, Buffer.alloc(512)]), /512 bytes follow its end/],
    ["flipped in its database", flipped(60_000), /its database is not the one/],
    ["flipped in its frame", flipped(100), /the frame of its parts is damaged/],
    ["flipped in its last block", (bytes) => flipped(bytes.length - 5)(bytes), /the frame of its parts is damaged/],
    ["flipped in its facts", (bytes) => flipped(lastDigitOf(text(bytes), "approvers"))(bytes), /was not signed by/],
    [
      "flipped in its signature",
      (bytes) => flipped(text(bytes).indexOf('"signature"') + 20)(bytes),
      /not signed|damaged/,
    ],
    ["no backup", () => Buffer.from("a letter ".repeat(100)), /it is no backup of a peer/],
    ["empty", () => Buffer.alloc(0), /it is no backup of a peer/],
  ])("and is %s is refused, and nothing of it is restored", (name, change, says) =>
    refused(changed(whole, `${name}.tar`, change), 1, says),
  );

  it("and is of a newer format is not called broken, since nothing is known of it", async () => {
    const newer = (bytes: Buffer) => Buffer.from(text(bytes).replace('"version": 1', '"version": 2'), "latin1");
    await refused(changed(whole, "newer.tar", newer), 2, /version 2 of the format.*program that made it/);
  });

  it("is refused where it is not there, a folder, or of another cluster than the one named", async () => {
    for (const file of [inFolder("nowhere"), cluster.folder])
      expect(await custody("backup", "verify", file)).toMatchObject({ code: 2, stdout: "" });
    const { json } = await cluster.get(1, "/v1/custody/system/status");
    const { digest } = Object(Reflect.get(Object(json["detail"]), "topology"));
    expect((await custody("backup", "verify", whole, "--topology", digest)).code).toBe(0);
    const mistyped = await custody("backup", "verify", whole, "--topology", "abc");
    expect([mistyped.code, mistyped.stderr]).toEqual([2, expect.stringContaining("take topology.digest")]);
    const other = await custody("backup", "verify", "--topology", "0".repeat(64), whole);
    expect(other).toMatchObject({ code: 1, stderr: expect.stringContaining("it is of another cluster") });
  });

  it("leaves nothing behind", async () => {
    expect((await custody("backup", "verify", whole, "--json")).code).toBe(0);
    expect(readdirSync(cluster.folder).filter((name) => name.startsWith("."))).toEqual([]);
  });
});

describe("a folder", () => {
  let whole = "";
  beforeAll(async () => {
    whole = inFolder("placed.tar");
    expect((await backup(3, whole)).code).toBe(0);
  });
  const restore = (...args: ReadonlyArray<string>) => custody("restore", "--from", whole, ...args);

  it("of a running peer, with a database, with other files, or open to others takes no backup", async () => {
    const { dataDir } = cluster.member(3);
    const before = readdirSync(dataDir).toSorted();
    expect(await restore("--data", dataDir)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("holds custody.db"),
    });
    expect(readdirSync(dataDir).toSorted()).toEqual(before);
    const folder = inFolder("used");
    mkdirSync(folder, { mode: 0o700 });
    writeFileSync(join(folder, "letter.txt"), "");
    expect((await restore("--data", folder)).stderr).toContain("holds letter.txt; name a folder that is empty");
    rmSync(join(folder, "letter.txt"));
    const open = inFolder("open");
    mkdirSync(open, { mode: 0o755 });
    expect((await restore("--data", open)).stderr).toContain("chmod 700");
    expect((await restore("--data", join(folder, "no", "such"))).stderr).toContain(
      "the folder above it does not exist",
    );
    expect((await restore()).stderr).toContain("either --data or --config");
    expect((await custody("restore", "--data", folder)).stderr).toContain("belong to --from");
    expect(readdirSync(folder)).toEqual([]);
  });

  it("of another peer's configuration takes no backup", async () => {
    const { configFile } = cluster.member(1);
    const refused = await restore("--config", configFile);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("it is a backup of peer 3") });
  });

  it("takes it whole, once, with the rights of a data folder", async () => {
    const folder = inFolder("placed");
    expect(await restore("--data", folder)).toMatchObject({ code: 0, stderr: "" });
    expect([folder, join(folder, "custody.db")].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o600]);
    expect(readdirSync(folder).toSorted()).toEqual(["custody.db", "custody.initialized", "custody.lock"]);
    // Not the folder itself: it may be where a file system is mounted.
    const full = "holds custody.db already; stop its peer and move what is in it away first";
    expect((await restore("--data", folder)).stderr).toContain(full);
    // What a peer keeps beside it stays.
    rmSync(join(folder, "custody.db"));
    for (const name of ["operators.log", "token-keys.json", "audit-sinks.json"])
      writeFileSync(join(folder, name), name, { mode: 0o600 });
    expect(await restore("--data", folder)).toMatchObject({ code: 0, stderr: "" });
    expect(readFileSync(join(folder, "audit-sinks.json"), "utf8")).toBe("audit-sinks.json");
  });
});

describe("a peer", () => {
  it("backs up for nobody without the permission, nor while it is sealed or not initialized", async () => {
    const path = "/v1/custody/system/backup";
    const denied = await cluster.post(1, path, {}, { "x-jwt-token": await cluster.mint(["service.system.restore"]) });
    expect([denied.status, denied.json["code"]]).toEqual([403, "ACCESS_DENIED"]);
    expect((await cluster.post(1, path, { all: true })).json["code"]).toBe("INVALID_REQUEST_BODY");
    const fresh = await ServerCluster.start(1);
    try {
      expect((await fresh.post(1, path, {})).json["code"]).toBe("NOT_INITIALIZED");
      await fresh.initialize(1);
      expect((await fresh.post(1, path, {})).json).toMatchObject({ code: "SEALED", retryable: true });
    } finally {
      await fresh.close();
    }
  });

  it("makes one backup at a time, and ends one whose caller goes away", async () => {
    const leaving = new AbortController();
    const call = (signal?: AbortSignal) =>
      fetch(`${cluster.server(1).url}/v1/custody/system/backup`, {
        method: "POST",
        headers: { "x-jwt-token": cluster.token },
        signal: signal ?? null,
      });
    const first = call(leaving.signal);
    first.catch(() => undefined);
    const copy = join(cluster.member(1).dataDir, "custody.backup");
    await vi.waitFor(() => expect(existsSync(copy)).toBe(true), { timeout: 10_000, interval: 1 });
    const second = await call();
    expect([second.status, Number(second.headers.get("retry-after"))]).toEqual([409, expect.any(Number)]);
    expect(await second.json()).toMatchObject({ code: "BACKUP_UNDER_WAY", retryable: true });
    leaving.abort();
    await vi.waitFor(() => expect(existsSync(copy)).toBe(false), patience);
    const third = await call();
    expect([third.status, third.headers.get("content-type")]).toEqual([200, "application/x-tar"]);
    const { byteLength } = await third.arrayBuffer();
    expect(byteLength).toBe(Number(third.headers.get("content-length")));
    const calls = cluster.logs.filter((line) => line.includes('"call":"BACKUP"'));
    expect(calls.some((line) => line.includes("BACKUP_UNDER_WAY"))).toBe(true);
    expect(calls.some((line) => line.includes('"outcome":"ACCEPTED"'))).toBe(true);
  });

  it("overwrites nothing with what it is given", async () => {
    const file = inFolder("kept.tar");
    writeFileSync(file, "precious");
    expect(await backup(1, file)).toMatchObject({ code: 2, stderr: expect.stringContaining("is there already") });
    expect(readFileSync(file, "utf8")).toBe("precious");
    expect((await runInProcess(["backup"], {})).stderr).toContain("--to is missing");
  });
});
