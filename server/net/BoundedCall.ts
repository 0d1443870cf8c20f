/**
 * One HTTP call to another program with a bound on everything that one could do. No connection is kept, no redirect is
 * followed, and whatever came of it, the socket is closed: `fetch` would go on reading an endless answer it was told to
 * leave.
 */
import { request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { request as httpsRequest, type RequestOptions } from "node:https";
import { Either } from "effect";

const MOST_HEADER_BYTES = 16 * 1024;

export interface BoundedCall {
  /** http or https. */
  readonly url: string;
  readonly method: "GET" | "POST";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly tls?: Pick<RequestOptions, "cert" | "key" | "ca" | "rejectUnauthorized" | "minVersion">;
  /** From the first attempt to connect to the last byte that is read. */
  readonly timeoutMillis: number;
  /** Of the body of an answer with that status; with 0 it is not waited for. */
  readonly mostBytes: (status: number) => number;
  /** Ends the call. */
  readonly closing?: AbortSignal;
}

export interface CallAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Uint8Array;
  /** Whether there was more than that many bytes, of which `body` has the beginning. */
  readonly isCut: boolean;
}

/** Why there is no answer; `code` is the name that Node or its TLS gives the fault, nothing the other side chose. */
export type NoAnswer =
  | { readonly _tag: "Late" }
  | { readonly _tag: "Ended" }
  | { readonly _tag: "Broken"; readonly code: string | undefined };

const brokenBy = ({ code = "" }: NodeJS.ErrnoException): NoAnswer => ({
  _tag: "Broken",
  code: /^[A-Z0-9_]{1,64}$/.test(code) ? code : undefined,
});

/** The answer, of whatever status. Left is why there is none. Never rejects. */
export const boundedCall = (call: BoundedCall): Promise<Either.Either<CallAnswer, NoAnswer>> =>
  new Promise((resolve) => {
    const { url, method, headers, body = "", tls, timeoutMillis, mostBytes, closing } = call;
    if (closing?.aborted === true) return void resolve(Either.left({ _tag: "Ended" }));
    const send = url.startsWith("https:") ? httpsRequest : httpRequest;
    const length = method === "POST" ? { "content-length": Buffer.byteLength(body) } : {};
    const request = send(url, {
      ...tls,
      method,
      // An agent would hold what the other side goes on to send.
      agent: false,
      maxHeaderSize: MOST_HEADER_BYTES,
      headers: { ...headers, ...length },
    });
    const end = (answer: Either.Either<CallAnswer, NoAnswer>): void => {
      clearTimeout(timer);
      closing?.removeEventListener("abort", giveUp);
      request.destroy();
      resolve(answer);
    };
    const giveUp = (): void => end(Either.left({ _tag: "Ended" }));
    const timer = setTimeout(() => end(Either.left({ _tag: "Late" })), timeoutMillis);
    closing?.addEventListener("abort", giveUp, { once: true });
    request.on("error", (fault) => end(Either.left(brokenBy(fault))));
    request.on("response", (response) => {
      const { statusCode: status = 0, headers: answered } = response;
      const most = mostBytes(status);
      const chunks: Array<Uint8Array> = [];
      let size = 0;
      const finish = (): void => {
        const read = new Uint8Array(Buffer.concat(chunks)).subarray(0, most);
        end(Either.right({ status, headers: answered, body: read, isCut: size > most }));
      };
      if (most === 0) return finish();
      response.on("error", (fault) => end(Either.left(brokenBy(fault))));
      response.on("end", finish);
      response.on("data", (chunk: Uint8Array) => {
        size += chunk.length;
        chunks.push(chunk);
        if (size > most) finish();
      });
    });
    request.end(body);
  });
