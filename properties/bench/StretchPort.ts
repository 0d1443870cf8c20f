/**
 * Loaded into a measured process before its own code, and into nothing else: it writes down every stretch of work of the event loop
 * that took long, in processor time of that thread, which nothing else on the machine can lengthen (Linux).
 */
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isMainThread } from "node:worker_threads";

const folder = process.env["BENCH_PORT"] ?? "";
const LOOK_MILLIS = 2;
/** Shorter ones are not worth a line. */
const LEAST_MILLIS = 4;

const account = `/proc/self/task/${process.pid}/schedstat`;
const onProcessor = (): number => Number(readFileSync(account, "latin1").split(" ")[0]) / 1e6;

if (isMainThread) {
  let before = onProcessor();
  setInterval(() => {
    const now = onProcessor();
    const millis = now - before;
    before = now;
    if (millis >= LEAST_MILLIS)
      appendFileSync(join(folder, `stretches-${process.pid}`), `${Date.now()} ${millis.toFixed(2)}\n`);
  }, LOOK_MILLIS).unref();
}
