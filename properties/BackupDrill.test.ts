/** The drill of docs/operations.md with real processes: a disk destroyed, and a peer rebuilt from last night's backup. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Effect, Either } from "effect";
import { afterAll, beforeAll, expect, it } from "vitest";
import { decode } from "../core/codec/CborReader.ts";
import { SELF } from "../core/protocol/Tables.ts";
import { rowCodec } from "../core/Tables.ts";
import { openCopy } from "../server/backup/CopyStore.ts";
import { databaseFile } from "../server/sqlite/StoreDirectory.ts";
import { runCustody } from "./cli/CustodyProcess.ts";
import { type DevCluster, isAlive, startDevCluster } from "./cli/DevCluster.ts";
import { registration } from "./Registration.ts";

const patience = 240_000;
const LOST = 2;

let folder: string;
let cluster: DevCluster;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "custody-drill-"));
  cluster = await startDevCluster("source", folder, "--peers", "3", "--port", "0");
}, patience);
afterAll(async () => {
  await cluster.running.stop();
  rmSync(folder, { recursive: true, force: true });
});

const peer = (id: number) => {
  const found = cluster.ready.peers.find((each) => each.id === id);
  if (found === undefined) throw new Error(`no peer ${id}`);
  return found;
};

const custody = (...args: ReadonlyArray<string>) =>
  runCustody(args, { env: { CUSTODY_TOKEN: cluster.ready.token, CUSTODY_URL: peer(LOST).url } });

const register = async (id: number, body: object): Promise<number> => {
  const response = await fetch(`${peer(id).url}/v1/custody/approvers`, {
    method: "POST",
    headers: { "x-jwt-token": cluster.ready.token, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  await response.text();
  return response.status;
};

const statusOf = async (id: number): Promise<{ readonly [name: string]: unknown }> => {
  const { stdout } = await custody("status", "--json", "--url", peer(id).url);
  return Object(Reflect.get(JSON.parse(stdout), "detail"));
};

const until = async (question: () => Promise<boolean> | boolean): Promise<void> => {
  while (!(await question())) await new Promise((resolve) => void setTimeout(resolve, 50));
};

const isReady = (id: number): Promise<boolean> =>
  fetch(`${peer(id).url}/v1/custody/system/ready`).then(
    ({ status }) => status === 200,
    () => false,
  );

const dataOf = (id: number): string => join(cluster.ready.dataDir, `peer-${id}`, "data");

/** The registry of a peer that has ended, as one value over all of it; and whether its database is still a copy. */
const endOf = (id: number) =>
  Effect.map(openCopy(databaseFile(dataOf(id))), ({ bytes, isMarked }) => {
    const stored = bytes.get("counters", SELF);
    if (stored === undefined) throw new Error("no counters");
    const { approvers, registrySet } = Either.getOrThrow(decode(rowCodec("counters"), stored.row));
    return { approvers, set: Buffer.from(registrySet).toString("hex"), isMarked };
  }).pipe(Effect.scoped, Effect.runPromise);

it(
  "brings a peer back with everything that was registered after its backup",
  async () => {
    const load = { isOver: false };
    const sent: Array<object> = [];
    const loading = Promise.all(
      [1, 2, 3].map(async (id) => {
        while (!load.isOver) {
          const body = registration(`night-${id}-${sent.length}`);
          expect(await register(id, body)).toBe(201);
          sent.push(body);
        }
      }),
    );
    await until(() => sent.length >= 10);
    const file = join(folder, "last-night.tar");
    const taken = await custody("backup", "--to", file);
    expect([taken.code, taken.stderr]).toEqual([0, ""]);
    const atBackup = sent.length;
    await until(() => sent.length >= atBackup + 10);
    load.isOver = true;
    await loading;
    const verified = await custody("backup", "verify", file);
    expect([verified.code, verified.stderr]).toEqual([0, ""]);
    const before = Number((await statusOf(LOST))["incarnation"]);

    process.kill(peer(LOST).pid, "SIGKILL");
    await until(() => !isAlive(peer(LOST).pid));
    rmSync(dataOf(LOST), { recursive: true });
    expect(await register(1, registration("without-it"))).toBe(503);

    const foreign = await custody("restore", "--from", file, "--config", peer(1).config);
    expect([foreign.code, foreign.stderr]).toEqual([1, expect.stringContaining(`a backup of peer ${LOST}`)]);
    const restored = await custody("restore", "--from", file, "--config", peer(LOST).config);
    expect([restored.stderr, restored.code]).toEqual(["", 0]);
    expect(statSync(databaseFile(dataOf(LOST))).mode & 0o777).toBe(0o600);

    // It unseals itself, as peers of development clusters do; nobody declares anything.
    let log = "";
    const again = spawn("sh", ["-c", peer(LOST).restart], { stdio: ["ignore", "ignore", "pipe"] });
    again.stderr.setEncoding("utf8").on("data", (text: string) => (log += text));
    for (const id of [1, 2, 3]) await until(() => isReady(id));
    expect(log).toContain("a restore is declared");
    const after = await statusOf(LOST);
    expect(Number(after["incarnation"])).toBeGreaterThan(before);
    expect(after).toMatchObject({ approvers: sent.length });
    for (const id of [1, 2, 3]) expect(await register(id, registration(`morning-${id}`))).toBe(201);
    // What was registered before and after the backup is known to it.
    for (const body of [sent[0], sent.at(-1)]) expect(await register(LOST, body ?? {})).toBe(200);

    await cluster.running.stop();
    await until(() => again.exitCode !== null || again.signalCode !== null);
    const ends = await Promise.all([1, 2, 3].map(endOf));
    expect(ends.map(({ approvers }) => approvers)).toEqual([1, 2, 3].map(() => sent.length + 3));
    expect(new Set(ends.map(({ set }) => set)).size).toBe(1);
    expect(ends.map(({ isMarked }) => isMarked)).toEqual([false, false, false]);
  },
  patience,
);
