/** The public API as one HTTP application: whatever happens, the answer is JSON with a request id. */
import { HttpServerRequest, HttpServerResponse } from "@effect/platform";
import { NodeHttpServerRequest } from "@effect/platform-node";
import { Cause, Effect, Either } from "effect";
import type { ApiAnswer, ApiPorts } from "./ApiCall.ts";
import { type HttpFault, httpFault, PROBLEM_TYPE, problemOf } from "./HttpErrors.ts";
import { requestIdOf } from "./RequestId.ts";
import { match } from "./Routes.ts";

const JSON_TYPE = "application/json";

const internalError = httpFault(
  "INTERNAL_ERROR",
  "This peer met a fault of its own.",
  "Report the requestId; the peer's log has the reason.",
);

interface Written {
  readonly status: number;
  readonly type: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const success = ({ status, body, headers = {} }: ApiAnswer): Written => ({ status, type: JSON_TYPE, headers, body });

const failure = (fault: HttpFault, requestId: string): Written => ({
  type: PROBLEM_TYPE,
  ...problemOf(fault, requestId),
});

/** Runs one request to its answer; never fails. */
export const publicApi = (ports: ApiPorts) =>
  Effect.gen(function* () {
    const request = NodeHttpServerRequest.toIncomingMessage(yield* HttpServerRequest.HttpServerRequest);
    const startedAt = ports.elapsedMillis();
    const requestId = requestIdOf(request.headers["x-request-id"]);
    const matched = match(request.method ?? "", request.url ?? "");
    const run = Either.isLeft(matched)
      ? Effect.fail(matched.left)
      : matched.right.handler({ request, ports, rest: matched.right.rest });
    const { status, type, headers, body } = yield* Effect.scoped(run).pipe(
      Effect.match({ onSuccess: success, onFailure: (fault) => failure(fault, requestId) }),
      Effect.catchAllCause((cause) => {
        ports.log.error("request failed", { requestId, reason: Cause.pretty(cause).slice(0, 2_000) });
        return Effect.succeed(failure(internalError, requestId));
      }),
    );
    const route = Either.isRight(matched) ? matched.right.name : "unknown";
    const millis = Math.round(ports.elapsedMillis() - startedAt);
    ports.metrics.count("custody_http_responses_total", String(status));
    ports.log.debug("request", { requestId, method: request.method, route, status, millis });
    return HttpServerResponse.text(body, {
      status,
      contentType: type,
      headers: {
        ...headers,
        "x-request-id": requestId,
        "cache-control": "no-store",
        ...(ports.draining() ? { connection: "close" } : {}),
      },
    });
  });
