/**
 * A random subset of all faults with random weights, and at times a faulty member or a moment to strike at: a quarter
 * of the default mix. All this is drawn for every seed of a hunt, so a new fault changes what old seeds do.
 */
import type { Choices } from "../base/Choices.ts";
import { faultNames, type FaultName } from "../faults/Faults.ts";
import { betray, treasonNames } from "../faults/Treason.ts";
import { moments } from "../moments/Moments.ts";
import type { Nemesis } from "../world/World.ts";
import { anyOfPromotion, anySource } from "./PromotionSchedules.ts";
import { among, type Draft, happens, type Schedule } from "./Schedule.ts";

/** These leave rows that do not hold, until they are repaired. */
const DAMAGING: ReadonlyArray<FaultName> = [
  "bit rot",
  "deleted row",
  "lost record",
  "torn write",
  "lost integrity key",
];

/** These have schedules of their own; in the mix they would mostly put peers out of action. */
const RARE: ReadonlySet<FaultName> = new Set([
  "bit rot",
  "deleted row",
  "torn write",
  "full disk",
  "power loss everywhere",
  "crash everywhere",
  "clock step beyond bounds",
  "clock days off",
  "declared restore",
  "restores declared everywhere",
  "lost integrity key",
  "another relying party",
]);

/** An instance that is alone has no witness of what its disk has lost. */
const UNPROMISED: ReadonlySet<string> = new Set([...RARE, ...DAMAGING, "repaired rows", "silent member"]);

const swarmFaults = (choices: Choices): ReadonlyMap<string, number> => {
  const faults = new Map<FaultName, number>();
  for (const name of faultNames) {
    const unit = choices.plan(`fault ${name}`);
    if (unit.chance("may happen", RARE.has(name) ? 150 : 450))
      faults.set(name, unit.between("weight", 1, 1, RARE.has(name) ? 4 : 30));
  }
  if (DAMAGING.some((name) => faults.has(name))) faults.set("repaired rows", 40);
  return faults;
};

/** A field of a plan that is drawn evenly from a range. */
const within = (choices: Choices, field: string, quiet: number, least: number, most: number): number =>
  choices.plan(field).between("value", quiet, least, most);

/** What peers that are not a cluster yet stand, as far as they promise anything. */
const inPromotion = (faults: ReadonlyMap<string, number>): ReadonlyMap<string, number> =>
  new Map([...faults].filter(([name]) => !UNPROMISED.has(name)));

/** Drawn by itself, so that nothing else moves: some worlds begin with one that is alone. */
const plan = (choices: Choices): Draft => {
  const draft = planOfAll(choices);
  if (!happens(choices, "is alone first", 50)) return draft;
  return { ...draft, faults: inPromotion(draft.faults ?? new Map()), promotion: anySource(choices) };
};

/** All of a plan that a swarm draws, of a cluster that is one from the beginning. */
export const planOfAll = (choices: Choices): Draft => ({
  faults: swarmFaults(choices),
  faultMicros: among(choices, "faultMicros", 400_000, 100_000, 400_000, 1_500_000, 6_000_000),
  faultsWhileFounding: choices.plan("faultsWhileFounding").chance("value", 400),
  clockOffsetMillis: among(choices, "clockOffsetMillis", 0, 0, 5, 1_000, 2_000),
  clockDriftPerMillion: among(choices, "clockDriftPerMillion", 0, 0, 0, 50, 500),
  network: {
    leastDelay: within(choices, "leastDelay", 300, 50, 500),
    mostDelay: among(choices, "mostDelay", 600, 600, 2_000, 20_000),
    loss: among(choices, "loss", 0, 0, 0, 10, 60),
    duplication: among(choices, "duplication", 0, 0, 0, 20, 150),
  },
  disk: {
    leastFlushMicros: 100,
    mostFlushMicros: among(choices, "mostFlushMicros", 150, 150, 1_000, 10_000, 60_000),
  },
  workload: {
    callers: among(choices, "callers", 1, 1, 3, 8, 24),
    mostThinkMicros: among(choices, "mostThinkMicros", 60_000, 5_000, 60_000, 400_000),
    fresh: within(choices, "fresh", 40, 10, 60),
    retry: within(choices, "retry", 0, 0, 30),
    conflict: within(choices, "conflict", 0, 0, 20),
    version: within(choices, "version", 0, 0, 20),
    replace: within(choices, "replace", 0, 0, 30),
    guess: within(choices, "guess", 0, 0, 10),
    race: within(choices, "race", 0, 0, 15),
    read: within(choices, "read", 0, 0, 20),
    isListing: happens(choices, "lists", 120),
    invite: among(choices, "invite", 0, 0, 0, 5, 20),
    finish: among(choices, "finish", 0, 0, 20, 40),
    otherFormats: among(choices, "otherFormats", 0, 0, 100, 400),
    edges: among(choices, "edges", 0, 0, 0, 60, 200),
    follow: among(choices, "follow", 0, 0, 0, 10),
    badTokens: among(choices, "badTokens", 0, 0, 20, 200),
    shortTokens: among(choices, "shortTokens", 0, 0, 20, 300),
    mostTokenMillis: among(choices, "mostTokenMillis", 20_000, 5_500, 20_000),
  },
});

/** What may become of one member that nobody can trust any more. */
const faulty = (choices: Choices): Nemesis => {
  const kinds = ["rollback", ...treasonNames] as const;
  const kind = choices.plan("faulty member").named("kind", "rollback", kinds, [1, 1, 1, 1, 1, 1, 1]);
  return kind === "rollback" ? moments.rollBackOne(choices) : betray(kind);
};

const honestMoments = {
  "isolate the writer": moments.isolateWriterAfterPrepare,
  "isolate a preparer": moments.isolateOnePreparer,
  "crash between commits": moments.crashBetweenCommits,
  "restart the writer": moments.writerRestartAfterPrepare,
} as const;

/** One moment of the protocol to strike at, of those that leave every member honest. */
const anyMoment = (choices: Choices): Nemesis => {
  const names = Object.keys(honestMoments) as ReadonlyArray<keyof typeof honestMoments>;
  const name = choices.plan("moment").named("which", "isolate the writer", names, [1, 1, 1, 1]);
  return honestMoments[name]();
};

/** A member that may lie about anything comes as often as all others that lie. */
export const anyFaulty = (choices: Choices): ReadonlyArray<Nemesis> => {
  if (happens(choices, "a faulty member", 200)) return [faulty(choices)];
  return happens(choices, "a loose tongue", 150) ? [betray("loose tongue")] : [];
};

/** At most one member is faulty, which is what the protocol promises to stand. */
const nemeses = (choices: Choices, { promotion }: Draft): ReadonlyArray<Nemesis> =>
  promotion === undefined
    ? [
        ...(happens(choices, "an older version", 40) ? [moments.olderVersion(choices, [1, 20])] : []),
        ...anyFaulty(choices),
        ...(happens(choices, "a moment to strike at", 250) ? [anyMoment(choices)] : []),
      ]
    : anyOfPromotion(choices);

export const swarm: Schedule = { share: 4_000, marks: {}, plan, nemeses };
