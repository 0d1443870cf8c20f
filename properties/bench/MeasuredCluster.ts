/** A cluster to be measured: on free ports, in a folder of its own that is removed with it. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Form, type Ready, startDevCluster } from "../cli/DevCluster.ts";

export interface MeasuredCluster extends Ready {
  readonly readyMillis: number;
  readonly stop: () => Promise<void>;
}

export const startMeasuredCluster = async (peers: number, form: Form): Promise<MeasuredCluster> => {
  const folder = mkdtempSync(join(tmpdir(), "custody-bench-"));
  const began = performance.now();
  const cluster = await startDevCluster(form, folder, "--peers", String(peers), "--port", "0");
  return {
    ...cluster.ready,
    readyMillis: performance.now() - began,
    stop: async () => {
      await cluster.running.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
