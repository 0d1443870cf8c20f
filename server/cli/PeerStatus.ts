/** What one peer says of itself, in the terms of a row: also where it says nothing. */
import { Effect, Either, Option, Schema } from "effect";
import type { CliFailure } from "./CliFailure.ts";
import { nextStep } from "./NextStep.ts";
import type { Problem } from "./Problem.ts";
import type { Service } from "./ServiceClient.ts";

export const STATUS_PATH = "/v1/custody/system/status";
const READY_PATH = "/v1/custody/system/ready";

const optional = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true });

const Detail = Schema.Struct({
  peerId: Schema.Number,
  incarnation: Schema.Number,
  topology: optional(Schema.Struct({ epoch: Schema.Number })),
  uncommitted: Schema.Number,
  locks: Schema.Number,
  outbox: Schema.Number,
  clock: Schema.Struct({ now: Schema.Number }),
  founding: optional(Schema.Struct({ faults: Schema.Array(Schema.Struct({ reason: Schema.String })) })),
  // A peer of an earlier version has none of these.
  version: optional(Schema.String),
  configDigest: optional(Schema.String),
  flush: optional(Schema.NullOr(Schema.Struct({ lastMillis: Schema.Number, medianMillis: Schema.Number }))),
  warnings: Schema.optionalWith(Schema.Array(Schema.String), { default: () => [] }),
});

const Status = Schema.Struct({
  state: Schema.Literal("UNINITIALIZED", "SEALED", "UNSEALED"),
  detail: optional(Detail),
});

/** What is not known is null. */
export interface PeerStatus {
  readonly url: string;
  readonly peerId: number | null;
  readonly state: "UNINITIALIZED" | "SEALED" | "UNSEALED" | null;
  readonly ready: boolean;
  /** Why not. */
  readonly reason: string | null;
  /** What to do about it. */
  readonly next: string | null;
  readonly undecided: number | null;
  readonly locks: number | null;
  readonly outbox: number | null;
  readonly epoch: number | null;
  readonly incarnation: number | null;
  /** How far its clock is ahead of this machine's when the answer came, in milliseconds. */
  readonly clockMillis: number | null;
  /** The median of its latest flushes, and the last. */
  readonly flushMillis: { readonly median: number; readonly last: number } | null;
  readonly version: string | null;
  /** What must be the same on every peer. */
  readonly configDigest: string | null;
  readonly warnings: ReadonlyArray<string>;
}

const unknown = {
  peerId: null,
  state: null,
  undecided: null,
  locks: null,
  outbox: null,
  epoch: null,
  incarnation: null,
  clockMillis: null,
  flushMillis: null,
  version: null,
  configDigest: null,
  warnings: [],
};

interface Standing {
  readonly reason: string;
  readonly next: string | null;
}

const problemStanding = ({ code, detail, members = [] }: Problem): Standing => {
  const reasons = members.map(({ peerId, reason = "" }) => (peerId === 0 ? reason : `peer ${peerId}: ${reason}`));
  const steps = new Set(members.flatMap(({ reason = "" }) => nextStep(reason) ?? []));
  return {
    reason: reasons.length > 0 ? reasons.join("; ") : `${code}${detail === undefined ? "" : `: ${detail}`}`,
    next: steps.size === 0 ? null : [...steps].join("; "),
  };
};

const standingOf = ({ problem, message }: CliFailure): Standing =>
  problem === undefined ? { reason: message, next: null } : problemStanding(problem);

/** While a cluster is not founded, what stands in the way is known to each peer for itself. */
const withFounding = ({ reason, next }: Standing, faults: ReadonlyArray<{ readonly reason: string }>): Standing =>
  faults.length === 0
    ? { reason, next }
    : {
        reason: [reason, ...faults.map((each) => each.reason)].join("; "),
        next: faults.some((each) => each.reason.includes("wiped"))
          ? "put the backup of the peer that was wiped back (custody restore --from)"
          : "correct it at that peer, and restart it",
      };

const OTHER_FORM = "it answered in a form this version does not know; compare the versions of command and peer";

/** Asks a peer for its status and whether it is ready. Never fails: a peer that cannot be asked is not ready. */
export const peerStatus = ({ origin, call }: Service, now: () => number): Effect.Effect<PeerStatus> =>
  Effect.gen(function* () {
    const answered = yield* Effect.either(call({ method: "GET", path: STATUS_PATH }));
    const receivedAt = now();
    const bare = { url: origin, ...unknown, ready: false };
    if (Either.isLeft(answered)) return { ...bare, ...standingOf(answered.left) };
    const status = Option.getOrUndefined(Schema.decodeUnknownOption(Status)(answered.right.body));
    if (status === undefined) return { ...bare, reason: OTHER_FORM, next: null };
    const ready = yield* Effect.either(call({ method: "GET", path: READY_PATH }));
    const { state, detail } = status;
    const standing = Either.isLeft(ready)
      ? withFounding(standingOf(ready.left), detail?.founding?.faults ?? [])
      : { reason: null, next: null };
    const told = { ...bare, state, ready: Either.isRight(ready), ...standing };
    if (detail === undefined) return told;
    const { peerId, incarnation, topology, uncommitted, locks, outbox, clock, flush } = detail;
    return {
      ...told,
      peerId,
      incarnation,
      epoch: topology?.epoch ?? null,
      undecided: uncommitted,
      locks,
      outbox,
      clockMillis: Math.round(clock.now - receivedAt),
      flushMillis: !flush ? null : { median: flush.medianMillis, last: flush.lastMillis },
      version: detail.version ?? null,
      configDigest: detail.configDigest ?? null,
      warnings: detail.warnings,
    };
  });

const medianOf = (values: ReadonlyArray<number>): number =>
  values.toSorted((left, right) => left - right)[Math.floor((values.length - 1) / 2)] ?? 0;

/**
 * Asks all peers at once.
 *
 * @returns in the order of the services, with each clock compared with the median of all that are known
 */
export const peerStatuses = (
  services: ReadonlyArray<Service>,
  now: () => number,
): Effect.Effect<ReadonlyArray<PeerStatus>> =>
  Effect.forEach(services, (service) => peerStatus(service, now), { concurrency: "unbounded" }).pipe(
    Effect.map((peers) => {
      const middle = medianOf(peers.flatMap(({ clockMillis }) => clockMillis ?? []));
      return peers.map((each) => ({
        ...each,
        clockMillis: each.clockMillis === null ? null : each.clockMillis - middle,
      }));
    }),
  );
