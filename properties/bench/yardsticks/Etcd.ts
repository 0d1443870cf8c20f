/** A cluster of etcd, of one or more members on one disk, asked through its JSON gateway. */
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Call, load, succeeded } from "../Load.ts";
import { freePort, isInstalled, RECORD_BYTES, type Yardstick } from "./Yardstick.ts";

const WAIT_MILLIS = 30_000;

export const hasEtcd = (): boolean => isInstalled("etcd");

export const base64 = (text: string): string => Buffer.from(text).toString("base64");

export const etcdCall = (path: string, body: object): Call => ({
  method: "POST",
  path,
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
});

/** Sends one call; throws when etcd refuses it. */
export const sendToEtcd = async (url: string, { path, body = "" }: Call): Promise<string> => {
  const response = await fetch(url + path, { method: "POST", body });
  const text = await response.text();
  if (!response.ok) throw new Error(`etcd: ${text}`);
  return text;
};

interface Member {
  readonly name: string;
  readonly url: string;
  readonly peerUrl: string;
}

export interface EtcdCluster {
  /** Of its first member. */
  readonly url: string;
  readonly stop: () => Promise<void>;
}

/** A linearizable read: answered only where there is a leader. */
const isServing = (url: string): Promise<boolean> =>
  sendToEtcd(url, etcdCall("/v3/kv/range", { key: base64("a") })).then(
    () => true,
    () => false,
  );

const untilServing = async (url: string, child: ChildProcess): Promise<void> => {
  for (const began = performance.now(); performance.now() - began < WAIT_MILLIS; ) {
    if (await isServing(url)) return;
    if (child.exitCode !== null) break;
    await new Promise((wake) => void setTimeout(wake, 100));
  }
  throw new Error("etcd does not serve");
};

const startMember = (folder: string, { name, url, peerUrl }: Member, cluster: string, flags: ReadonlyArray<string>) =>
  spawn(
    "etcd",
    [
      `--name=${name}`,
      `--data-dir=${join(folder, name)}`,
      `--listen-client-urls=${url}`,
      `--advertise-client-urls=${url}`,
      `--listen-peer-urls=${peerUrl}`,
      `--initial-advertise-peer-urls=${peerUrl}`,
      `--initial-cluster=${cluster}`,
      "--log-level=error",
      ...flags,
    ],
    { stdio: "ignore" },
  );

const stopMember = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const closed = once(child, "close");
  child.kill("SIGTERM");
  await closed;
};

/** Starts so many members with their data below a folder. Throws when they do not serve. */
export const startEtcdCluster = async (
  folder: string,
  size: number,
  flags: ReadonlyArray<string> = [],
): Promise<EtcdCluster> => {
  const members: Array<Member> = [];
  for (let number = 1; number <= size; number++)
    members.push({
      name: `etcd-${number}`,
      url: `http://127.0.0.1:${await freePort()}`,
      peerUrl: `http://127.0.0.1:${await freePort()}`,
    });
  const cluster = members.map(({ name, peerUrl }) => `${name}=${peerUrl}`).join(",");
  const children = members.map((member) => startMember(folder, member, cluster, flags));
  const stop = async (): Promise<void> => void (await Promise.all(children.map(stopMember)));
  const [first] = members;
  const [child] = children;
  if (first === undefined || child === undefined) throw new Error("a cluster has members");
  await untilServing(first.url, child).catch(async (fault: unknown) => {
    await stop();
    throw fault;
  });
  return { url: first.url, stop };
};

/** Puts of fresh keys to three members; a put is answered when a majority has flushed it. */
export const etcdPuts = async (besides: string): Promise<Yardstick> => {
  const folder = mkdtempSync(join(besides, "etcd-"));
  const { url, stop } = await startEtcdCluster(folder, 3);
  return {
    name: "etcdPut",
    write: async (callers, count) => {
      const put = () => ({ key: base64(randomBytes(16).toString("hex")), value: base64("r".repeat(RECORD_BYTES)) });
      const calls = Array.from({ length: count }, () => etcdCall("/v3/kv/put", put()));
      return succeeded(await load(url, callers, count, (index) => calls[index] ?? etcdCall("/v3/kv/put", put())), 200);
    },
    stop: async () => {
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
