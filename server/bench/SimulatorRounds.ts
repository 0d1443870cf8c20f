/** A process of its own for {@link measureSimulator}: measures, tells its parent, and ends. */
import { nativeBackend } from "../../sim/bin/NativeBackend.ts";
import { measureEvents } from "../../sim/EventRate.ts";
import type { Tier } from "../../sim/Tier.ts";

const MILLIS = 5_000;
const ROUNDS = 3;
/** The same for all tiers, though those that are not fast have shorter seeds in a hunt. */
const STEPS = 2_000;

/** What one round found. */
export interface Round {
  readonly eventsPerSecond: Readonly<Record<Tier, number>>;
  readonly events: number;
  readonly heapMegabytes: number;
}

const measured = (crypto: Tier) =>
  measureEvents({
    nowMillis: () => performance.now(),
    millis: MILLIS,
    crypto,
    backend: nativeBackend,
    schedule: "calm",
    peers: 3,
    steps: STEPS,
  });

/** The tiers by turns, so that a change of the machine's mood meets all of them alike. */
const round = (): Round => {
  const [fast, codec, real] = [measured("fast"), measured("codec"), measured("real")];
  return {
    eventsPerSecond: {
      fast: fast.eventsPerSecond,
      codec: codec.eventsPerSecond,
      real: real.eventsPerSecond,
    },
    events: fast.events + codec.events + real.events,
    heapMegabytes: Math.round(process.memoryUsage().heapUsed / (1024 * 1024)),
  };
};

process.send?.(Array.from({ length: ROUNDS }, round));
process.disconnect();
