/**
 * The yardstick where it is installed: one etcd with as many keys, the refs, and the records as values. It has no
 * filters. It answers from its own state as our peers do (`serializable`).
 */
import { randomInt } from "node:crypto";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cryptoBackend } from "../../../server/crypto/CryptoBackend.ts";
import type { Call } from "../Load.ts";
import { base64, etcdCall, type EtcdCluster, sendToEtcd, startEtcdCluster } from "../yardsticks/Etcd.ts";
import { approverOf } from "./Approvers.ts";
import { deepNumber, refOf } from "./Questions.ts";

/** Keys of one transaction, below the limit on a request. */
const BATCH = 500;
const PAGE = 50;
/** More than a million records take. */
const QUOTA_BYTES = 8 * 1024 ** 3;

export interface Etcd {
  readonly size: number;
  readonly url: string;
}

const started = new Set<EtcdCluster>();

/** Stops those that were started, and waits until they have ended. */
export const stopEtcds = async (): Promise<void> => {
  for (const each of started) await each.stop();
};

/** All that is asked of it is a range: from a key, up to another one, so many. */
const range = (from: string, upTo: string, limit: number): Call =>
  etcdCall("/v3/kv/range", { key: base64(from), range_end: base64(upTo), limit: String(limit), serializable: true });

/** Comes after every ref. */
const END = "t";

/** The questions that a range can answer, by the names of ours. */
export const etcdQuestions: Readonly<Record<"get" | "firstPage" | "deepPage", (size: number) => Call>> = {
  get: (size) => etcdCall("/v3/kv/range", { key: base64(refOf(randomInt(size))), serializable: true }),
  firstPage: () => range("s", END, PAGE),
  deepPage: (size) => range(refOf(deepNumber(size)), END, PAGE),
};

const fill = async (url: string, size: number): Promise<void> => {
  const { crypto } = cryptoBackend("native");
  for (let from = 0; from < size; from += BATCH) {
    const success = Array.from({ length: Math.min(BATCH, size - from) }, (_, index) => {
      const approver = approverOf(crypto, from + index);
      return { request_put: { key: base64(approver.ref), value: base64(JSON.stringify(approver)) } };
    });
    await sendToEtcd(url, etcdCall("/v3/kv/txn", { success }));
  }
};

/** Starts the one below a folder, and fills it where it is new. */
export const startEtcd = async (folder: string, size: number): Promise<Etcd> => {
  const mark = join(folder, "etcd-filled");
  const cluster = await startEtcdCluster(folder, 1, [`--max-txn-ops=${BATCH}`, `--quota-backend-bytes=${QUOTA_BYTES}`]);
  started.add(cluster);
  if (!existsSync(mark)) await fill(cluster.url, size);
  writeFileSync(mark, "");
  return { size, url: cluster.url };
};
