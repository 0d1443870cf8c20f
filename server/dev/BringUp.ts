/** From a started process to a peer that is ready: initialize it if it is new, unseal it, wait. */
import { Effect, Either, type Redacted, Schedule, Schema } from "effect";
import { readInitAnswer, readPromotionAnswer, readStatusAnswer, readUnsealAnswer } from "../cli/Answers.ts";
import { awaitVerified, progressText } from "../cli/AwaitVerified.ts";
import { CliFailure } from "../cli/CliFailure.ts";
import { printErrorLines } from "../cli/Output.ts";
import type { Problem } from "../cli/Problem.ts";
import { openService, type Service } from "../cli/ServiceClient.ts";
import { readBoundedText } from "../config/BoundedFile.ts";
import { awaitChange } from "./AwaitChange.ts";
import { type Cluster, type ClusterPeer, SOURCE, thresholdOf } from "./ClusterFile.ts";
import type { DevFolder } from "./DevFolder.ts";
import { httpUrl, peerUrl } from "./PeerConfigFile.ts";
import { lastLogLines, type PeerProcess } from "./PeerProcess.ts";
import { writePrivateFile } from "./PrivateFile.ts";

export interface StartedPeer {
  readonly peer: ClusterPeer;
  readonly process: PeerProcess;
}

/** From the start of a process until it answers; and without any progress until it is ready. */
const patienceMillis = 60_000;
const pollMillis = 100;
const shownLogLines = 15;

const SharesFile = Schema.parseJson(Schema.Struct({ peerId: Schema.Number, shares: Schema.Array(Schema.String) }));

const fault = (folder: DevFolder, id: number, how: string, problem?: Problem): CliFailure =>
  new CliFailure({
    kind: "unreachable",
    message: [
      `peer ${id} ${how}; the end of ${folder.peer(id).log}:`,
      ...lastLogLines(folder.peer(id), shownLogLines).map((line) => `  ${line}`),
    ].join("\n"),
    problem,
  });

/** Fails when the process ends. */
const ended = (folder: DevFolder, { peer, process }: StartedPeer): Effect.Effect<never, CliFailure> =>
  Effect.suspend(() => Effect.succeed(process.ending())).pipe(
    Effect.repeat({ schedule: Schedule.spaced(pollMillis), while: (how) => how === undefined }),
    Effect.flatMap(() => Effect.fail(fault(folder, peer.id, process.ending() ?? "has ended"))),
  );

/** Repeats a question until it is answered, the process ends, or time is up. */
const patiently = <A>(
  folder: DevFolder,
  { peer, process }: StartedPeer,
  question: Effect.Effect<A, CliFailure>,
): Effect.Effect<A, CliFailure> =>
  question.pipe(
    Effect.retry({
      schedule: Schedule.spaced(pollMillis).pipe(Schedule.upTo(patienceMillis)),
      while: () => process.ending() === undefined,
    }),
    Effect.mapError(({ problem }) => {
      const how = process.ending();
      return how === undefined
        ? fault(folder, peer.id, `is not ready after ${patienceMillis / 1000} s`, problem)
        : fault(folder, peer.id, how);
    }),
  );

const get = ({ call }: Service, path: string) => call({ method: "GET", path: `/v1/custody/system/${path}` });

const savedShares = (folder: DevFolder, id: number): Effect.Effect<ReadonlyArray<string>> =>
  readBoundedText(folder.peer(id).shares, { maxBytes: 64 * 1024, secret: true }).pipe(
    Effect.flatMap(Schema.decodeUnknown(SharesFile)),
    Effect.map(({ shares }) => shares),
    Effect.orElseSucceed(() => []),
  );

/** Initializes a peer and keeps its shares before anything else happens: init may be repeated until the first unseal. */
const initialize = (service: Service, folder: DevFolder, cluster: Cluster, id: number) =>
  Effect.gen(function* () {
    const total = cluster.peers.length;
    const joining = cluster.sourceKey !== undefined && id !== SOURCE ? { join: true } : {};
    const body = { peerId: id, threshold: thresholdOf(total), total, ...joining };
    const answer = yield* service.call({ method: "POST", path: "/v1/custody/system/init", body });
    const { shares64 } = yield* readInitAnswer(answer.body);
    yield* writePrivateFile(folder.peer(id).shares, `${JSON.stringify({ peerId: id, shares: shares64 })}\n`);
  });

const unseal = (service: Service, folder: DevFolder, id: number) =>
  Effect.gen(function* () {
    for (const share64 of yield* savedShares(folder, id)) {
      const answer = yield* service.call({ method: "POST", path: "/v1/custody/system/unseal", body: { share64 } });
      const { state } = yield* readUnsealAnswer(answer.body);
      if (state === "UNSEALED") return true;
    }
    return false;
  });

/**
 * Unseals with the shares at hand. A start that was cut short between init and
 * the saving of its shares left none, or those of an earlier init: then init is repeated.
 */
const open = (service: Service, folder: DevFolder, cluster: Cluster, id: number, state: string) =>
  Effect.gen(function* () {
    if (state === "UNSEALED") return;
    if (state === "SEALED") {
      const opened = yield* unseal(service, folder, id).pipe(
        Effect.catchIf(
          ({ problem }) => problem?.code === "INVALID_SHARE",
          () => Effect.succeed(false),
        ),
      );
      if (opened) return;
    }
    yield* initialize(service, folder, cluster, id);
    yield* unseal(service, folder, id);
  });

/** Opens a peer. A busy one may miss a call: then its status says what has come of it. */
const opened = (service: Service, folder: DevFolder, cluster: Cluster, one: StartedPeer) =>
  Effect.gen(function* () {
    const { body } = yield* patiently(folder, one, get(service, "status"));
    const { state } = yield* readStatusAnswer(body);
    yield* open(service, folder, cluster, one.peer.id, state);
  }).pipe(
    Effect.retry({
      schedule: Schedule.spaced(pollMillis).pipe(Schedule.upTo(patienceMillis)),
      while: ({ kind, problem }) => kind === "unknown" && problem === undefined && one.process.ending() === undefined,
    }),
  );

/** What of a peer's status changes while it takes its registry from others, or members find each other. */
const Progress = Schema.Struct({
  detail: Schema.Struct({
    approvers: Schema.Number,
    highestSlot: Schema.Number,
    lastDecidedSlot: Schema.Number,
    recovering: Schema.optional(Schema.String),
  }),
});

/**
 * Waits until a peer accepts changes, for as long as any comes nearer to that: one that has all it needs waits for the
 * others, as the source of a promotion does while its targets take the registry.
 *
 * @param told what each peer said last, by its id
 */
const ready = (service: Service, folder: DevFolder, { peer, process }: StartedPeer, told: Map<number, string>) => {
  let problem: Problem | undefined;
  const look = Effect.gen(function* () {
    const answer = yield* Effect.either(get(service, "ready"));
    if (Either.isRight(answer)) return undefined;
    const how = process.ending();
    if (how !== undefined) return yield* fault(folder, peer.id, how);
    ({ problem } = answer.left);
    const progress = yield* Effect.either(
      Effect.flatMap(get(service, "status"), ({ body }) => Schema.decodeUnknown(Progress)(body)),
    );
    told.set(peer.id, JSON.stringify([problem?.detail, Either.isRight(progress) ? progress.right.detail : undefined]));
    return [...told.values()].join();
  });
  return awaitChange(look, patienceMillis).pipe(
    Effect.mapError((failure) =>
      typeof failure === "string"
        ? fault(folder, peer.id, `is not ready, and nothing has changed for ${patienceMillis / 1000} s`, problem)
        : failure,
    ),
  );
};

/** Calls one peer, for as long as a step takes. */
const withService = <A>(
  { peer }: StartedPeer,
  token: Redacted.Redacted,
  step: (service: Service) => Effect.Effect<A, CliFailure>,
): Effect.Effect<A, CliFailure> =>
  openService({ origin: httpUrl(peer), token, tls: {}, timeoutMillis: 10_000 }).pipe(
    Effect.flatMap(step),
    Effect.scoped,
  );

const Identity = Schema.Struct({ detail: Schema.Struct({ identityKey: Schema.String }) });

/** The key by which other peers know an unsealed one. */
const identityKeyOf = (folder: DevFolder, one: StartedPeer, service: Service): Effect.Effect<string, CliFailure> =>
  patiently(folder, one, get(service, "status")).pipe(
    Effect.flatMap(({ body }) => Schema.decodeUnknown(Identity)(body)),
    Effect.map(({ detail }) => detail.identityKey),
    Effect.mapError((failure) =>
      failure instanceof CliFailure ? failure : fault(folder, one.peer.id, "does not show its identity key"),
    ),
  );

/** Brings up a peer that is alone, and tells its identity key. */
export const openAlone = (
  folder: DevFolder,
  cluster: Cluster,
  one: StartedPeer,
  token: Redacted.Redacted,
): Effect.Effect<string, CliFailure> =>
  withService(one, token, (service) =>
    Effect.gen(function* () {
      yield* opened(service, folder, cluster, one);
      yield* Effect.raceFirst(
        awaitVerified(service, () => Effect.void),
        ended(folder, one),
      );
      return yield* identityKeyOf(folder, one, service);
    }),
  );

/** Has the source promoted, unless that is done or under way. Targets that are not there yet are asked again. */
const promoted = (
  folder: DevFolder,
  { peers }: Cluster,
  started: ReadonlyArray<StartedPeer>,
  token: Redacted.Redacted,
): Effect.Effect<void, CliFailure> =>
  Effect.gen(function* () {
    const [source, ...others] = started;
    if (source === undefined) return;
    const targets = yield* Effect.forEach(others, (one) =>
      withService(one, token, (service) =>
        Effect.map(identityKeyOf(folder, one, service), (identityKey) => ({
          peerId: one.peer.id,
          url: peerUrl(one.peer),
          identityKey,
        })),
      ),
    );
    const total = peers.length;
    const body = { threshold: thresholdOf(total), total, targets };
    yield* withService(source, token, (service) =>
      Effect.gen(function* () {
        const asked = yield* patiently(folder, source, get(service, "promotion"));
        if ((yield* readPromotionAnswer(asked.body)).promotion !== null) return;
        yield* printErrorLines([`promoting peer ${SOURCE} to a cluster of ${total}`]);
        yield* patiently(folder, source, service.call({ method: "POST", path: "/v1/custody/system/promotion", body }));
      }),
    );
  });

/**
 * Brings every started peer of a cluster up and waits until each accepts changes.
 *
 * Fails with what a peer last said when it ends, refuses, or makes no progress any more.
 */
export const bringUp = (
  folder: DevFolder,
  cluster: Cluster,
  started: ReadonlyArray<StartedPeer>,
  token: Redacted.Redacted,
): Effect.Effect<void, CliFailure> =>
  Effect.gen(function* () {
    const each = <A>(step: (started: StartedPeer, service: Service) => Effect.Effect<A, CliFailure>) =>
      Effect.forEach(started, (one) => withService(one, token, (service) => step(one, service)), {
        concurrency: "unbounded",
        discard: true,
      });
    yield* each((one, service) =>
      Effect.gen(function* () {
        yield* opened(service, folder, cluster, one);
        const verified = awaitVerified(service, (progress) =>
          printErrorLines([`peer ${one.peer.id} verifies its records: ${progressText(progress)}`]),
        );
        yield* Effect.raceFirst(verified, ended(folder, one));
      }),
    );
    if (cluster.sourceKey !== undefined) yield* promoted(folder, cluster, started, token);
    const told = new Map<number, string>();
    yield* each((one, service) => ready(service, folder, one, told));
  });
