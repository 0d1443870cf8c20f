/** How many events the simulator handles in a second on one thread, every checker on, and whether its memory stays flat. */
import { measureEvents } from "../../sim/EventRate.ts";

const MILLIS = 5_000;
const ROUNDS = 3;

const heapMegabytes = (): number => process.memoryUsage().heapUsed / (1024 * 1024);

export const measureSimulator = (): { readonly [figure: string]: number } => {
  const rates: Array<number> = [];
  const heaps: Array<number> = [];
  let events = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const rate = measureEvents({ nowMillis: () => performance.now(), millis: MILLIS, schedule: "calm", peers: 3 });
    rates.push(rate.eventsPerSecond);
    heaps.push(heapMegabytes());
    events += rate.events;
  }
  const sorted = rates.toSorted((left, right) => left - right);
  return {
    calmEventsPerSecond: sorted[Math.floor(ROUNDS / 2)] ?? 0,
    events,
    heapAfterFirstRoundMegabytes: Math.round(heaps[0] ?? 0),
    heapAfterLastRoundMegabytes: Math.round(heaps.at(-1) ?? 0),
  };
};
