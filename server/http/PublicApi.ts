/**
 * The public API: whatever happens, there is an answer with a request id, and an error is JSON. Plain `node:http`
 * around one fiber for each request, which is what a handler with its resources needs.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream";
import { Cause, Effect, Either, Exit, FiberId } from "effect";
import { requestKey } from "../../core/protocol/Forward.ts";
import type { ApiAnswer, ApiCall, ApiPorts, Handler, Source } from "./ApiCall.ts";
import { type HttpFault, httpFault, PROBLEM_TYPE, problemOf } from "./HttpErrors.ts";
import { requestIdOf } from "./RequestId.ts";
import { type Matched, match } from "./Routes.ts";
import { standingHeaders } from "./StandingHeaders.ts";

const JSON_TYPE = "application/json";
const NOT_MODIFIED = 304;

const internalError = httpFault(
  "INTERNAL_ERROR",
  "This peer met a fault of its own.",
  "Report the requestId; the peer's log has the reason.",
);

const unread = httpFault(
  "REQUEST_CAPACITY",
  "This peer holds as many bytes of answers that were not read as it may.",
  "Read the answers you asked for, and repeat the request after Retry-After.",
);

interface Written {
  readonly status: number;
  readonly type: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly source?: Source | undefined;
  /** Of a refusal. */
  readonly code?: string;
}

/**
 * A request turned away for want of room is answered after a while, each at another time: a caller that came again at
 * once would cost this peer more than being served. One that waited has been held back by that, and its answer must
 * still come in time.
 */
const heldBack = ({ code }: HttpFault, leftMillis: number): Effect.Effect<void> =>
  code === "REQUEST_CAPACITY" && leftMillis > 0
    ? Effect.sleep(Math.min(leftMillis, 500 + Math.random() * 1_000))
    : Effect.void;

const success = ({ status, body, type = JSON_TYPE, headers = {}, source }: ApiAnswer): Written => ({
  status,
  type,
  headers,
  body,
  source,
});

const failure = (fault: HttpFault, requestId: string): Written => ({
  type: PROBLEM_TYPE,
  code: fault.code,
  ...problemOf(fault, requestId),
});

const writtenOf = (
  exit: Exit.Exit<ApiAnswer, HttpFault>,
  requestId: string,
  { log, metrics }: Pick<ApiPorts, "log" | "metrics">,
): Written => {
  if (Exit.isSuccess(exit)) return success(exit.value);
  const fault = Cause.failureOrCause(exit.cause);
  if (Either.isLeft(fault)) {
    metrics.count("custody_problems_total", fault.left.code);
    return failure(fault.left, requestId);
  }
  log.error("request failed", { requestId, reason: Cause.pretty(fault.right).slice(0, 2_000) });
  return failure(internalError, requestId);
};

/** A refusal instead of an answer for which there is no room. */
const roomFor = (
  exit: Exit.Exit<ApiAnswer, HttpFault>,
  { answerRoom }: ApiPorts,
  { socket }: IncomingMessage,
  response: ServerResponse,
): Exit.Exit<ApiAnswer, HttpFault> => {
  if (!Exit.isSuccess(exit) || exit.value.caller === undefined) return exit;
  const { caller, body } = exit.value;
  return answerRoom.take(caller, Buffer.byteLength(body), socket, response) ? exit : Exit.fail(unread);
};

/** Of a method that no route has, callers could invent thousands. */
const methodOf = ({ method = "" }: IncomingMessage): string =>
  ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"].includes(method) ? method : "other";

/** What its handler makes of a request. */
const handled = (
  { handler, endpoint, holes }: Matched,
  call: Pick<ApiCall, "request" | "requestId" | "named" | "ports">,
): ReturnType<Handler> => {
  try {
    return handler({ ...call, endpoint, holes });
  } catch (defect) {
    return Effect.die(defect);
  }
};

/**
 * Answers one request, and stops its handler when the caller goes away before that. `arrivedAt` is when its header was
 * there, in `elapsedMillis`: measured is what its caller waits, its turn included.
 */
export const publicApi =
  (ports: ApiPorts) =>
  (request: IncomingMessage, response: ServerResponse, arrivedAt: number): void => {
    const requestId = requestIdOf(request.headers["x-request-id"]);
    let among: string | undefined;
    const named = (name: string): void => {
      among = requestKey({ entryPeer: ports.peer.standing.cluster.peer?.peerId ?? 0, requestId: name });
    };
    const matched = match(request.method ?? "", request.url ?? "");
    const answer = (exit: Exit.Exit<ApiAnswer, HttpFault>): void => {
      // The listener answers for a handler whose request broke off.
      const isOver = response.destroyed || response.headersSent;
      if (isOver && Exit.isFailure(exit) && Cause.isInterruptedOnly(exit.cause)) {
        return ports.log.debug("caller went away", { requestId, requests: among });
      }
      const answered = isOver ? exit : roomFor(exit, ports, request, response);
      const { status, type, headers, body, source, code } = writtenOf(answered, requestId, ports);
      if (isOver) return void source?.stream.destroy();
      const route = Either.isRight(matched) ? matched.right.endpoint.path : "unknown";
      const elapsed = ports.elapsedMillis() - arrivedAt;
      const millis = Math.round(elapsed);
      const method = methodOf(request);
      ports.metrics.observeRequest(route, method, status, elapsed);
      ports.metrics.count("custody_http_responses_total", String(status));
      ports.log.debug("request", { requestId, requests: among, method: request.method, route, status, millis });
      const { traceparent } = request.headers;
      ports.traces?.exchange({ method, route, status, code, millis: elapsed, request: among, traceparent });
      response.writeHead(status, {
        ...standingHeaders(requestId, request.socket),
        // What a caller has already is not described again (RFC 9110 15.4.5).
        ...(status === NOT_MODIFIED
          ? {}
          : { "content-type": type, "content-length": source?.bytes ?? Buffer.byteLength(body) }),
        ...headers,
        ...(ports.draining() ? { connection: "close" } : {}),
      });
      if (source === undefined) return void response.end(body);
      // The length is told above: a caller notices an end that came too early.
      pipeline(source.stream, response, () => undefined);
    };
    const run = Either.isLeft(matched)
      ? Effect.fail(matched.left)
      : handled(matched.right, { request, requestId, named, ports });
    if (!Effect.isEffect(run)) return answer(Exit.succeed(run));
    const held = (fault: HttpFault): Effect.Effect<void> =>
      heldBack(fault, arrivedAt + ports.peer.settings.answerMillis - ports.elapsedMillis());
    // Only when all it held is given back, its body too.
    const fiber = Effect.runFork(Effect.tapError(Effect.scoped(run), held));
    fiber.addObserver(answer);
    response.on("close", () => {
      if (!response.writableEnded) fiber.unsafeInterruptAsFork(FiberId.none);
    });
  };
