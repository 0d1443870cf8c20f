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
import { type ApiAnswer, type ApiCall, bearerOf } from "./ApiCall.ts";
import type { RequestBody } from "./endpoints/Endpoint.ts";
import { faultOf, type HttpFault, httpFault } from "./HttpErrors.ts";
import { readBody } from "./RequestBody.ts";
import { readSystemBody } from "./SystemBodies.ts";

const BODY_MILLIS = 5_000;

/** What an operator's call is in the audit, and the body of its endpoint. */
export interface OperatorRoute<A> {
  readonly call: OperatorCall;
  readonly body: RequestBody & { readonly shape: Shape<A> };
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
const begun = (apiCall: ApiCall, call: OperatorCall) =>
  Effect.gen(function* () {
    const { ports, request, requestId, endpoint } = apiCall;
    const { actor } = yield* bearerOf(apiCall);
    const reading = ports.clock.read();
    const claims = authorize({ ...reading, settings: ports.peer.settings }, actor, []);
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
      request: { method: request.method ?? "", path: endpoint.path, bodyDigest: undefined },
      outcome: "APPLIED",
      detail: "",
      times: 1,
    };
    return { act, actor };
  });

/** Runs a call of an operator: authorizes it, reads its body, carries it out and records the outcome. */
export const operated = <A>(
  apiCall: ApiCall,
  { call, body: taken }: OperatorRoute<A>,
  run: (body: A, operation: Operation) => Effect.Effect<ApiAnswer, HttpFault>,
): Effect.Effect<ApiAnswer, HttpFault, Scope> =>
  Effect.gen(function* () {
    const { ports, request, endpoint } = apiCall;
    const { act, actor } = yield* begun(apiCall, call);
    let operation = new Operation(act);
    const refused = (fault: HttpFault) =>
      Effect.zipRight(
        Effect.promise(() => ports.audit.refused({ ...operation.act, outcome: fault.code, detail: "" })),
        Effect.fail(fault),
      );
    const arriving = Effect.gen(function* () {
      const allowed = authorize(
        { ...ports.clock.read(), settings: ports.peer.settings },
        actor,
        endpoint.permissions ?? [],
      );
      if (Either.isLeft(allowed)) return yield* Effect.fail(faultOf(allowed.left));
      const limits = { budget: ports.operatorBudget, maxBytes: taken.maxBytes, timeoutMillis: BODY_MILLIS };
      const body = yield* readBody(request, limits);
      const bodyDigest = taken.isSecret === true || body.length === 0 ? undefined : digestOf(body);
      operation = new Operation({ ...act, request: { ...act.request, bodyDigest } });
      return yield* readSystemBody(taken, body);
    });
    const carriedOut = (body: A) =>
      Effect.gen(function* () {
        const answer = yield* run(body, operation);
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
      onSuccess: (body) => Effect.uninterruptible(Effect.catchAll(carriedOut(body), refused)),
    });
  });
