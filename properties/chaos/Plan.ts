/** The faults of a cluster and their times: drawn from the seed alone, so the same on every machine. */
import { backupWays, restoreWays } from "./BackupWays.ts";
import { Chance } from "./Chance.ts";
import { strangerWays } from "./Strangers.ts";

export const faultKinds = [
  "kill",
  "kill-all",
  "terminate",
  "pause",
  "cut",
  "cut-one-way",
  "isolate",
  "delay",
  "swallow",
  "flaky",
  "flush-lost",
  "flush-kept",
  "disk-full",
  "clock",
  "faketime",
  "seal",
  "rotate",
  "backup",
  "restore",
  "old-disk",
  "restore-day-zero",
  "keys-away",
  "clock-days",
  "strangers",
  "strangers-at-peers",
  "crowd",
  "heavy",
] as const;
export type FaultKind = (typeof faultKinds)[number];

export interface PlannedFault {
  /** Milliseconds after the callers began; not before. */
  readonly at: number;
  /** It comes at that very time. Others wait until callers have succeeded since the last one. */
  readonly isHurried: boolean;
  readonly kind: FaultKind;
  /** The peer that it affects. */
  readonly slot: number;
  /** The other end, where there is one. */
  readonly other: number;
  readonly lastsMillis: number;
  /** The argument of the kind: a delay or a clock offset in milliseconds, a chance in a thousand, or which way of several. */
  readonly amount: number;
}

/** These cost the peers work and stop nothing. */
export const costsWorkOnly: ReadonlySet<FaultKind> = new Set([
  "strangers",
  "strangers-at-peers",
  "crowd",
  "heavy",
  "rotate",
]);

/** These end the process of their peer. */
export const endsProcess: ReadonlySet<FaultKind> = new Set([
  "kill",
  "terminate",
  "flush-lost",
  "flush-kept",
  "disk-full",
  "faketime",
  "restore",
  "old-disk",
  "restore-day-zero",
  "keys-away",
]);

const FIRST_MILLIS = 1_500;
const QUIET_MILLIS = 2_000;
/** In a thousand: these may come while the one before still lasts. */
const HURRIED = 350;
/** The number of the draws of plans, beside the number of peers; and of those of whom is spared. */
const PLAN = 1_000;
const SPARED = 1_100;
/** From the beginning of one fault to that of the next. */
const GAP_MILLIS = [1_200, 3_500] as const;

/** These need no tool and no privilege; even a short run has them. */
const always: ReadonlyArray<FaultKind> = ["kill", "pause", "cut", "flush-lost"];

/** Kinds that take the cluster down for longer are drawn less often. */
const weights: Readonly<Record<FaultKind, number>> = {
  kill: 5,
  "kill-all": 1,
  terminate: 1,
  pause: 4,
  cut: 2,
  "cut-one-way": 2,
  isolate: 2,
  delay: 3,
  swallow: 2,
  flaky: 3,
  "flush-lost": 2,
  "flush-kept": 2,
  "disk-full": 2,
  clock: 2,
  faketime: 1,
  seal: 1,
  rotate: 2,
  backup: 5,
  restore: 3,
  "old-disk": 1,
  "restore-day-zero": 1,
  "keys-away": 1,
  "clock-days": 2,
  strangers: 3,
  "strangers-at-peers": 3,
  crowd: 2,
  heavy: 2,
};

const lasts: Readonly<Record<FaultKind, readonly [least: number, most: number]>> = {
  kill: [50, 1_500],
  "kill-all": [50, 1_000],
  terminate: [50, 1_000],
  pause: [300, 4_000],
  cut: [200, 3_000],
  "cut-one-way": [200, 3_000],
  isolate: [500, 3_000],
  delay: [1_000, 4_000],
  swallow: [500, 3_000],
  flaky: [1_000, 4_000],
  "flush-lost": [50, 500],
  "flush-kept": [50, 500],
  "disk-full": [50, 500],
  clock: [2_000, 8_000],
  faketime: [2_000, 8_000],
  seal: [200, 2_000],
  rotate: [0, 0],
  backup: [50, 2_000],
  restore: [500, 6_000],
  "old-disk": [500, 6_000],
  "restore-day-zero": [50, 500],
  "keys-away": [3_000, 6_000],
  "clock-days": [1_000, 4_000],
  strangers: [4_000, 8_000],
  "strangers-at-peers": [4_000, 8_000],
  crowd: [4_000, 8_000],
  heavy: [3_000, 6_000],
};

const MOST_DELAY_MILLIS = 400;
const MOST_CLOCK_MILLIS = 7_000;
const MOST_FLAKY_PER_MILLE = 60;
const DAY_MILLIS = 86_400_000;

const amountOf = (random: Chance, kind: FaultKind): number => {
  switch (kind) {
    case "delay":
      return random.between(20, MOST_DELAY_MILLIS);
    case "clock":
    case "faketime":
      return random.between(500, MOST_CLOCK_MILLIS) * random.pick([-1, 1]);
    case "clock-days":
      return random.between(1, 3) * DAY_MILLIS * random.pick([-1, 1]);
    case "strangers":
    case "strangers-at-peers":
      return random.below(strangerWays.length);
    case "backup":
      return random.below(backupWays.length);
    case "restore":
      return random.below(restoreWays.length);
    case "flaky":
      return random.between(5, MOST_FLAKY_PER_MILLE);
    default:
      return 0;
  }
};

/** A backup for which no peer is killed. */
const harmless = (kind: FaultKind, amount: number): number =>
  kind === "backup" && backupWays[amount] === "peer killed" ? backupWays.indexOf("undisturbed") : amount;

const shuffled = <A>(random: Chance, all: ReadonlyArray<A>): ReadonlyArray<A> => {
  const left = [...all];
  return all.flatMap(() => left.splice(random.below(left.length), 1));
};

const total = Object.values(weights).reduce((sum, each) => sum + each, 0);

const drawKind = (random: Chance): FaultKind => {
  let drawn = random.below(total);
  return faultKinds.find((kind) => (drawn -= weights[kind]) < 0) ?? "kill";
};

/** The peer whose process nothing ends once every kind has come, so that its memory can be watched. */
export const sparedPeer = (seed: number, peers: number): number => 1 + new Chance(seed, SPARED + peers).below(peers);

/**
 * The faults of one cluster: every kind once while there is time for it, then by weight, and with one peer spared.
 *
 * @param millis how long the callers go on
 */
export const drawPlan = (seed: number, peers: number, millis: number): ReadonlyArray<PlannedFault> => {
  const random = new Chance(seed, PLAN + peers);
  const others = faultKinds.filter((kind) => !always.includes(kind));
  const first = [...shuffled(random, always), ...shuffled(random, others)];
  const plan: Array<PlannedFault> = [];
  const spared = sparedPeer(seed, peers);
  let at = FIRST_MILLIS;
  while (at < millis - QUIET_MILLIS) {
    const isLater = first.length === 0;
    const drawn = first.shift() ?? drawKind(random);
    const kind = isLater && drawn === "kill-all" ? "kill" : drawn;
    const named = 1 + random.below(peers);
    const slot = isLater && named === spared && endsProcess.has(kind) ? 1 + (named % peers) : named;
    const other = 1 + ((slot - 1 + random.between(1, Math.max(1, peers - 1))) % peers);
    const lastsMillis = random.between(...lasts[kind]);
    const amount = amountOf(random, kind);
    plan.push({
      at,
      isHurried: random.happens(HURRIED),
      kind,
      slot,
      other,
      lastsMillis,
      amount: isLater && slot === spared ? harmless(kind, amount) : amount,
    });
    // A mere burden is tested alone: beside other faults it would be unclear what stopped the changes.
    at += random.between(...GAP_MILLIS) + (costsWorkOnly.has(kind) ? lastsMillis : 0);
  }
  return plan;
};

/** One line for a planned fault. */
export const planLine = ({ at, isHurried, kind, slot, other, lastsMillis, amount }: PlannedFault): string => {
  const between = ["cut", "cut-one-way", "swallow", "flaky", "delay"].includes(kind);
  const where = ["kill-all", "crowd", "heavy"].includes(kind)
    ? "all peers"
    : between
      ? `peers ${slot} and ${other}`
      : `peer ${slot}`;
  const ways: ReadonlyArray<string> | undefined = kind.startsWith("strangers")
    ? strangerWays
    : { backup: backupWays, restore: restoreWays }[String(kind)];
  const how =
    ways !== undefined
      ? `, ${ways[amount]}`
      : amount === 0
        ? ""
        : `, ${amount}${kind === "flaky" ? " in 1000" : " ms"}`;
  return `${isHurried ? " " : "≥"}${(at / 1000).toFixed(1).padStart(5)} s  ${kind.padEnd(12)} ${where}${how}, for ${lastsMillis} ms`;
};
