/** A process of its own for {@link measureSimulator}: measures, tells its parent, and ends. */
import { measureEvents } from "../../sim/EventRate.ts";

const MILLIS = 5_000;
const ROUNDS = 3;

/** What one round found. */
export interface Round {
  readonly eventsPerSecond: number;
  readonly events: number;
  readonly heapMegabytes: number;
}

const round = (): Round => {
  const { eventsPerSecond, events } = measureEvents({
    nowMillis: () => performance.now(),
    millis: MILLIS,
    schedule: "calm",
    peers: 3,
  });
  return { eventsPerSecond, events, heapMegabytes: Math.round(process.memoryUsage().heapUsed / (1024 * 1024)) };
};

process.send?.(Array.from({ length: ROUNDS }, round));
process.disconnect();
