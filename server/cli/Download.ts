/** An answer too large for memory: taken piece by piece, as fast as it is put away. */
import * as HttpClient from "@effect/platform/HttpClient";
import { RequestError } from "@effect/platform/HttpClientError";
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient";
import { Agent } from "@effect/platform-node/Undici";
import { Effect, type Scope, Stream } from "effect";
import type { CliFailure } from "./CliFailure.ts";
import {
  connectMillis,
  neverSent,
  parsed,
  refusal,
  request,
  type ServiceAddress,
  type ServiceCall,
  unreachable,
} from "./ServiceClient.ts";

/** How long a peer may take to copy a large database before it begins to answer. */
const BEGINNING_MILLIS = 30 * 60_000;

const agentOf = ({ tls, timeoutMillis }: ServiceAddress) =>
  Effect.acquireRelease(
    Effect.sync(
      () =>
        new Agent({
          connect: { ...tls, timeout: connectMillis },
          headersTimeout: BEGINNING_MILLIS,
          bodyTimeout: timeoutMillis,
        }),
    ),
    (agent) => Effect.promise(() => agent.destroy()),
  );

export interface Download {
  /** Of the whole body; undefined where the answer does not say. */
  readonly bytes: number | undefined;
  /** Hands over every piece; fails where the body breaks off. */
  readonly each: (take: (piece: Uint8Array) => Promise<void>) => Effect.Effect<void, CliFailure>;
}

/** Begins a download of one media type; its connection closes with the scope. Refusals fail as those of a call do. */
export const download = (
  address: ServiceAddress,
  call: ServiceCall,
  type: string,
): Effect.Effect<Download, CliFailure, Scope.Scope> =>
  Effect.gen(function* () {
    const { origin } = address;
    const client = HttpClient.withTracerPropagation(NodeHttpClient.makeUndici(yield* agentOf(address)), false);
    const brokenOff = unreachable(origin, "the connection broke before the answer was complete");
    const response = yield* Effect.mapError(client.execute(request(address, call)), (error) => {
      const why = error instanceof RequestError ? neverSent(error.cause) : undefined;
      return why === undefined ? brokenOff : unreachable(origin, why);
    });
    const { status, headers } = response;
    if (status !== 200 || headers["content-type"] !== type) {
      const text = yield* Effect.mapError(response.text, () => brokenOff);
      const stranger = unreachable(origin, `what answered there (status ${status}) is not this service`);
      return yield* (status >= 400 ? refusal(parsed(text)) : undefined) ?? stranger;
    }
    const bytes = Number(headers["content-length"] ?? Number.NaN);
    return {
      bytes: Number.isSafeInteger(bytes) ? bytes : undefined,
      each: (take) =>
        Stream.runForEach(response.stream, (piece) => Effect.promise(() => take(piece))).pipe(
          Effect.mapError(() => brokenOff),
        ),
    };
  });
