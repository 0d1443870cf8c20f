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
const ENDED = "this peer ends";
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

/** Why there is no answer: the name that Node or its TLS gives the fault, which is nothing the other side chose. */
const faultOf = ({ code = "" }: NodeJS.ErrnoException): string =>
  `it cannot be reached (${/^[A-Z0-9_]{1,64}$/.test(code) ? code : "unknown reason"}); check address and certificate`;

/** The status of the answer, whose body is not read, or why there is none. The connection is over then. */
const answerOf = (
  url: string,
  headers: CollectorHeaders,
  body: string,
  { closing, answerMillis = ANSWER_MILLIS }: CollectorOptions,
): Promise<number | string> =>
  new Promise((resolve) => {
    const send = url.startsWith("https:") ? httpsRequest : httpRequest;
    const request = send(url, {
      method: "POST",
      // No connection is kept: an agent would hold what a collector goes on to send.
      agent: false,
      maxHeaderSize: MOST_HEADER_BYTES,
      headers: { ...headers, "content-type": "application/json", "content-length": Buffer.byteLength(body) },
    });
    const end = (answer: number | string): void => {
      clearTimeout(timer);
      closing.removeEventListener("abort", giveUp);
      request.destroy();
      resolve(answer);
    };
    const giveUp = (): void => end(ENDED);
    const timer = setTimeout(() => end(`it does not answer within ${answerMillis} ms`), answerMillis);
    closing.addEventListener("abort", giveUp, { once: true });
    request.on("response", ({ statusCode = 0 }) => end(statusCode));
    request.on("error", (fault) => end(faultOf(fault)));
    request.end(body);
  });

/** A collector; no redirect of its is followed. It is for the caller to keep the number of requests under way small. */
export const collectorAt =
  (options: CollectorOptions): Send =>
  async (signal, body) => {
    const { endpoint, headersFile, closing } = options;
    const headers = await Effect.runPromise(Effect.either(loadCollectorHeaders(headersFile)));
    if (Either.isLeft(headers)) return { _tag: "Failed", reason: headers.left.message };
    if (closing.aborted) return { _tag: "Failed", reason: ENDED };
    const answer = await answerOf(`${endpoint}/v1/${signal}`, headers.right, body, options);
    if (typeof answer === "string") return { _tag: "Failed", reason: answer };
    if (answer >= 200 && answer < 300) return { _tag: "Taken" };
    const reason = `it answers ${answer}`;
    return passing.has(answer) ? { _tag: "Failed", reason } : { _tag: "Refused", reason };
  };
