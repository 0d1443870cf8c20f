/** The way to a collector over OTLP/HTTP, with a bound on everything it could do. */
import { Effect, Either } from "effect";
import { boundedCall, type NoAnswer } from "../net/BoundedCall.ts";
import { loadCollectorHeaders } from "./CollectorHeaders.ts";

export type Signal = "traces" | "metrics";

/** Taken; refused for good; or not delivered, and worth another attempt. Reasons hold nothing that a collector said. */
export type Delivery =
  | { readonly _tag: "Taken" }
  | { readonly _tag: "Refused"; readonly reason: string }
  | { readonly _tag: "Failed"; readonly reason: string };

/** Sends one body. Never rejects. */
export type Send = (signal: Signal, body: string) => Promise<Delivery>;

/** From the first attempt to connect to the header of the answer. */
const ANSWER_MILLIS = 10_000;

/** What the protocol has sent again (OTLP 1, "Failures"). */
const passing: ReadonlySet<number> = new Set([429, 502, 503, 504]);

export interface CollectorOptions {
  /** Without a slash at its end. */
  readonly endpoint: string;
  /** Read anew each time, so that a token can be renewed. */
  readonly headersFile: string | undefined;
  /** Ends what is under way. */
  readonly closing: AbortSignal;
  readonly answerMillis?: number;
}

const reasonOf = (none: NoAnswer, millis: number): string => {
  switch (none._tag) {
    case "Late":
      return `it does not answer within ${millis} ms`;
    case "Ended":
      return "this peer ends";
    case "Broken":
      return `it cannot be reached (${none.code ?? "unknown reason"}); check address and certificate`;
  }
};

/** A collector; no redirect of its is followed. It is for the caller to keep the number of requests under way small. */
export const collectorAt =
  (options: CollectorOptions): Send =>
  async (signal, body) => {
    const { endpoint, headersFile, closing, answerMillis = ANSWER_MILLIS } = options;
    const headers = await Effect.runPromise(Effect.either(loadCollectorHeaders(headersFile)));
    if (Either.isLeft(headers)) return { _tag: "Failed", reason: headers.left.message };
    const answered = await boundedCall({
      url: `${endpoint}/v1/${signal}`,
      method: "POST",
      headers: { ...headers.right, "content-type": "application/json" },
      body,
      timeoutMillis: answerMillis,
      mostBytes: () => 0,
      closing,
    });
    if (Either.isLeft(answered)) return { _tag: "Failed", reason: reasonOf(answered.left, answerMillis) };
    const { status } = answered.right;
    if (status >= 200 && status < 300) return { _tag: "Taken" };
    const reason = `it answers ${status}`;
    return passing.has(status) ? { _tag: "Failed", reason } : { _tag: "Refused", reason };
  };
