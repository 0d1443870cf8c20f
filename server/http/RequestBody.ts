/** Reads a request body: of one media type, bounded, on time, and never more of them at once than allowed. */
import type { IncomingMessage } from "node:http";
import { Effect } from "effect";
import type { ByteBudget } from "./ByteBudget.ts";
import { type HttpFault, httpFault } from "./HttpErrors.ts";

export interface BodyLimits {
  readonly budget: ByteBudget;
  readonly maxBytes: number;
  readonly timeoutMillis: number;
}

const tooLarge = (maxBytes: number): HttpFault =>
  httpFault("BODY_TOO_LARGE", `A body takes at most ${maxBytes} bytes here.`, "Send less.");

const noCapacity = httpFault(
  "BODY_CAPACITY",
  "This peer holds as many bytes of request bodies as it may.",
  "Repeat the request after a moment, or send it to another peer.",
);

const wrongType = httpFault(
  "UNSUPPORTED_MEDIA_TYPE",
  "The body must be sent as application/json.",
  "Set Content-Type: application/json, without Content-Encoding.",
);

const tooSlow = httpFault("REQUEST_TIMEOUT", "The body did not arrive in time.", "Send the request again.");

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;

/** `application/json`, with no parameter but a charset of UTF-8 (RFC 8259 11 knows none). */
const jsonType = /^application\/json[\t ]*(;[\t ]*charset[\t ]*=[\t ]*"?utf-8"?[\t ]*)?$/i;

const isJson = ({ headers }: IncomingMessage): boolean =>
  jsonType.test(headers["content-type"] ?? "") && headers["content-encoding"] === undefined;

/** Reads what arrives; `resume` is called once. Returns how to stop listening. */
const collect = (
  request: IncomingMessage,
  maxBytes: number,
  hold: (bytes: number) => boolean,
  resume: (result: Effect.Effect<Uint8Array, HttpFault>) => void,
): (() => void) => {
  const chunks: Array<Uint8Array> = [];
  let length = 0;
  const onData = (chunk: Uint8Array): void => {
    length += chunk.length;
    if (length > maxBytes) return settle(Effect.fail(tooLarge(maxBytes)));
    if (!hold(length)) return settle(Effect.fail(noCapacity));
    chunks.push(chunk);
  };
  const onEnd = (): void => settle(Effect.succeed(Uint8Array.from(Buffer.concat(chunks, length))));
  // The caller is gone; nobody reads this answer.
  const onClose = (): void => settle(Effect.fail(tooSlow));
  const stop = (): void => {
    request.off("data", onData).off("end", onEnd).off("close", onClose);
    // What still comes is read and thrown away, until the server's own time limit ends the connection.
    request.resume();
  };
  const settle = (result: Effect.Effect<Uint8Array, HttpFault>): void => {
    stop();
    resume(result);
  };
  request.on("data", onData).on("end", onEnd).on("close", onClose);
  return stop;
};

/**
 * The body of a request, and its bytes out of the budget until the scope closes.
 *
 * Fails with 415 for another media type than JSON (a missing body has none), 413
 * past `maxBytes`, 503 when the budget is used up, 408 when it takes too long.
 * A declared length is reserved as a whole before anything is read.
 */
export const readBody = (request: IncomingMessage, { budget, maxBytes, timeoutMillis }: BodyLimits) =>
  Effect.gen(function* () {
    if (!hasBody(request)) return new Uint8Array(0);
    if (!isJson(request)) return yield* Effect.fail(wrongType);
    const declared = Number(request.headers["content-length"] ?? 0);
    if (declared > maxBytes) return yield* Effect.fail(tooLarge(maxBytes));
    let held = 0;
    yield* Effect.addFinalizer(() => Effect.sync(() => budget.give(held)));
    const hold = (bytes: number): boolean => {
      if (bytes <= held) return true;
      if (!budget.take(bytes - held)) return false;
      held = bytes;
      return true;
    };
    if (!hold(declared)) return yield* Effect.fail(noCapacity);
    return yield* Effect.async<Uint8Array, HttpFault>((resume) => {
      const timer = setTimeout(() => finish(Effect.fail(tooSlow)), timeoutMillis);
      const stop = collect(request, maxBytes, hold, (result) => finish(result));
      const finish = (result: Effect.Effect<Uint8Array, HttpFault>): void => {
        clearTimeout(timer);
        stop();
        resume(result);
      };
      return Effect.sync(() => {
        clearTimeout(timer);
        stop();
      });
    });
  });
