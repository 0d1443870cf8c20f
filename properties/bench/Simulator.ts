/**
 * How many events the simulator handles in a second on one thread, every checker
 * on, and whether its memory stays flat: in a process with as much room for young
 * objects as the processes of a hunt have.
 */
import { fork } from "node:child_process";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { HEAP_FLAGS, YOUNG_MEGABYTES } from "../../sim/bin/Hunt.ts";
import type { Round } from "./SimulatorRounds.ts";
import { median, rounded } from "./Statistics.ts";

/** Calm runs of three peers, tier by tier; the ratio is that of each round, since the machine's speed drifts. */
const tierFigures = (rounds: ReadonlyArray<Round>): { readonly [figure: string]: number } => ({
  calmEventsPerSecond: median(rounds.map(({ eventsPerSecond }) => eventsPerSecond.fast)),
  calmCodecEventsPerSecond: median(rounds.map(({ eventsPerSecond }) => eventsPerSecond.codec)),
  calmRealEventsPerSecond: median(rounds.map(({ eventsPerSecond }) => eventsPerSecond.real)),
  hashesPerSecond: median(rounds.map(({ hashesPerSecond }) => hashesPerSecond)),
  calmEventsOverHashes: rounded(
    median(rounds.map(({ eventsPerSecond: { fast }, hashesPerSecond }) => fast / hashesPerSecond)),
  ),
  signingOverCalm: rounded(
    median(rounds.map(({ signingEventsPerSecond, eventsPerSecond: { fast } }) => signingEventsPerSecond / fast)),
  ),
  codecOverFast: rounded(median(rounds.map(({ eventsPerSecond: { codec, fast } }) => codec / fast))),
  realOverFast: rounded(median(rounds.map(({ eventsPerSecond: { real, fast } }) => real / fast)), 3),
});

/** The figures by name. Rejects when the process ends without any. */
export const measureSimulator = (): Promise<{ readonly [figure: string]: number }> =>
  new Promise((resolve, reject) => {
    const script = fileURLToPath(new URL(`./SimulatorRounds${extname(import.meta.url)}`, import.meta.url));
    const measuring = fork(script, {
      stdio: ["ignore", "ignore", "inherit", "ipc"],
      execArgv: [...process.execArgv, "--expose-gc", ...HEAP_FLAGS],
    });
    measuring.on("message", (rounds: ReadonlyArray<Round>) =>
      resolve({
        ...tierFigures(rounds),
        events: rounds.reduce((sum, each) => sum + each.events, 0),
        youngObjectsMegabytes: YOUNG_MEGABYTES,
        heapAfterFirstRoundMegabytes: rounds[0]?.heapMegabytes ?? 0,
        heapAfterLastRoundMegabytes: rounds.at(-1)?.heapMegabytes ?? 0,
      }),
    );
    measuring.on("error", reject);
    // Without effect where the figures have come.
    measuring.on("exit", (code) => reject(new Error(`the measuring process ended with code ${code} and no figures`)));
  });
