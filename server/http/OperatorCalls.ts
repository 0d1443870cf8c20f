/**
 * The common part of all calls that change a peer itself: the bearer of a valid token is named in the audit, with the
 * call's outcome, before the answer leaves; even where the call was refused, or its caller does not wait for it.
 */
import { createHash } from "node:crypto";
import { Effect, Either } from "effect";
import type { Scope } from "effect/Scope";
import type { Digest } from "../../core/base/Digest.ts";
import type { Shape } from "../../core/codec/Shape.ts";
import type { OperatorAct, OperatorCall } from "../../core/protocol/OperatorAct.ts";
import { authorize } from "../../core/auth/Authorization.ts";
import { Operation } from "../peer/Operation.ts";
import { type ApiAnswer, type ApiCall, type Bearer, bearerOf } from "./ApiCall.ts";
import type { RequestBody } from "./endpoints/Endpoint.ts";
import { faultOf, type HttpFault, httpFault } from "./HttpErrors.ts";
import { readBody } from "./RequestBody.ts";
import { readSystemBody } from "./SystemBodies.ts";

const BODY_MILLIS = 5_000;

/** What an operator's call is in the audit, and the body of its endpoint. */
export interface OperatorRoute<A> {
  readonly call: OperatorCall;
  readonly body: RequestBody & { readonly shape: Shape<A> };
  /** The path with what stands in its holes, once that is known to be short; that of the endpoint otherwise. */
  readonly path?: string | undefined;
}

/** A call as it came, for whatever sends it on to others. */
export interface Sent extends Bearer {
  readonly rawBody: Uint8Array;
}

const digestOf = (body: Uint8Array): Digest =>
  // The brand is the length: 32 bytes.
  createHash("sha256").update(body).digest("hex") as Digest;

const unavailable = httpFault(
  "AUDIT_UNAVAILABLE",
  "The audit of this peer cannot be written, so it is not known who did this.",
  'Look at the log and the disk, and ask for the status before you repeat it; see docs/operations.md, "The audit".',
);

/** Records an act that was carried out. Fails with `AUDIT_UNAVAILABLE`. */
export const recorded = ({ ports }: ApiCall, act: OperatorAct, isWritten = false): Effect.Effect<void, HttpFault> =>
  Effect.tryPromise({
    try: () => ports.audit.done(act, isWritten),
    catch: (fault) => {
      ports.log.error("audit", { reason: fault instanceof Error ? fault.message : "unknown" });
      return unavailable;
    },
  });

/** Caller and call; fails with 401, and 503 where nothing can be known of the token. */
const begun = (apiCall: ApiCall, { call, path }: Pick<OperatorRoute<unknown>, "call" | "path">) =>
  Effect.gen(function* () {
    const { ports, request, requestId, endpoint } = apiCall;
    const bearer = yield* bearerOf(apiCall);
    const reading = ports.clock.read();
    const claims = authorize({ ...reading, settings: ports.peer.settings }, bearer.actor, []);
    if (Either.isLeft(claims)) {
      if (claims.left.code === "UNAUTHENTICATED") ports.audit.unauthenticated(call);
      return yield* Effect.fail(faultOf(claims.left));
    }
    const { iss, sub, jti } = claims.right;
    const act: OperatorAct = {
      at: reading.now,
      call,
      actor: { iss, sub, jti },
      requestId,
      // Of the target as it was sent, absolute-form can make a row that is too long to be written.
      request: { method: request.method ?? "", path: path ?? endpoint.path, bodyDigest: undefined },
      outcome: "APPLIED",
      detail: "",
      times: 1,
    };
    return { act, bearer };
  });

/** Runs a call of an operator: authorizes it, reads its body, carries it out and records the outcome. */
export const operated = <A>(
  apiCall: ApiCall,
  route: OperatorRoute<A>,
  run: (body: A, operation: Operation, sent: Sent) => Effect.Effect<ApiAnswer, HttpFault>,
): Effect.Effect<ApiAnswer, HttpFault, Scope> =>
  Effect.gen(function* () {
    const { ports, request, endpoint } = apiCall;
    const { body: taken } = route;
    const { act, bearer } = yield* begun(apiCall, route);
    let operation = new Operation(act);
    const refused = (fault: HttpFault) =>
      Effect.zipRight(
        Effect.promise(() => ports.audit.refused({ ...operation.act, outcome: fault.code, detail: "" })),
        Effect.fail(fault),
      );
    const arriving = Effect.gen(function* () {
      const allowed = authorize(
        { ...ports.clock.read(), settings: ports.peer.settings },
        bearer.actor,
        endpoint.permissions ?? [],
      );
      if (Either.isLeft(allowed)) return yield* Effect.fail(faultOf(allowed.left));
      const limits = { budget: ports.operatorBudget, maxBytes: taken.maxBytes, timeoutMillis: BODY_MILLIS };
      const rawBody = yield* readBody(request, limits);
      const bodyDigest = taken.isSecret === true || rawBody.length === 0 ? undefined : digestOf(rawBody);
      operation = new Operation({ ...act, request: { ...act.request, bodyDigest } });
      return { body: yield* readSystemBody(taken, rawBody), sent: { ...bearer, rawBody } };
    });
    const carriedOut = ({ body, sent }: { readonly body: A; readonly sent: Sent }) =>
      Effect.gen(function* () {
        const answer = yield* run(body, operation, sent);
        yield* Effect.tapError(recorded(apiCall, operation.act, operation.isWritten), () =>
          Effect.sync(() => answer.source?.stream.destroy()),
        );
        void operation.later.then(
          (later) => later && ports.audit.refused({ ...operation.act, at: ports.clock.read().now, ...later }),
        );
        return answer;
      });
    // From here on a caller that goes away changes nothing: what is done is recorded.
    return yield* Effect.matchEffect(arriving, {
      onFailure: (fault) => Effect.uninterruptible(refused(fault)),
      onSuccess: (arrived) => Effect.uninterruptible(Effect.catchAll(carriedOut(arrived), refused)),
    });
  });
