/** The way to a collector over OTLP/HTTP, with a bound on everything it could do. */
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { Effect, Either } from "effect";
import { type CollectorHeaders, loadCollectorHeaders } from "./CollectorHeaders.ts";

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
const MOST_HEADER_BYTES = 16 * 1024;

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

/** The status of the answer, whose body is not read; undefined where none came. The connection is over then. */
const statusOf = (
  url: string,
  headers: CollectorHeaders,
  body: string,
  { closing, answerMillis = ANSWER_MILLIS }: CollectorOptions,
): Promise<number | undefined> =>
  new Promise((resolve) => {
    const send = url.startsWith("https:") ? httpsRequest : httpRequest;
    const request = send(url, {
      method: "POST",
      // No connection is kept: an agent would hold what a collector goes on to send.
      agent: false,
      maxHeaderSize: MOST_HEADER_BYTES,
      headers: { ...headers, "content-type": "application/json", "content-length": Buffer.byteLength(body) },
    });
    const end = (status?: number): void => {
      clearTimeout(timer);
      closing.removeEventListener("abort", giveUp);
      request.destroy();
      resolve(status);
    };
    const giveUp = (): void => end();
    const timer = setTimeout(giveUp, answerMillis);
    closing.addEventListener("abort", giveUp, { once: true });
    request.on("response", ({ statusCode }) => end(statusCode));
    // Why it failed names hosts and addresses; the advice for an operator is the same for all.
    request.on("error", giveUp);
    request.end(body);
  });

/** A collector; no redirect of its is followed. It is for the caller to keep the number of requests under way small. */
export const collectorAt =
  (options: CollectorOptions): Send =>
  async (signal, body) => {
    const { endpoint, headersFile, closing, answerMillis = ANSWER_MILLIS } = options;
    const headers = await Effect.runPromise(Effect.either(loadCollectorHeaders(headersFile)));
    if (Either.isLeft(headers)) return { _tag: "Failed", reason: headers.left.message };
    if (closing.aborted) return { _tag: "Failed", reason: "this peer ends" };
    const status = await statusOf(`${endpoint}/v1/${signal}`, headers.right, body, options);
    if (status === undefined) {
      const reason = `it gives no answer within ${answerMillis} ms; check address and certificate`;
      return { _tag: "Failed", reason };
    }
    if (status >= 200 && status < 300) return { _tag: "Taken" };
    const reason = `it answers ${status}`;
    return passing.has(status) ? { _tag: "Failed", reason } : { _tag: "Refused", reason };
  };
