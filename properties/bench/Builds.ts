/**
 * Registrations of this build and of another one, by turns, on clusters that run beside each other: what a change of the
 * program costs or saves, on a machine whose speed drifts.
 */
import { existsSync } from "node:fs";
import { builtIn } from "../cli/DevCluster.ts";
import type { Figures } from "./Cluster.ts";
import type { Loaded } from "./Load.ts";
import { type MeasuredCluster, startMeasuredCluster } from "./MeasuredCluster.ts";
import { cpuSeconds } from "./Processes.ts";
import { register } from "./Registrations.ts";
import { median, rounded } from "./Statistics.ts";

const PEERS = 3;
const ROUNDS = 6;
/** Callers, and how many registrations they ask for in one round. */
const loads = [
  { callers: 1, count: 300 },
  { callers: 32, count: 2_000 },
] as const;

interface Registered extends Loaded {
  /** User and system time of all peers for one registration. */
  readonly processorMillis: number;
}

interface Round {
  readonly here: Registered;
  readonly there: Registered;
}

type Load = (typeof loads)[number];

const registered = async ({ peers, token }: MeasuredCluster, { callers, count }: Load): Promise<Registered> => {
  const spent = (): number => peers.reduce((sum, { pid }) => sum + cpuSeconds(pid), 0);
  const before = spent();
  const loaded = await register(peers[0]?.url ?? "", token, callers, count);
  return { ...loaded, processorMillis: ((spent() - before) * 1000) / count };
};

/** The other way round in every second round: the first of two may be the slower one. */
const oneRound = async (
  [here, there]: readonly [MeasuredCluster, MeasuredCluster],
  asked: Load,
  isTurned: boolean,
): Promise<Round> => {
  if (!isTurned) return { here: await registered(here, asked), there: await registered(there, asked) };
  const first = await registered(there, asked);
  return { here: await registered(here, asked), there: first };
};

const figuresOf = (rounds: ReadonlyArray<Round>): Figures => {
  const processor = (build: keyof Round) => median(rounds.map((round) => round[build].processorMillis));
  const latency = (round: Round, build: keyof Round) => median(round[build].latencies);
  return {
    processorMillisHere: rounded(processor("here")),
    processorMillisThere: rounded(processor("there")),
    processorHereOverThere: rounded(
      median(rounds.map(({ here, there }) => here.processorMillis / there.processorMillis)),
    ),
    medianMillisHere: rounded(median(rounds.map((round) => latency(round, "here")))),
    medianMillisThere: rounded(median(rounds.map((round) => latency(round, "there")))),
    medianHereOverThere: rounded(median(rounds.map((round) => latency(round, "here") / latency(round, "there")))),
  };
};

const byTurns = async (both: Parameters<typeof oneRound>[0]): Promise<Readonly<Record<string, Figures>>> => {
  const figures: Record<string, Figures> = {};
  for (const asked of loads) {
    await oneRound(both, asked, false);
    const rounds: Array<Round> = [];
    for (let round = 0; round < ROUNDS; round++) rounds.push(await oneRound(both, asked, round % 2 === 1));
    figures[asked.callers === 1 ? "oneCaller" : `${asked.callers}Callers`] = figuresOf(rounds);
  }
  return figures;
};

export const isBuilt = (checkout: string): boolean => existsSync(builtIn(checkout));

/**
 * @param checkout a folder with another build in `dist`, and its modules
 * @returns for each load the medians of both, and of the ratios of all rounds
 */
export const measureBuilds = async (checkout: string): Promise<Readonly<Record<string, Figures>>> => {
  const here = await startMeasuredCluster(PEERS, "built");
  try {
    const there = await startMeasuredCluster(PEERS, { checkout });
    try {
      return await byTurns([here, there]);
    } finally {
      await there.stop();
    }
  } finally {
    await here.stop();
  }
};
