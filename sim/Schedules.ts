/** Named schedules: a plan drawn from a seed, and moments to wait for (protocol.md 6). */
import { faultNames, type FaultName } from "./Faults.ts";
import { CALM_NETWORK, type Mode, type Plan, type WorkloadPlan } from "./Plan.ts";
import type { NetworkPlan } from "./Network.ts";
import { Choices } from "./Choices.ts";
import type { Nemesis } from "./World.ts";
import { moments } from "./Moments.ts";
import { type Tier, tierOf } from "./Tier.ts";
import { clonedDisk } from "./faults/ClonedDisk.ts";
import { lateReceipt } from "./faults/LateReceipt.ts";
import { betray, treasonNames } from "./faults/Treason.ts";

const CALLERS: WorkloadPlan = {
  callers: 6,
  leastThinkMicros: 1_000,
  mostThinkMicros: 150_000,
  fresh: 40,
  retry: 15,
  conflict: 8,
  version: 8,
  replace: 12,
  guess: 4,
  race: 3,
  read: 15,
  readiness: 2,
  otherFormats: 0,
  invite: 0,
  finish: 0,
  follow: 0,
  badTokens: 30,
  shortTokens: 30,
  mostTokenMillis: 20_000,
  mostKeys: 1_500,
};

/** What callers do where enrollment is what matters. */
const HOLDERS: Partial<WorkloadPlan> = { fresh: 10, conflict: 4, version: 4, invite: 25, finish: 60 };

/** Callers that ask for options and for nothing else. */
const ONLY_REGISTRARS: Partial<WorkloadPlan> = {
  fresh: 0,
  retry: 0,
  conflict: 0,
  version: 0,
  replace: 0,
  guess: 0,
  race: 0,
  read: 0,
  readiness: 0,
  invite: 1,
  shortTokens: 0,
};

/** Slow enough that a token may expire between two messages. */
const SLUGGISH: NetworkPlan = { leastDelay: 500, mostDelay: 250_000, loss: 0, duplication: 0 };

const BUSY_FAULTS: ReadonlyArray<FaultName> = [
  "crash during a flush",
  "crash during a flush, bytes visible",
  "crash between actions",
  "power loss during a flush",
];

const weights = (...names: ReadonlyArray<FaultName>): ReadonlyMap<FaultName, number> =>
  new Map(names.map((name) => [name, 10]));

/** The part of a plan that a schedule decides; everything else comes from the base. */
type Draft = Partial<Omit<Plan, "workload">> & { readonly workload?: Partial<WorkloadPlan> };

interface Schedule {
  readonly plan: (choices: Choices) => Draft;
  readonly nemeses?: (choices: Choices) => ReadonlyArray<Nemesis>;
}

/** Enough events to take every place there is for a preparation. */
const STORM_STEPS = 8_000;

/** These leave rows that do not hold, until they are repaired. */
const DAMAGING: ReadonlyArray<FaultName> = ["bit rot", "deleted row", "torn write", "lost integrity key"];

/** These have schedules of their own; in the mix they would mostly take peers out. */
const RARE: ReadonlySet<FaultName> = new Set([
  "bit rot",
  "deleted row",
  "torn write",
  "full disk",
  "power loss everywhere",
  "crash everywhere",
  "clock step beyond bounds",
  "declared restore",
  "lost integrity key",
]);

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

/** A field of a plan that is drawn evenly from a stretch, or from some values. */
const within = (choices: Choices, field: string, quiet: number, least: number, most: number): number =>
  choices.plan(field).between("value", quiet, least, most);

const among = (choices: Choices, field: string, quiet: number, ...values: [number, ...Array<number>]): number =>
  choices.plan(field).oneOf("value", quiet, values);

const swarm = (choices: Choices): Draft => ({
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
    invite: among(choices, "invite", 0, 0, 0, 5, 20),
    finish: among(choices, "finish", 0, 0, 20, 40),
    follow: among(choices, "follow", 0, 0, 0, 10),
    badTokens: among(choices, "badTokens", 0, 0, 20, 200),
    shortTokens: among(choices, "shortTokens", 0, 0, 20, 300),
    mostTokenMillis: among(choices, "mostTokenMillis", 20_000, 5_500, 20_000),
  },
});

const rarely = (choices: Choices, what: string, perMille: number): boolean =>
  choices.plan(what).chance("happens", perMille);

/** What may become of one member that nobody can trust any more. */
const faulty = (choices: Choices): Nemesis => {
  const kinds = ["rollback", ...treasonNames] as const;
  const kind = choices.plan("faulty member").named("kind", "rollback", kinds, [1, 1, 1, 1, 1, 1]);
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

/** At most one member is faulty, which is what the protocol promises to stand. */
const swarmNemeses = (choices: Choices): ReadonlyArray<Nemesis> => [
  ...(rarely(choices, "a faulty member", 200) ? [faulty(choices)] : []),
  ...(rarely(choices, "a moment to strike at", 250) ? [anyMoment(choices)] : []),
];

/** Two members or more are lost or faulty, each in its own way; one at least is left. */
const tooMany = (choices: Choices, peers: number): ReadonlyArray<Nemesis> => {
  const spared = choices.plan("spared member").between("peer", 1, 1, peers);
  const others = Array.from({ length: peers }, (_, index) => index + 1).filter((slot) => slot !== spared);
  const bad = others.filter((slot, index) => index < 2 || rarely(choices, `peer ${slot} is bad too`, 300));
  return bad.map((slot) => {
    const unit = choices.plan(`what becomes of peer ${slot}`);
    if (unit.chance("is lost", 500)) return moments.loseOne(choices, slot);
    return slot === 1
      ? betray(unit.named("betrays as", "lying writer", treasonNames, [1, 1, 1, 1, 1]), slot)
      : betray("equivocating refuser", slot);
  });
};

const schedules = {
  swarm: { plan: swarm, nemeses: swarmNemeses },
  calm: { plan: () => ({}) },
  "drop-dup-reorder": {
    plan: () => ({
      network: { leastDelay: 50, mostDelay: 40_000, loss: 80, duplication: 150 },
      faults: weights("lossy link", "reordering network", "duplicating network", "replayed message"),
    }),
  },
  "flapping-link": { plan: () => ({ faults: weights("flapping link") }) },
  "one-way-partition": { plan: () => ({ faults: weights("one-way cut", "partition") }) },
  "isolate-writer-after-prepare": { plan: () => ({}), nemeses: () => [moments.isolateWriterAfterPrepare()] },
  "isolate-one-preparer": { plan: () => ({}), nemeses: () => [moments.isolateOnePreparer()] },
  "crash-at-every-sync": {
    plan: () => ({ faultsWhileFounding: true }),
    nemeses: (choices: Choices) => [moments.crashAtEverySync(choices)],
  },
  "crash-between-commit-deliveries": { plan: () => ({}), nemeses: () => [moments.crashBetweenCommits()] },
  "writer-restart-loses-evidence": { plan: () => ({}), nemeses: () => [moments.writerRestartAfterPrepare()] },
  // Members are sealed or gone for a moment, so that the writer turns away what would be done a second later.
  "copy-after-restart": {
    plan: () => ({
      faults: weights("seal", "crash"),
      faultMicros: 800_000,
      workload: { replace: 60, read: 60, callers: 4 },
    }),
    nemeses: () => [moments.copyAfterRestart()],
  },
  // A member stays sealed until the writer has turned away more than it remembers.
  "copy-after-storm": {
    plan: () => ({
      steps: 2 * STORM_STEPS,
      workload: { replace: 60, read: 60, callers: 240, mostThinkMicros: 400_000 },
    }),
    nemeses: () => [moments.copyAfterStorm()],
  },
  "deadline-knife-edge": {
    plan: () => ({
      clockOffsetMillis: 2_400,
      faults: weights("clock step within bounds", "slow link", "one-way cut", "token keys unavailable"),
      network: SLUGGISH,
      workload: { shortTokens: 700, mostTokenMillis: 5_000 },
    }),
  },
  "token-expires-mid-collect": {
    plan: () => ({
      faults: weights("slow link", "token keys unavailable", "slow disk"),
      network: SLUGGISH,
      workload: { shortTokens: 1000, mostTokenMillis: 5_000 },
    }),
  },
  "twin-keys-two-ids": {
    plan: () => ({
      faults: weights(...BUSY_FAULTS, "lossy link"),
      workload: { fresh: 10, conflict: 60, callers: 16, mostThinkMicros: 4_000 },
    }),
  },
  // One key, submitted in one format after another, under its own id and under others.
  "format-switch-same-key": {
    plan: () => ({
      faults: weights(...BUSY_FAULTS, "lossy link", "request through two peers"),
      workload: { fresh: 12, retry: 40, conflict: 40, callers: 12, mostThinkMicros: 8_000, otherFormats: 600 },
    }),
  },
  "retry-storm-identical": {
    plan: () => ({
      faults: weights(...BUSY_FAULTS, "lossy network"),
      workload: { fresh: 4, retry: 90, callers: 24, mostThinkMicros: 3_000 },
    }),
  },
  // Members now and then refuse what others have joined.
  "retry-storm-refused": {
    plan: () => ({
      faults: weights("one-way cut", "token keys unavailable"),
      // Fewer, or links are down all the time and nothing is proposed.
      faultMicros: 3_000_000,
      steps: 3_000,
      network: SLUGGISH,
      workload: { fresh: 10, retry: 10, follow: 80, callers: 24, mostThinkMicros: 20_000 },
    }),
    nemeses: () => [moments.disbelieveTokens()],
  },
  "metadata-ping-pong": {
    plan: () => ({
      faults: weights(...BUSY_FAULTS, "lossy network", "duplicating network", "replayed message", "slow link", "crash"),
      faultMicros: 1_500_000,
      workload: {
        fresh: 6,
        retry: 6,
        conflict: 0,
        version: 0,
        replace: 50,
        guess: 15,
        race: 30,
        callers: 12,
        mostThinkMicros: 20_000,
        mostKeys: 6,
      },
    }),
  },
  "receipt-replay-cross-topology": {
    plan: () => ({ faults: weights("altered message", "altered in flight", "replayed message"), faultMicros: 20_000 }),
  },
  "forged-merkle-proof": {
    plan: () => ({ faults: weights("altered message", "altered in flight", "forged envelope"), faultMicros: 20_000 }),
  },
  "row-tamper-delete": {
    plan: () => ({ faults: weights("bit rot", "deleted row", "torn write", "repaired rows", "crash") }),
  },
  // The writer finds a row damaged while requests wait that others have forwarded.
  "damage-under-forward": {
    plan: () => ({
      faults: weights("repaired rows"),
      workload: { fresh: 20, retry: 60, callers: 12, mostThinkMicros: 40_000 },
    }),
    nemeses: () => [moments.damageUnderForward()],
  },
  "integrity-history-missing": {
    plan: () => ({
      faults: weights("rotated integrity key", "lost integrity key", "repaired rows", "crash", "seal", ...BUSY_FAULTS),
    }),
  },
  "wal-tail-loss": {
    plan: () => ({
      faults: weights("torn write", "repaired rows", "power loss during a flush", "power loss", "crash, bytes visible"),
      disk: { leastFlushMicros: 500, mostFlushMicros: 8_000 },
    }),
  },
  "disk-full": { plan: () => ({ faults: weights("full disk", "failed flush, lost") }) },
  "pause-and-drift": {
    plan: () => ({ faults: weights("pause", "clock drift", "clock step within bounds"), clockOffsetMillis: 1_000 }),
  },
  "sync-error": { plan: () => ({ faults: weights("failed flush, lost", "failed flush, durable") }) },
  "seal-unseal-churn": { plan: () => ({ faults: weights("seal"), faultMicros: 150_000, faultsWhileFounding: true }) },
  "slow-disk-pipeline": {
    plan: () => ({
      disk: { leastFlushMicros: 20_000, mostFlushMicros: 200_000 },
      faults: weights("slow disk", "crash during a flush, bytes visible", "crash during a flush"),
      workload: { callers: 40, mostThinkMicros: 5_000 },
    }),
  },
  "batch-mixed-votes": {
    plan: () => ({
      faults: weights("token keys unavailable", "clock step within bounds", "one-way cut"),
      workload: { callers: 40, mostThinkMicros: 2_000, shortTokens: 400, mostTokenMillis: 5_000, conflict: 20 },
      network: SLUGGISH,
      clockOffsetMillis: 2_400,
    }),
  },
  "wiped-peer": {
    plan: () => ({ faultsWhileFounding: true }),
    nemeses: (choices: Choices) => [moments.wipeOne(choices)],
  },
  "rollback-silent": {
    plan: (choices: Choices) => ({
      faults: choices.plan("other faults").chance("may happen", 500)
        ? weights(...BUSY_FAULTS, "lossy link", "slow link")
        : new Map(),
    }),
    nemeses: (choices: Choices) => [moments.rollBackOne(choices)],
  },
  "cloned-disk": {
    plan: () => ({ faults: weights("lossy link", "slow link") }),
    nemeses: (choices: Choices) => [clonedDisk(choices)],
  },
  "equivocating-writer": {
    plan: (choices: Choices) => ({
      faults: rarely(choices, "other faults", 600)
        ? weights(...BUSY_FAULTS, "one-way cut", "replayed message", "slow link")
        : new Map(),
    }),
    nemeses: () => [betray("equivocating writer")],
  },
  "lying-writer": { plan: () => ({ faults: weights("crash") }), nemeses: () => [betray("lying writer")] },
  "equivocating-refuser": {
    plan: (choices: Choices) => ({
      faults: rarely(choices, "other faults", 600)
        ? weights(...BUSY_FAULTS, "one-way cut", "slow link", "partition")
        : new Map(),
    }),
    nemeses: () => [betray("equivocating refuser")],
  },
  "lying-session-writer": {
    plan: () => ({ faults: weights("crash"), workload: { ...HOLDERS, callers: 12 } }),
    nemeses: () => [betray("lying session writer")],
  },
  "forgetful-keeper": {
    plan: () => ({ faults: weights("crash"), workload: { ...HOLDERS, callers: 12 } }),
    nemeses: () => [betray("forgetful keeper")],
  },
  // The writer itself contradicts itself: it has all receipts, shows a refusal, and delivers what it kept back later.
  "late-certificate-vs-settlement": {
    plan: () => ({ faults: weights("slow link", "one-way cut") }),
    nemeses: () => [betray("equivocating refuser", 1)],
  },
  // Nobody knows who settles: the writer is cut off, and the others are slow to hear of each other.
  "two-initiators": {
    plan: () => ({ faults: weights("slow link", "one-way cut"), faultMicros: 400_000 }),
    nemeses: () => [moments.isolateWriterAfterPrepare(), moments.isolateOnePreparer()],
  },
  "silent-preparer": { plan: () => ({ faults: weights("silent member", "pause") }) },
  "rollback-declared": {
    plan: (choices: Choices) => ({
      faults: choices.plan("other faults").chance("may happen", 500)
        ? weights(...BUSY_FAULTS, "lossy link", "slow link")
        : new Map(),
    }),
    nemeses: (choices: Choices) => [moments.restoreDeclared(choices, { times: 1 })],
  },
  "double-declared-restore": {
    plan: (choices: Choices) => ({
      faults: choices.plan("other faults").chance("may happen", 500)
        ? weights(...BUSY_FAULTS, "lossy link")
        : new Map(),
    }),
    nemeses: (choices: Choices) => [moments.restoreDeclared(choices, { times: 3 })],
  },
  "recover-under-load": {
    plan: () => ({
      faults: weights(...BUSY_FAULTS, "lossy network", "reordering network", "replayed message", "crash"),
      workload: { callers: 24, mostThinkMicros: 4_000 },
    }),
    nemeses: (choices: Choices) => [moments.restoreDeclared(choices, { times: 2 })],
  },
  "recover-helper-lagging": {
    plan: () => ({ workload: { callers: 12, mostThinkMicros: 20_000 } }),
    nemeses: (choices: Choices) => [moments.restoreDeclared(choices, { times: 1, isHelperLagging: true })],
  },
  // All 256 places are taken by what nobody decides until it has expired, and longer.
  "expiry-storm-256": {
    plan: () => ({
      steps: STORM_STEPS,
      workload: {
        callers: 320,
        fresh: 60,
        replace: 2,
        mostThinkMicros: 40_000,
        shortTokens: 1000,
        mostTokenMillis: 12_000,
      },
    }),
    nemeses: () => [moments.silenceOne()],
  },
  // The story of docs/decisions/0015, decision 5: what an old acknowledgement has freed must not be refused by a new life.
  "restores-around-late-receipt": {
    plan: () => ({ workload: { callers: 2, mostThinkMicros: 400_000 } }),
    nemeses: () => [lateReceipt()],
  },
  // Holders answer the same options, with two authenticators and through two peers.
  "finish-race-two-peers": {
    plan: () => ({
      faults: weights(...BUSY_FAULTS, "lossy link", "duplicating network"),
      workload: { ...HOLDERS, callers: 16, mostThinkMicros: 8_000 },
    }),
  },
  "finish-invalid-then-valid": {
    plan: () => ({
      faults: weights("lossy network", "replayed message", "crash", "token keys unavailable"),
      workload: { ...HOLDERS, badTokens: 200 },
    }),
  },
  // More options than there is room for, and sessions that end while they are answered.
  "session-capacity-edge": {
    plan: (choices: Choices) => ({
      sessionMillis: choices.plan("sessionMillis").oneOf("value", 60_000, [3_000, 60_000]),
      faults: weights(...BUSY_FAULTS, "slow link"),
      workload: { ...HOLDERS, callers: 24, mostThinkMicros: 10_000, invite: 80, finish: 30 },
    }),
  },
  // More attempts fail at one member than the others have room for.
  "session-storm": {
    plan: () => ({
      steps: STORM_STEPS,
      sessionMillis: 60_000,
      workload: { ...ONLY_REGISTRARS, callers: 64 },
    }),
    nemeses: () => [moments.silenceOne()],
  },
  // Members crash with a response reserved, and sessions end meanwhile.
  "finish-across-crashes": {
    plan: () => ({
      sessionMillis: 4_000,
      faults: weights(...BUSY_FAULTS, "clock step within bounds", "slow link"),
      clockOffsetMillis: 1_000,
      workload: HOLDERS,
    }),
    nemeses: () => [moments.crashReserved()],
  },
  "enroll-and-restore": {
    plan: () => ({ faults: weights(...BUSY_FAULTS), workload: HOLDERS }),
    nemeses: (choices: Choices) => [moments.restoreDeclared(choices, { times: 2 })],
  },
  "duplicate-id": { plan: () => ({}), nemeses: () => [moments.duplicateId()] },
} as const satisfies { readonly [name: string]: Schedule };

export type ScheduleName = keyof typeof schedules;
export const scheduleNames = Object.keys(schedules) as ReadonlyArray<ScheduleName>;
export const DEFAULT_SCHEDULE: ScheduleName = "swarm";

export const isSchedule = (name: string): name is ScheduleName => Object.hasOwn(schedules, name);

/** What a run may be told; everything else follows from the seed. */
export interface RunOptions {
  readonly seed: number;
  readonly schedule?: ScheduleName | undefined;
  /** 1 to 32; drawn from 1, 2, 3, 3, 5 without. */
  readonly peers?: number | undefined;
  /** Events before healing. */
  readonly steps?: number | undefined;
  /** Within the fault budget without. */
  readonly mode?: Mode | undefined;
  /** How much is computed as on a real peer; the seed says without. */
  readonly crypto?: Tier | undefined;
  /** How many callers; the schedule says without. */
  readonly callers?: number | undefined;
}

/** Steps before healing: many short seeds and some long ones find more in the same time (decision 0019). */
const FAST_STEPS = [500, 500, 500, 500, 1_000, 1_000, 2_000] as const;
/** Fewer where each costs more. */
const CODEC_STEPS = 400;
const REAL_STEPS = 120;
/** More peers than this need more events to get as far. */
const FEW_PEERS = 3;
const SOME_PEERS = 5;
/** These need somebody else to fail. */
const CLUSTERS_ONLY: ReadonlySet<ScheduleName> = new Set([
  "wiped-peer",
  "duplicate-id",
  "rollback-silent",
  "rollback-declared",
  "double-declared-restore",
  "recover-under-load",
  "recover-helper-lagging",
  "enroll-and-restore",
  "equivocating-writer",
  "lying-writer",
  "lying-session-writer",
  "forgetful-keeper",
  "session-storm",
  "copy-after-restart",
  "copy-after-storm",
  "damage-under-forward",
  "equivocating-refuser",
  "late-certificate-vs-settlement",
  "two-initiators",
  "silent-preparer",
  "expiry-storm-256",
  "cloned-disk",
]);

/** With fewer members nobody is left who was never restored and still holds its pledge. */
const STORY_OF_FOUR: ScheduleName = "restores-around-late-receipt";

const drawnPeers = (choices: Choices, name: ScheduleName, mode: Mode): number =>
  name === STORY_OF_FOUR
    ? among(choices, "peers", 4, 4, 5)
    : mode === "past" || CLUSTERS_ONLY.has(name)
      ? among(choices, "peers", 3, 3, 3, 5)
      : among(choices, "peers", 3, 1, 2, 3, 3, 3, 5);

const drawnSteps = (choices: Choices, crypto: Tier): number => {
  switch (crypto) {
    case "fast":
      return among(choices, "steps", 500, ...FAST_STEPS);
    case "codec":
      return CODEC_STEPS;
    case "real":
      return REAL_STEPS;
  }
};

/** How many times the steps of a small cluster one of so many peers needs to get as far. */
const stretchOf = (peers: number): number => (peers > SOME_PEERS ? peers : peers > FEW_PEERS ? 2 : 1);

/** The plan of a run, and what waits for its moments; its choices are those of the same seed. */
export const planOf = (
  options: RunOptions,
  choices: Choices,
): { readonly plan: Plan; readonly nemeses: ReadonlyArray<Nemesis> } => {
  const { seed } = options;
  const name = options.schedule ?? DEFAULT_SCHEDULE;
  const mode = options.mode ?? "within";
  const peers = options.peers ?? drawnPeers(choices, name, mode);
  const crypto = options.crypto ?? tierOf(seed);
  const schedule: Schedule = schedules[name];
  const draft = schedule.plan(choices);
  const plan: Plan = {
    faults: new Map(),
    faultMicros: 200_000,
    faultsWhileFounding: false,
    network: CALM_NETWORK,
    disk: { leastFlushMicros: 100, mostFlushMicros: 400 },
    clockOffsetMillis: 500,
    clockDriftPerMillion: 50,
    redelivery: 60,
    sessionMillis: 20_000,
    ...draft,
    workload: { ...CALLERS, ...draft.workload, ...(options.callers === undefined ? {} : { callers: options.callers }) },
    seed,
    schedule: name,
    mode,
    peers,
    crypto,
    steps:
      options.steps ?? (crypto === "fast" ? draft.steps : undefined) ?? drawnSteps(choices, crypto) * stretchOf(peers),
  };
  const nemeses = schedule.nemeses?.(choices) ?? [];
  return { plan, nemeses: mode === "past" ? [...nemeses, ...tooMany(choices, peers)] : nemeses };
};
