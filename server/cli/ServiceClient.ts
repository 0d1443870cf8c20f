/** One HTTP call to a peer, and an honest account of what a failure leaves known. */
import * as HttpClient from "@effect/platform/HttpClient";
import { RequestError } from "@effect/platform/HttpClientError";
import * as HttpClientRequest from "@effect/platform/HttpClientRequest";
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient";
import { Agent } from "@effect/platform-node/Undici";
import { Effect, Redacted, type Scope } from "effect";
import { CliFailure } from "./CliFailure.ts";
import { parseProblem } from "./Problem.ts";

/** Far above the largest record; a body beyond it is not an answer of this service. */
const maxResponseBytes = 16 * 1024 * 1024;
/** How long opening a connection may take, TLS included. */
export const connectMillis = 5_000;

export interface ServiceAddress {
  /** Scheme, host and port, without a path. */
  readonly origin: string;
  readonly token: Redacted.Redacted | undefined;
  /** PEM texts: the authorities to trust, and the client certificate to show. */
  readonly tls: { readonly ca?: string; readonly cert?: string; readonly key?: string };
  /** How long a whole call may take. */
  readonly timeoutMillis: number;
}

export interface ServiceCall {
  readonly method: "GET" | "POST" | "PUT";
  readonly path: string;
  readonly body?: unknown;
  /** The revision that a change builds on. */
  readonly ifMatch?: number;
  /** A body in JSON that is sent byte for byte, in place of `body`. */
  readonly text?: Uint8Array;
  /** Nothing is changed by it, whatever its method is. */
  readonly isRead?: boolean;
  /** The same call once more finds nothing of this one: it signs, invites, or repairs, anew. */
  readonly beginsAnew?: boolean;
  /** What to do first where its outcome is not known: repeated, it is refused, or does more than was meant. */
  readonly lookFirst?: string;
}

/** Of a call: what to do where nobody knows whether it was carried out. */
type Afterwards = Pick<ServiceCall, "beginsAnew" | "lookFirst">;

export interface ServiceAnswer {
  /** 200 to 299. */
  readonly status: number;
  /** The parsed JSON body. */
  readonly body: unknown;
}

export interface Service {
  /** Scheme, host and port of the peer that is called. */
  readonly origin: string;
  readonly address: ServiceAddress;
  /** Fails with a {@link CliFailure} for every answer that is not a success in JSON. */
  readonly call: (call: ServiceCall) => Effect.Effect<ServiceAnswer, CliFailure>;
}

const field = (cause: unknown, name: "code" | "syscall"): string => {
  const value: unknown = cause instanceof Error && name in cause ? Reflect.get(cause, name) : undefined;
  return typeof value === "string" ? value : "";
};

const tlsCode = /^(ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|HOSTNAME_MISMATCH|EPROTO)/;

/** Why no byte of the request left this machine; undefined when some may have. */
export const neverSent = (cause: unknown): string | undefined => {
  const first: unknown = cause instanceof AggregateError ? cause.errors[0] : cause;
  const code = field(first, "code");
  if (code === "UND_ERR_CONNECT_TIMEOUT") return "no connection within 5 s";
  if (code === "ECONNREFUSED") return "nothing listens there";
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") return "the host name is not known";
  if (code === "CERT_HAS_EXPIRED") return "its certificate has expired; renew it there, and send that peer SIGHUP";
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") return "its certificate is for another address; call it by that one";
  if (tlsCode.test(code)) return `TLS failed (${code}); check http or https, and --tls-ca`;
  const syscall = field(first, "syscall");
  return syscall === "connect" || syscall === "getaddrinfo" ? code : undefined;
};

export const unreachable = (origin: string, why: string): CliFailure =>
  new CliFailure({
    kind: "unreachable",
    message: `could not reach the service at ${origin}: ${why}`,
    hint: "check --url and that the peer runs",
  });

const nextAfter = ({ beginsAnew = false, lookFirst }: Afterwards): string => {
  if (lookFirst !== undefined) return lookFirst;
  return beginsAnew
    ? "it may be done already; the same command does it once more"
    : "repeat the same command: an identical request converges";
};

/** An answer this service never gives, or none: harmless for a read, an unknown outcome for a change. */
const noAnswer = (origin: string, call: ServiceCall, why: string): CliFailure => {
  const { method, isRead = method === "GET" } = call;
  if (isRead) return unreachable(origin, why);
  const message = `the request was sent and ${why}: the outcome is not known yet`;
  return new CliFailure({ kind: "unknown", message, hint: nextAfter(call) });
};

export const refusal = (body: unknown, call: Afterwards = {}): CliFailure | undefined => {
  const problem = parseProblem(body);
  if (problem === undefined) return undefined;
  return problem.outcomeUnknown === true
    ? new CliFailure({
        kind: "unknown",
        message: "the outcome is not known yet",
        hint: nextAfter(call),
        problem,
      })
    : new CliFailure({ kind: "refused", message: "the service refused", problem });
};

export const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

export const request = ({ origin, token }: ServiceAddress, { method, path, body, text, ifMatch }: ServiceCall) => {
  const bare = HttpClientRequest.make(method)(`${origin}${path}`, {
    acceptJson: true,
    headers: ifMatch === undefined ? {} : { "if-match": `"${ifMatch}"` },
  });
  const authorized =
    token === undefined ? bare : HttpClientRequest.setHeader(bare, "x-jwt-token", Redacted.value(token));
  if (text !== undefined) return HttpClientRequest.bodyUint8Array(authorized, text, "application/json");
  return body === undefined ? authorized : HttpClientRequest.bodyUnsafeJson(authorized, body);
};

const callWith = (client: HttpClient.HttpClient, address: ServiceAddress, call: ServiceCall) =>
  Effect.gen(function* () {
    const response = yield* client.execute(request(address, call));
    return { status: response.status, text: yield* response.text };
  }).pipe(
    Effect.mapError((error) => {
      const why = error instanceof RequestError ? neverSent(error.cause) : undefined;
      return why === undefined
        ? noAnswer(address.origin, call, "the connection broke before the answer was complete")
        : unreachable(address.origin, why);
    }),
    Effect.timeoutFail({
      duration: address.timeoutMillis,
      onTimeout: () => noAnswer(address.origin, call, `no answer came within ${address.timeoutMillis / 1000} s`),
    }),
    Effect.flatMap(({ status, text }): Effect.Effect<ServiceAnswer, CliFailure> => {
      const body = parsed(text);
      if (status >= 200 && status < 300 && body !== undefined) return Effect.succeed({ status, body });
      const why = `what answered there (status ${status}) is not this service`;
      return Effect.fail(
        (status >= 400 ? refusal(body, call) : undefined) ??
          // A redirect or a plain 4xx changed nothing; a gateway's 5xx may hide that it did.
          (status >= 300 && status < 500 ? unreachable(address.origin, why) : noAnswer(address.origin, call, why)),
      );
    }),
  );

/** Opens a client for one peer; its connections close with the scope. Redirects are not followed. */
export const openService = (address: ServiceAddress): Effect.Effect<Service, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(
      () =>
        new Agent({
          connect: { ...address.tls, timeout: connectMillis },
          maxResponseSize: maxResponseBytes,
        }),
    ),
    (agent) => Effect.promise(() => agent.destroy()),
  ).pipe(
    Effect.map((agent) => {
      const client = HttpClient.withTracerPropagation(NodeHttpClient.makeUndici(agent), false);
      return { origin: address.origin, address, call: (call) => callWith(client, address, call) };
    }),
  );
