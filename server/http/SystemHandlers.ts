/** Init, unseal, seal, status (contract 4.5) and the configuration (contract 4.2). */
import { fileURLToPath } from "node:url";
import { Effect, Either } from "effect";
import { commands } from "../../core/commands/Commands.ts";
import { sealState } from "../../core/protocol/Status.ts";
import { authoritiesOf, featuresOf } from "../../core/protocol/Supplies.ts";
import type { Versions } from "../../core/protocol/Versions.ts";
import { authorize } from "../../core/auth/Authorization.ts";
import type { MemberFault, Rejection } from "../../core/base/Rejection.ts";
import type { ActorCheck } from "../../core/auth/ActorCheck.ts";
import { packageVersion } from "../config/Version.ts";
import type { RekeyFault } from "../peer/Rekeying.ts";
import type { RekeyAnswer, UnsealAnswer } from "../peer/SealControl.ts";
import type { ShareFault } from "../seal/SealProvider.ts";
import { type ApiPorts, answer, authorized, bearerOf, type Handler } from "./ApiCall.ts";
import { faultOf, type HttpFault, httpFault } from "./HttpErrors.ts";
import { operated, recorded } from "./OperatorCalls.ts";
import { toldPromotion } from "./PromotionHandlers.ts";
import { systemEndpoints } from "./endpoints/SystemEndpoints.ts";
import { invalidBody, readRecipients, sharingIn } from "./SystemBodies.ts";

/** Of this program. */
const VERSION = packageVersion(fileURLToPath(import.meta.url));

const failLeft = <A, E>(either: Either.Either<A, E>): Effect.Effect<A, E> =>
  Either.isLeft(either) ? Effect.fail(either.left) : Effect.succeed(either.right);

/** Whoever initializes a target knows that it is one, so that no peer waits for a cluster it was not meant for. */
const misjoined = (join: boolean): HttpFault =>
  invalidBody([
    {
      pointer: "/join",
      code: "mismatch",
      detail: join
        ? "The configuration of this peer names no source of a promotion: set cluster.source, and restart it."
        : "The configuration of this peer names cluster.source, so it founds nothing: initialize it to join, or take that out.",
    },
  ]);

/** POST /v1/custody/system/init. The answer holds secrets and is given once. */
export const init: Handler = (call) =>
  operated(
    call,
    { call: "INITIALIZE", body: systemEndpoints.initialize.body },
    ({ recipients: texts = [], join, ...numbers }, operation) =>
      Effect.gen(function* () {
        const { control, config } = call.ports;
        if ((join === true) !== (config.cluster.source !== undefined))
          return yield* Effect.fail(misjoined(join === true));
        const recipients = yield* Effect.flatMap(
          Effect.promise(() => readRecipients(texts, control.sharing.shares)),
          failLeft,
        );
        // Before keys are made: new ones make the existing shares worthless.
        yield* recorded(call, { ...operation.act, outcome: "ASKED" });
        const made = yield* Effect.promise(() => control.initialize(numbers, recipients));
        return answer(systemEndpoints.initialize, 200, yield* failLeft(Either.mapLeft(made, faultOf)));
      }),
  );

const shareFault = (fault: Rejection | ShareFault): HttpFault => {
  if (!("_tag" in fault)) return faultOf(fault);
  const { code, message, progress } = fault;
  return httpFault(
    "INVALID_SHARE",
    `The share is refused: ${message}.`,
    `Send the right shares; ${progress.have} of ${progress.need} are here.`,
    { faults: [{ pointer: "/share64", code: code.toLowerCase(), detail: message }] },
  );
};

/** POST /v1/custody/system/unseal. */
export const unseal: Handler = (call) =>
  operated(call, { call: "UNSEAL", body: systemEndpoints.unseal.body }, (body, operation) =>
    Effect.gen(function* () {
      const { control } = call.ports;
      const taken = yield* Effect.promise(
        async (): Promise<Either.Either<UnsealAnswer, Rejection | ShareFault>> =>
          "reset" in body ? control.resetUnseal(operation) : control.unseal(body.share64, operation),
      );
      return answer(systemEndpoints.unseal, 200, yield* failLeft(Either.mapLeft(taken, shareFault)));
    }),
  );

const rekeyFault = (fault: Rejection | ShareFault | RekeyFault): HttpFault =>
  "_tag" in fault && fault._tag === "RekeyFault"
    ? httpFault("REKEY_STEP", fault.message, fault.next)
    : shareFault(fault);

/** POST /v1/custody/system/rekey: new unseal shares for the same keys. The answer with the shares is given once. */
export const rekey: Handler = (call) =>
  operated(call, { call: "REKEY", body: systemEndpoints.rekey.body }, (body, operation) =>
    Effect.gen(function* () {
      const { control } = call.ports;
      const told = (progress: RekeyAnswer) => answer(systemEndpoints.rekey, 200, progress);
      if ("reset" in body) return told(yield* Effect.promise(() => control.resetRekey(operation)));
      if ("share64" in body) {
        const taken = yield* Effect.promise(() => control.rekey(body.share64, operation));
        return told(yield* failLeft(Either.mapLeft(taken, rekeyFault)));
      }
      const sharing = yield* sharingIn(body);
      const { shares } = sharing ?? control.sharing;
      const read = yield* Effect.promise(() => readRecipients(body.recipients ?? [], shares));
      const wish = { sharing, recipients: yield* failLeft(read) };
      const started = yield* Effect.promise(() => control.startRekey(wish, operation));
      return told(yield* failLeft(Either.mapLeft(started, rekeyFault)));
    }),
  );

/** POST /v1/custody/system/seal. */
export const seal: Handler = (call) =>
  operated(call, { call: "SEAL", body: systemEndpoints.seal.body }, (_none, operation) =>
    Effect.gen(function* () {
      const state = yield* Effect.promise(() => call.ports.control.seal(operation));
      return answer(systemEndpoints.seal, 200, { state: yield* failLeft(Either.mapLeft(state, faultOf)) });
    }),
  );

/** POST /v1/custody/system/restore: this peer's disk is an old one. */
export const restore: Handler = (call) =>
  operated(call, { call: "RESTORE", body: systemEndpoints.restore.body }, (_none, operation) =>
    Effect.gen(function* () {
      const { peer, log } = call.ports;
      const declared = yield* Effect.promise(() => peer.restore(operation));
      if (declared._tag === "Rejected") return yield* Effect.fail(faultOf(declared.rejection));
      const incarnation = declared._tag === "Restoring" ? (declared.incarnation ?? null) : null;
      if (incarnation === null) operation.tell("ACCEPTED", "it begins with the unseal of this process");
      log.info("restore declared", incarnation === null ? {} : { incarnation });
      return answer(systemEndpoints.restore, 200, { state: sealState(peer.standing), incarnation });
    }),
  );

/** POST /v1/custody/system/integrity/rotate: rows are sealed with a new key from now on. */
export const rotateIntegrity: Handler = (call) =>
  operated(call, { call: "ROTATE_INTEGRITY_KEY", body: systemEndpoints.rotateIntegrity.body }, (_none, operation) =>
    Effect.gen(function* () {
      const rotated = yield* Effect.promise(() => call.ports.control.rotateIntegrity(operation));
      return answer(systemEndpoints.rotateIntegrity, 200, {
        integrityKeyVersion: yield* failLeft(Either.mapLeft(rotated, faultOf)),
      });
    }),
  );

interface MemberStatus {
  readonly peerId: number;
  readonly self: boolean;
  /** Whether the last message to it got an answer; null before the first. */
  readonly reachable: boolean | null;
  /** Null where another member's fault decided the matter before this one answered. */
  readonly ready: boolean | null;
  readonly reason?: string;
  /** Of the protocol; null before it has said so to this process. */
  readonly versions: Versions | null;
}

const memberStatus = (
  { peer, reachable }: ApiPorts,
  found: ReadonlyArray<MemberFault>,
): ReadonlyArray<MemberStatus> => {
  const own = peer.standing.cluster.peer?.peerId;
  const others = peer.settings.peers;
  const members = peer.standing.cluster.membership?.peerIds ?? (own === undefined ? others : [own, ...others]);
  return members
    .toSorted((left, right) => left - right)
    .map((peerId) => {
      const self = peerId === own;
      const reason = found.find((each) => each.peerId === peerId)?.reason;
      const ready = reason !== undefined ? false : found.length === 0 ? true : null;
      const versions = self ? commands.versions : (peer.standing.cluster.spoken.get(peerId) ?? null);
      const isReachable = self ? true : (reachable(peerId) ?? null);
      return { peerId, self, reachable: isReachable, ready, ...(reason && { reason }), versions };
    });
};

interface ClockStatus {
  /** Unix milliseconds, as this machine's clock shows them. */
  readonly now: number;
  /** When it was last seen to be set, and by how much; null where it never was in this process. */
  readonly steppedAt: number | null;
  readonly steppedByMillis: number | null;
}

const clockStatus = ({ clock }: ApiPorts): ClockStatus => ({
  now: clock.read().now,
  steppedAt: clock.latestStep?.at ?? null,
  steppedByMillis: clock.latestStep?.byMillis ?? null,
});

/** How far an unseal or a rekey is: for callers who may go on with it, and for those who may see the detail. */
const ceremonies = ({ control, peer, clock }: ApiPorts, actor: ActorCheck) => {
  const may = (permission: string): boolean =>
    Either.isRight(authorize({ ...clock.read(), settings: peer.settings }, actor, [permission]));
  const sees = may("service.control.system");
  const unsealing = sees || may("service.system.unseal") ? control.progress : undefined;
  const rekey = sees || may("service.system.rekey") ? control.rekeyProgress : undefined;
  return {
    ...(unsealing === undefined ? {} : { unsealing }),
    ...(rekey === undefined || rekey.step === "NONE" ? {} : { rekey }),
  };
};

/** GET /v1/custody/system/status: the state for everybody, the rest for operators. */
export const status: Handler = (call) =>
  Effect.gen(function* () {
    const { ports } = call;
    const { peer, clock } = ports;
    const state = sealState(peer.standing);
    if (call.request.headers["x-jwt-token"] === undefined) return answer(systemEndpoints.readStatus, 200, { state });
    const { actor } = yield* bearerOf(call);
    const claims = authorize({ ...clock.read(), settings: peer.settings }, actor, ["service.control.system"]);
    if (Either.isLeft(claims) && claims.left.code === "UNAUTHENTICATED")
      return yield* Effect.fail(faultOf(claims.left));
    const { verifying } = peer;
    const progress = {
      ...(verifying === undefined ? {} : { verifying }),
      ...ceremonies(ports, actor),
    };
    const detail = yield* Effect.promise(() => peer.detail());
    // A caller who cannot be shown the detail just now is told why, beside what everybody is told.
    if (Either.isLeft(claims) && claims.left.code !== "ACCESS_DENIED")
      return answer(systemEndpoints.readStatus, 200, {
        state,
        ...progress,
        detailMissing: { code: claims.left.code, detail: claims.left.detail },
      });
    if (Either.isLeft(claims) || detail === undefined)
      return answer(systemEndpoints.readStatus, 200, { state, ...progress });
    const found = yield* Effect.promise(() => peer.readiness());
    return answer(systemEndpoints.readStatus, 200, {
      state,
      ...progress,
      detail: {
        ...detail,
        promotion: toldPromotion(detail),
        version: VERSION,
        configDigest: peer.settings.configDigest,
        flush: ports.metrics.flushTimes.summary,
        clock: clockStatus(ports),
        members: memberStatus(ports, found),
        warnings: ports.warnings(),
      },
    });
  });

const notInitialized = httpFault("NOT_INITIALIZED", "This peer is not initialized.", "Initialize it first.");

/**
 * GET /v2/custody/config (contract 2.7, 4.2): any valid token, in every state once initialized: sealed, verifying,
 * recovering or damaged. The numbers are the stored ones; of the seal provider there is the name alone.
 */
export const configuration: Handler = (call) =>
  Effect.gen(function* () {
    yield* authorized(call);
    const { peer, config } = call.ports;
    const row = peer.standing.cluster.peer;
    if (row === undefined) return yield* Effect.fail(notInitialized);
    return answer(systemEndpoints.readConfiguration, 200, {
      threshold: row.threshold,
      total: row.total,
      features: featuresOf(commands.modules),
      authorities: authoritiesOf(commands.modules, config.authorities),
      sealProvider: config.seal.provider,
    });
  });
