/** The plan of a run: what its options say, what its schedule decides, and the rest drawn from the seed. */
import { absurd } from "effect";
import type { Choices } from "../base/Choices.ts";
import { CALM_NETWORK, type Mode, type Plan, type WorkloadPlan } from "../base/Plan.ts";
import type { RunOptions } from "./RunOptions.ts";
import { tooMany } from "../schedules/PastBudget.ts";
import { narrowed } from "../schedules/NarrowLinks.ts";
import { drawnCapacities } from "../schedules/SmallCapacities.ts";
import { among, ANY_SIZE, CLUSTER, type Draft, type Schedule } from "../schedules/Schedule.ts";
import { scheduleOf } from "../schedules/Mix.ts";
import { scheduleNamed } from "../schedules/Schedules.ts";
import { type Tier, tierOf } from "../base/Tier.ts";
import type { Nemesis } from "../world/World.ts";

/** What callers do where a schedule does not say otherwise. */
const CALLERS: WorkloadPlan = {
  callers: 6,
  leastThinkMicros: 1_000,
  mostThinkMicros: 150_000,
  fresh: 40,
  keys: 0,
  retry: 15,
  conflict: 8,
  version: 8,
  replace: 12,
  guess: 4,
  race: 3,
  read: 15,
  isListing: true,
  readiness: 2,
  otherFormats: 0,
  invite: 0,
  finish: 0,
  wrongResponses: 300,
  follow: 0,
  edges: 0,
  badTokens: 30,
  shortTokens: 30,
  mostTokenMillis: 20_000,
  mostKeys: 1_500,
};

/** Steps before healing: many short seeds and some long ones find more in the same time. By processor time, planted bugs are found as soon with 250 steps as with 1,000; below 500 large clusters are hardly founded. */
const FAST_STEPS = [500, 500, 500, 500, 500, 500, 500, 500, 1_000, 1_000, 1_000, 2_000] as const;
/** How many runs in a thousand have sessions on the streams between peers. */
const SESSIONS = 250;
/** Within how long peers answer; and in how many runs in a thousand sooner, though late enough that silence is noticed first. */
const ANSWER_MILLIS = 10_000;
const SHORT_ANSWER_MILLIS = 3_000;
const SHORT_ANSWERS = 120;
/** In how many runs of a thousand invitations expire while their holders think. */
const SHORT_ENROLLMENTS = 300;
/** Fewer steps where each costs more. */
const CODEC_STEPS = 300;
const REAL_STEPS = 120;
/** Where keys are used: before one is made there is nothing to sign with. */
const REAL_STEPS_WITH_KEYS = 500;
/** A small cluster answers sooner, so that more of its steps are requests; a larger one needs more events for each. */
const STRETCHES = [0, 0.375, 0.75, 1, 1.5, 1.5] as const;

const drawnPeers = (choices: Choices, { sizes }: Schedule, mode: Mode): number => {
  // Past the budget two members at least fail, and one is left.
  const { quiet, drawn } = sizes ?? (mode === "past" ? CLUSTER : ANY_SIZE);
  return among(choices, "peers", quiet, ...drawn);
};

const drawnSteps = (choices: Choices, crypto: Tier, hasKeys: boolean): number => {
  switch (crypto) {
    case "fast":
      return among(choices, "steps", 500, ...FAST_STEPS);
    case "codec":
      return CODEC_STEPS;
    case "real":
      return hasKeys ? REAL_STEPS_WITH_KEYS : REAL_STEPS;
    default:
      return absurd(crypto);
  }
};

/** By which factor more peers need more steps than three, to be asked as often. */
const stretchOf = (peers: number): number => STRETCHES[peers] ?? peers;

const withoutPromotion = ({ promotion: _none, ...draft }: Draft): Draft => draft;

/** The plan of a run, and its faults that wait for a moment; its choices are those of the same seed. */
export const planOf = (
  options: RunOptions,
  choices: Choices,
): { readonly plan: Plan; readonly nemeses: ReadonlyArray<Nemesis> } => {
  const { seed } = options;
  const name = scheduleOf(options);
  const mode = options.mode ?? "within";
  const schedule = scheduleNamed(name);
  const peers = options.peers ?? drawnPeers(choices, schedule, mode);
  const drawn = tierOf(seed);
  const crypto = options.crypto ?? (schedule.isSealed === true && drawn === "fast" ? "codec" : drawn);
  const planned = schedule.plan(choices);
  // Alone nobody becomes a cluster, and past the budget no cluster is asked to come about.
  const draft = peers > 1 && mode !== "past" ? planned : withoutPromotion(planned);
  const promotion = draft.promotion && { ...draft.promotion, source: Math.min(draft.promotion.source, peers) };
  const plan: Plan = {
    faults: new Map(),
    faultMicros: 200_000,
    faultsWhileFounding: false,
    network: CALM_NETWORK,
    disk: { leastFlushMicros: 100, mostFlushMicros: 400 },
    clockOffsetMillis: 500,
    clockDriftPerMillion: 50,
    clockMovesMillis: among(choices, "clockMovesMillis", 0, 0, 1, 20),
    redelivery: 60,
    bodyBytes: 0,
    sessionMillis: choices.plan("short enrollments").chance("happens", SHORT_ENROLLMENTS) ? 2_000 : 20_000,
    answerMillis: choices.plan("short answers").chance("happens", SHORT_ANSWERS) ? SHORT_ANSWER_MILLIS : ANSWER_MILLIS,
    ...draft,
    ...(promotion === undefined ? {} : { promotion }),
    ...(schedule.isRoomy === true ? {} : narrowed(choices)),
    ...(choices.plan("sessions").chance("happens", SESSIONS) ? { hasSessions: true } : {}),
    capacities: { ...(schedule.isRoomy === true ? {} : drawnCapacities(choices)), ...draft.capacities },
    workload: {
      ...CALLERS,
      ...draft.workload,
      ...(options.callers === undefined ? {} : { callers: options.callers }),
    },
    seed,
    schedule: name,
    mode,
    peers,
    crypto,
    steps:
      options.steps ??
      (crypto === "fast" ? draft.steps : undefined) ??
      Math.round(drawnSteps(choices, crypto, (draft.workload?.keys ?? 0) > 0) * stretchOf(peers)),
  };
  const nemeses = schedule.nemeses?.(choices, draft) ?? [];
  return { plan, nemeses: mode === "past" ? [...nemeses, ...tooMany(choices, peers)] : nemeses };
};
