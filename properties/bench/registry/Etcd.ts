/**
 * The yardstick where it is installed: one etcd with as many keys, the refs, and the records as values, asked through
 * its JSON gateway. It has no filters. It answers from its own state as our peers do (`serializable`).
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { cryptoBackend } from "../../../server/crypto/CryptoBackend.ts";
import type { Call } from "../Load.ts";
import { approverOf } from "./Approvers.ts";
import { deepNumber, refOf } from "./Questions.ts";

/** Keys of one transaction, below the limit on a request. */
const BATCH = 500;
const PAGE = 50;
const WAIT_MILLIS = 30_000;
/** More than a million records take. */
const QUOTA_BYTES = 8 * 1024 ** 3;

export interface Etcd {
  readonly size: number;
  readonly url: string;
}

const started = new Set<ChildProcess>();

/** Stops those that were started, and waits until they have ended. */
export const stopEtcds = async (): Promise<void> => {
  for (const child of started) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    const closed = once(child, "close");
    child.kill("SIGTERM");
    await closed;
  }
};

export const hasEtcd = (): boolean => spawnSync("etcd", ["--version"]).status === 0;

const base64 = (text: string): string => Buffer.from(text).toString("base64");

const post = (path: string, body: object): Call => ({
  method: "POST",
  path,
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
});

/** All that is asked of it is a range: from a key, up to another one, so many. */
const range = (from: string, upTo: string, limit: number): Call =>
  post("/v3/kv/range", { key: base64(from), range_end: base64(upTo), limit: String(limit), serializable: true });

/** Comes after every ref. */
const END = "t";

/** The questions that a range can answer, by the names of ours. */
export const etcdQuestions: Readonly<Record<"get" | "firstPage" | "deepPage", (size: number) => Call>> = {
  get: (size) => post("/v3/kv/range", { key: base64(refOf(randomInt(size))), serializable: true }),
  firstPage: () => range("s", END, PAGE),
  deepPage: (size) => range(refOf(deepNumber(size)), END, PAGE),
};

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  return typeof address === "object" && address !== null ? address.port : 0;
};

const send = async (url: string, { path, body = "" }: Call): Promise<string> => {
  const response = await fetch(url + path, { method: "POST", body });
  const text = await response.text();
  if (!response.ok) throw new Error(`etcd: ${text}`);
  return text;
};

const untilServing = async (url: string, child: ChildProcess): Promise<void> => {
  for (const began = performance.now(); performance.now() - began < WAIT_MILLIS; ) {
    const isServing = await send(url, range("a", "b", 1)).then(
      () => true,
      () => false,
    );
    if (isServing) return;
    if (child.exitCode !== null) break;
    await new Promise((wake) => void setTimeout(wake, 100));
  }
  throw new Error("etcd does not serve");
};

const fill = async (url: string, size: number): Promise<void> => {
  const { crypto } = cryptoBackend("native");
  for (let from = 0; from < size; from += BATCH) {
    const success = Array.from({ length: Math.min(BATCH, size - from) }, (_, index) => {
      const approver = approverOf(crypto, from + index);
      return { request_put: { key: base64(approver.ref), value: base64(JSON.stringify(approver)) } };
    });
    await send(url, post("/v3/kv/txn", { success }));
  }
};

/** Starts the one below a folder, and fills it where it is new. */
export const startEtcd = async (folder: string, size: number): Promise<Etcd> => {
  const mark = join(folder, "etcd-filled");
  const url = `http://127.0.0.1:${await freePort()}`;
  const peerUrl = `http://127.0.0.1:${await freePort()}`;
  const child = spawn(
    "etcd",
    [
      `--data-dir=${join(folder, "etcd")}`,
      `--listen-client-urls=${url}`,
      `--advertise-client-urls=${url}`,
      `--listen-peer-urls=${peerUrl}`,
      `--initial-advertise-peer-urls=${peerUrl}`,
      `--initial-cluster=default=${peerUrl}`,
      `--max-txn-ops=${BATCH}`,
      `--quota-backend-bytes=${QUOTA_BYTES}`,
      "--log-level=error",
    ],
    { stdio: "ignore" },
  );
  started.add(child);
  await untilServing(url, child);
  if (!existsSync(mark)) await fill(url, size);
  writeFileSync(mark, "");
  return { size, url };
};
