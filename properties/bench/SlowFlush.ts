/** What a peer still answers while its flush is made to take long: reads and the health check. */
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { MeasuredCluster } from "./MeasuredCluster.ts";
import { load, registrations } from "./Load.ts";

const slowPeer = fileURLToPath(new URL("./SlowPeer.ts", import.meta.url));
const PROBES = 400;
const PROBE_PAUSE_MILLIS = 5;
const WAIT_MILLIS = 60_000;

export interface SlowFlush {
  readonly registrations: number;
  readonly healthMillis: ReadonlyArray<number>;
  readonly readMillis: ReadonlyArray<number>;
}

const pause = (millis: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, millis));

const untilReady = async (url: string): Promise<void> => {
  for (const began = performance.now(); performance.now() - began < WAIT_MILLIS; await pause(100)) {
    const isReady = await fetch(`${url}/v1/custody/system/ready`).then(
      (response) => response.ok,
      () => false,
    );
    if (isReady) return;
  }
  throw new Error(`${url} did not become ready`);
};

/** Does something while another process with slow flushes stands in for the last peer, which was killed. */
export const withSlowPeer = async <A>(
  cluster: MeasuredCluster,
  flushMillis: number,
  run: (url: string) => Promise<A>,
): Promise<A> => {
  const slow = cluster.peers.at(-1);
  if (slow === undefined) throw new Error("a cluster has peers");
  const secrets = join(cluster.dataDir, "dev-secrets");
  const child: ChildProcess = spawn(
    process.execPath,
    [...process.execArgv, slowPeer, slow.config, secrets, String(flushMillis)],
    { stdio: "ignore" },
  );
  try {
    await untilReady(slow.url);
    return await run(slow.url);
  } finally {
    child.kill("SIGTERM");
  }
};

/** Replaces the last peer by a slow one, keeps registering, and asks that peer for its health and for an approver. */
export const slowFlush = (cluster: MeasuredCluster, ref: string, flushMillis: number): Promise<SlowFlush> => {
  const [writer] = cluster.peers;
  const last = cluster.peers.at(-1);
  if (writer === undefined || last === undefined) throw new Error("a cluster has peers");
  process.kill(last.pid, "SIGKILL");
  return withSlowPeer(cluster, flushMillis, async (url) => {
    const calls = registrations(10_000, cluster.token);
    let registered = 0;
    const probing = new AbortController();
    const registering = (async () => {
      while (!probing.signal.aborted) {
        const call = calls[registered++];
        if (call === undefined) return;
        await load(writer.url, 1, 1, () => call);
      }
    })();
    const token = { "x-jwt-token": cluster.token };
    const path = `/v1/custody/approvers/${encodeURIComponent(ref)}`;
    const healthMillis: Array<number> = [];
    const readMillis: Array<number> = [];
    for (let probe = 0; probe < PROBES; probe++) {
      healthMillis.push(
        ...(await load(url, 1, 1, () => ({ method: "GET", path: "/v1/custody/system/health", headers: {} }))).latencies,
      );
      readMillis.push(...(await load(url, 1, 1, () => ({ method: "GET", path, headers: token }))).latencies);
      await pause(PROBE_PAUSE_MILLIS);
    }
    probing.abort();
    await registering;
    return { registrations: registered, healthMillis, readMillis };
  });
};
