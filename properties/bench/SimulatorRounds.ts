/** A process of its own for {@link measureSimulator}: measures, tells its parent, and ends. */
import { sha256 } from "@noble/hashes/sha2.js";
import { nativeBackend } from "../../sim/bin/NativeBackend.ts";
import { measureEvents } from "../../sim/hunting/EventRate.ts";
import type { Tier } from "../../sim/base/Tier.ts";

const MILLIS = 5_000;
const ROUNDS = 3;
/** The same for all tiers, though those that are not fast have shorter seeds in a hunt. */
const STEPS = 2_000;

/** The result of one round. */
export interface Round {
  readonly eventsPerSecond: Readonly<Record<Tier, number>>;
  /** Where callers sign as well, with a group that only has the algebra of a real one. */
  readonly signingEventsPerSecond: number;
  /** The machine's own speed in plain JavaScript: hashes of 1 KiB. */
  readonly hashesPerSecond: number;
  readonly events: number;
  readonly heapMegabytes: number;
}

const measured = (crypto: Tier, schedule: "calm" | "keys" = "calm") =>
  measureEvents({
    nowMillis: () => performance.now(),
    millis: MILLIS,
    crypto,
    backend: nativeBackend,
    schedule,
    peers: 3,
    steps: STEPS,
  });

const HASHED = new Uint8Array(1024);
const HASHES = 50_000;

const hashesPerSecond = (): number => {
  const startedAt = performance.now();
  for (let count = 0; count < HASHES; count++) sha256(HASHED);
  return Math.round((HASHES * 1000) / (performance.now() - startedAt));
};

/** Reachable memory; without this the figure would include garbage. */
const heapMegabytes = (): number => {
  if (globalThis.gc === undefined) throw new TypeError("this process is started with --expose-gc");
  globalThis.gc();
  return Math.round(process.memoryUsage().heapUsed / (1024 * 1024));
};

/** The tiers in turn, so that changes in the machine's speed affect all of them alike. */
const round = (): Round => {
  const [fast, codec, real] = [measured("fast"), measured("codec"), measured("real")];
  const signing = measured("fast", "keys");
  return {
    eventsPerSecond: {
      fast: fast.eventsPerSecond,
      codec: codec.eventsPerSecond,
      real: real.eventsPerSecond,
    },
    signingEventsPerSecond: signing.eventsPerSecond,
    events: fast.events + codec.events + real.events + signing.events,
    hashesPerSecond: hashesPerSecond(),
    heapMegabytes: heapMegabytes(),
  };
};

process.send?.(Array.from({ length: ROUNDS }, round));
process.disconnect();
