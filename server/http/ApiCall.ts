/** One request to the public API on its way through its handler, and who sent it. */
import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { Effect, Either } from "effect";
import type { Scope } from "effect/Scope";
import type { Answer } from "../../core/Action.ts";
import type { ActorCheck } from "../../core/auth/ActorCheck.ts";
import type { Call } from "../../core/protocol/Forward.ts";
import { asMember } from "../../core/protocol/Unavailable.ts";
import type { ValueOf } from "../../core/codec/Shape.ts";
import type { WallClock } from "../../runtime/WallClock.ts";
import { authorize } from "../../core/auth/Authorization.ts";
import { extractToken } from "../auth/TokenHeader.ts";
import type { TokenJudge } from "../auth/TokenJudge.ts";
import type { Config } from "../config/ConfigSchema.ts";
import type { CryptoBackend } from "../crypto/CryptoBackend.ts";
import type { LiveBackups } from "../backup/LiveBackup.ts";
import type { EnrollmentPage } from "../enroll/EnrollmentPage.ts";
import type { Log } from "../peer/Log.ts";
import type { OperatorAudit } from "../peer/OperatorAudit.ts";
import type { Metrics } from "../peer/Metrics.ts";
import type { Named } from "../../runtime/Callers.ts";
import type { ApiPeer } from "../peer/ApiPeer.ts";
import type { SealControl } from "../peer/SealControl.ts";
import type { Traces } from "../telemetry/Traces.ts";
import type { AnswerRoom } from "./AnswerRoom.ts";
import type { BodyBudget } from "../../runtime/BodyBudget.ts";
import { type Endpoint, filled, type Holes } from "./endpoints/Endpoint.ts";
import { faultOf, type HttpFault } from "./HttpErrors.ts";
import type { LongReads } from "./LongReads.ts";

/** What the public API is built on. */
export interface ApiPorts {
  readonly peer: ApiPeer;
  readonly control: SealControl;
  readonly backend: Pick<CryptoBackend, "crypto" | "providers" | "keyCrypto">;
  readonly audit: OperatorAudit;
  readonly backups: LiveBackups;
  readonly config: Config;
  readonly judge: TokenJudge;
  /** Whether the keys that verify tokens can be had now. */
  readonly judgesTokens: () => boolean;
  readonly reachable: (peerId: number) => boolean | undefined;
  /** Faults that an operator should mend although they stop nothing; each "where: what; what to do". */
  readonly warnings: () => ReadonlyArray<string>;
  /** For the bodies of registry and enrollment. */
  readonly budget: BodyBudget;
  /** For those of operators, which must get through however much callers send. */
  readonly operatorBudget: BodyBudget;
  readonly longReads: LongReads;
  readonly answerRoom: AnswerRoom;
  readonly page: EnrollmentPage;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Undefined where nobody collects them. */
  readonly traces: Traces | undefined;
  readonly clock: WallClock;
  /** A clock that never goes back, in milliseconds. */
  readonly elapsedMillis: () => number;
  /** Whether the server is closing, so that connections are not kept. */
  readonly draining: () => boolean;
}

export interface ApiCall {
  readonly request: IncomingMessage;
  /** As the caller is told it. */
  readonly requestId: string;
  /** To be told the name that the request gets among the peers. */
  readonly named: Named;
  readonly ports: ApiPorts;
  /** The definition that this request is judged by. */
  readonly endpoint: Endpoint;
  /** What stands in the holes of the endpoint's path, still percent-encoded. */
  readonly holes: Holes;
}

export interface ApiAnswer {
  readonly status: number;
  /** JSON text, unless `type` says otherwise. */
  readonly body: string;
  /** The media type of the few answers that are not JSON. */
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Of a long body: the caller, or all strangers, whose room it takes until it is read. */
  readonly caller?: string;
  /** Sent instead of `body`, as it is read; whoever gets this answer reads it or destroys it. */
  readonly source?: Source;
}

/** A body of a known length that is not in memory. */
export interface Source {
  readonly bytes: number;
  readonly stream: Readable;
}

/** An answer that is there at once costs no fiber. */
export type Handler = (call: ApiCall) => ApiAnswer | Effect.Effect<ApiAnswer, HttpFault, Scope>;

/** What is there at once, or comes, as something to wait for. */
export const awaited = <A extends object, E, R>(result: A | Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.isEffect(result) ? result : Effect.succeed(result);

/** Statuses for which an endpoint describes a JSON body. */
type StatusOf<E extends Endpoint> = keyof E["answers"] & number;

type BodyOf<E extends Endpoint, S extends StatusOf<E>> = E["answers"][S] extends { readonly shape: infer Sh }
  ? ValueOf<Sh>
  : never;

/** An answer as the endpoint's definition describes it. */
export const answer = <E extends Endpoint, S extends StatusOf<E>>(
  _endpoint: E,
  status: S,
  value: BodyOf<E, S>,
  headers: Readonly<Record<string, string>> = {},
): ApiAnswer => ({ status, body: JSON.stringify(value), headers });

export interface Bearer {
  readonly token: string;
  readonly actor: ActorCheck;
}

/**
 * Who sent a request, as far as its token tells; a missing or repeated header counts as a refused token. At once, where
 * nothing has to be verified for it.
 */
export const bearerNow = ({ request, ports }: ApiCall): Bearer | Effect.Effect<Bearer> => {
  const found = extractToken(request.rawHeaders);
  if (Either.isLeft(found)) return { token: "", actor: found.left };
  const token = found.right;
  const actor = ports.judge.known(token);
  return actor === undefined
    ? Effect.promise(async () => ({ token, actor: await ports.judge.check(token) }))
    : { token, actor };
};

export const bearerOf = (call: ApiCall): Effect.Effect<Bearer> => awaited(bearerNow(call));

/** The owner of a verified token, as budgets know it. */
export const holderOf = (actor: ActorCheck): string =>
  actor._tag === "Verified" ? JSON.stringify([actor.claims.iss, actor.claims.sub]) : "";

/** The permissions of which the bearer needs one for this very path; none where every valid token will do. */
const permissionsFor = ({ endpoint: { permissions = [] }, holes }: ApiCall): ReadonlyArray<string> =>
  permissions.map((each) => filled(each, holes));

/** The bearer, if the endpoint's permission is granted now. Fails with 401, 403 or 503. */
export const authorized = (call: ApiCall): Effect.Effect<Bearer, HttpFault> =>
  Effect.flatMap(bearerOf(call), (bearer) => {
    const { peer, clock } = call.ports;
    const claims = authorize({ ...clock.read(), settings: peer.settings }, bearer.actor, permissionsFor(call));
    return Either.isLeft(claims) ? Effect.fail(faultOf(claims.left)) : Effect.succeed(bearer);
  });

/** The same for a change of the registry, where this peer's fault is a member's fault like any other (contract 7). */
export const authorizedToChange = (call: ApiCall): Effect.Effect<Bearer, HttpFault> =>
  Effect.flatMap(bearerOf(call), (bearer) => {
    const { peer, clock } = call.ports;
    const claims = authorize({ ...clock.read(), settings: peer.settings }, bearer.actor, permissionsFor(call));
    return Either.isLeft(claims)
      ? Effect.fail(faultOf(asMember(peer.standing.cluster.peer?.peerId ?? 0, claims.left)))
      : Effect.succeed(bearer);
  });

/**
 * Has the peer carry out a change. One whose caller goes away is given up, if it has not begun; otherwise this lasts until
 * it is over all the same: its body is in memory so long, and must not be given back to the budget before.
 */
export const mutated = ({ ports: { peer }, named }: ApiCall, call: Call, { token, actor }: Bearer) =>
  Effect.uninterruptibleMask((restore): Effect.Effect<Answer> => {
    const gone = new AbortController();
    const answered = peer.mutate(call, token, actor, named, gone.signal);
    const over = Effect.promise(() => answered);
    return Effect.onInterrupt(restore(over), () =>
      Effect.zipRight(
        Effect.sync(() => gone.abort()),
        over,
      ),
    );
  });
