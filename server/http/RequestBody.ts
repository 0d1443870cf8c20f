/** Reads a request body: of one media type, bounded, on time, and never more of them at once than allowed. */
import type { IncomingMessage } from "node:http";
import { Effect } from "effect";
import { addressKey } from "../net/AddressKey.ts";
import type { BodyAccount, BodyBudget, FullBudget } from "../../runtime/BodyBudget.ts";
import { GrowingBytes } from "../../runtime/GrowingBytes.ts";
import { type HttpFault, httpFault } from "./HttpErrors.ts";

/** How slowly a body may come: a moment to begin with, and more time for every byte that has arrived. */
interface Pace {
  readonly leastMillis: number;
  readonly bytesPerSecond: number;
}

/** A body that only trickles is refused after these three seconds; one of 256 KiB has as long as any may take. */
const usualPace: Pace = { leastMillis: 3_000, bytesPerSecond: 32 * 1024 };

export interface BodyLimits {
  readonly budget: BodyBudget;
  /** The sender, where the budget has bounds for one actor. */
  readonly actor?: string;
  readonly maxBytes: number;
  readonly timeoutMillis: number;
  /** 32 KiB a second after three seconds, unless a test is in more of a hurry. */
  readonly pace?: Pace;
}

const tooLarge = (maxBytes: number): HttpFault =>
  httpFault("BODY_TOO_LARGE", `A body takes at most ${maxBytes} bytes here.`, "Send less.");

const fullBudget = (whose: string): HttpFault =>
  httpFault(
    "BODY_CAPACITY",
    `This peer holds as many bytes of request bodies${whose} as it may.`,
    "Repeat the request after a moment, or send it to another peer.",
  );

const noCapacity: { readonly [F in FullBudget]: HttpFault } = {
  all: fullBudget(""),
  actor: fullBudget(" of this token's subject"),
  address: fullBudget(" from this address"),
};

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

/** Until when the next bytes must be here, in milliseconds from the beginning. */
const deadline = (length: number, { timeoutMillis, pace = usualPace }: BodyLimits): number =>
  Math.min(timeoutMillis, pace.leastMillis + (1000 * length) / pace.bytesPerSecond);

/** Reads what arrives; `resume` is called once. Returns how to stop listening. */
const collect = (
  request: IncomingMessage,
  limits: BodyLimits,
  account: BodyAccount,
  resume: (result: Effect.Effect<Uint8Array, HttpFault>) => void,
): (() => void) => {
  const body = new GrowingBytes(limits.maxBytes);
  let length = 0;
  const { socket } = request;
  const startedAt = performance.now();
  const onData = (chunk: Uint8Array): void => {
    length += chunk.length;
    if (length > limits.maxBytes) return settle(Effect.fail(tooLarge(limits.maxBytes)));
    const full = account.take(chunk.length);
    if (full !== undefined) return settle(Effect.fail(noCapacity[full]));
    body.add(chunk);
  };
  const onEnd = (): void => settle(Effect.succeed(body.whole()));
  // The caller is gone; nobody reads this answer.
  const onClose = (): void => settle(Effect.fail(tooSlow));
  const onTime = (): void => {
    const left = startedAt + deadline(length, limits) - performance.now();
    if (left <= 0) settle(Effect.fail(tooSlow));
    else timer = setTimeout(onTime, left);
  };
  let timer = setTimeout(onTime, deadline(0, limits));
  const stop = (): void => {
    clearTimeout(timer);
    request.off("data", onData).off("end", onEnd).off("close", onClose);
    socket.off("close", onClose);
    // Further bytes are read and thrown away, until the server's own time limit ends the connection.
    request.resume();
  };
  const settle = (result: Effect.Effect<Uint8Array, HttpFault>): void => {
    stop();
    resume(result);
  };
  request.on("data", onData).on("end", onEnd).on("close", onClose);
  // A request that was answered in the middle of its body does not hear that its connection is gone.
  socket.once("close", onClose);
  return stop;
};

/**
 * The body of a request, and its bytes out of the budget until the scope closes.
 *
 * Fails with 415 for another media type than JSON (a missing body has none), 413 past `maxBytes`, 503 when the budget
 * has no room for what has arrived, 408 when it takes longer than `timeoutMillis`, or comes at less than 32 KiB a
 * second after the first three.
 */
export const readBody = (request: IncomingMessage, limits: BodyLimits) =>
  Effect.gen(function* () {
    if (!hasBody(request)) return new Uint8Array(0);
    if (!isJson(request)) return yield* Effect.fail(wrongType);
    const { budget, actor, maxBytes } = limits;
    if (Number(request.headers["content-length"] ?? 0) > maxBytes) return yield* Effect.fail(tooLarge(maxBytes));
    const account = budget.open({ actor, address: addressKey(request.socket.remoteAddress) });
    yield* Effect.addFinalizer(() => Effect.sync(account.close));
    return yield* Effect.async<Uint8Array, HttpFault>((resume) =>
      Effect.sync(collect(request, limits, account, resume)),
    );
  });
