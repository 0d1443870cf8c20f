/**
 * What an endpoint is: one definition that its route, its checks and the description of the API are all made from
 * (Routes.ts, ApiCall.ts, OpenApi.ts).
 */
import type { JsonSchema, Shape } from "../../../core/codec/Shape.ts";
import type { ErrorCode } from "../Problems.ts";

export type Method = "GET" | "POST" | "PUT";

/**
 * What an endpoint is about, which decides what can go wrong beside its own problems: a `change` is judged by every
 * member, or by those that a key needs, a `read` by this peer's rows, an `operator`'s call is audited, and an `open` one
 * looks at no row.
 */
export type Kind = "change" | "key change" | "read" | "operator" | "open";

export interface Parameter {
  readonly in: "path" | "query" | "header";
  readonly name: string;
  readonly description: string;
  readonly isRequired?: boolean;
  readonly schema: JsonSchema;
  readonly example?: string;
}

export interface RequestBody {
  readonly shape: Shape<unknown>;
  readonly maxBytes: number;
  /** A missing body is read as one of no fields. */
  readonly isOptional?: boolean;
  /** It holds an unseal share: not even its digest is kept. */
  readonly isSecret?: boolean;
  readonly example: unknown;
}

/** Headers of answers, beside those of every answer. */
export type HeaderName = "ETag" | "X-EXPIRES-AT" | "Cache-Control" | "Content-Disposition";

export interface Answer {
  readonly description: string;
  /** The media type, where it is not JSON. */
  readonly type?: string;
  /** Missing where there is no body, or one that is not JSON. */
  readonly shape?: Shape<unknown>;
  readonly headers?: ReadonlyArray<HeaderName>;
  readonly example?: unknown;
}

export interface Endpoint {
  readonly method: Method;
  /** With holes, as in `/approvers/{ref}`, each a whole segment. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly kind: Kind;
  readonly token: "required" | "optional" | "none";
  /** Of which the token must grant one, `{…}` being what stands in the path. Without any, every valid token will do. */
  readonly permissions?: ReadonlyArray<string>;
  readonly parameters?: ReadonlyArray<Parameter>;
  readonly body?: RequestBody;
  readonly answers: { readonly [status: number]: Answer };
  /** Its own, beside those that {@link problemsOf} adds. */
  readonly problems: ReadonlyArray<ErrorCode>;
}

/** Checks a definition, and keeps its exact type. */
export const endpoint = <const E extends Endpoint>(definition: E): E => definition;

const hole = /\{(\w+)\}/g;

/** What stands in the holes of a path, by their names. */
export type Holes = Readonly<Record<string, string>>;

/** The names of the holes of a path or permission, in their order. */
export const holesOf = (path: string): ReadonlyArray<string> => [...path.matchAll(hole)].map(([, name = ""]) => name);

/** A path or permission with its holes filled. */
export const filled = (path: string, holes: Holes): string =>
  path.replaceAll(hole, (_, name: string) => holes[name] ?? "");

const ofKind: { readonly [K in Kind]: ReadonlyArray<ErrorCode> } = {
  change: ["APPROVER_REPLICATION_UNAVAILABLE", "PREPARATION_CAPACITY", "REQUEST_CAPACITY", "NOT_INITIALIZED"],
  "key change": ["KEY_REPLICATION_UNAVAILABLE", "PREPARATION_CAPACITY", "REQUEST_CAPACITY", "NOT_INITIALIZED"],
  read: ["SEALED", "VERIFYING", "RECOVERING", "OUTDATED", "NOT_INITIALIZED", "INTEGRITY_FAILURE"],
  operator: ["AUDIT_UNAVAILABLE"],
  open: [],
};

const isChange = (kind: Kind): boolean => kind === "change" || kind === "key change";

/** Every code that an endpoint answers with, except those that any request can meet before it is one ({@link anywhere}). */
export const problemsOf = ({ kind, token, permissions, body, problems }: Endpoint): ReadonlyArray<ErrorCode> => {
  const codes: ReadonlyArray<ErrorCode> = [
    ...problems,
    ...(token === "none" ? [] : (["UNAUTHENTICATED"] as const)),
    // For a change, such a fault of this peer is one of a member.
    ...(token !== "required" || isChange(kind) ? [] : (["TOKEN_KEYS_UNAVAILABLE", "CLOCK_IN_DOUBT"] as const)),
    ...(permissions === undefined ? [] : (["ACCESS_DENIED"] as const)),
    ...(body === undefined
      ? []
      : (["INVALID_REQUEST_BODY", "BODY_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE", "BODY_CAPACITY"] as const)),
    ...ofKind[kind],
  ];
  return [...new Set(codes)];
};

/** What any request can be answered with, whatever it asks for, where there is an endpoint. */
export const anywhere: ReadonlyArray<ErrorCode> = [
  "BAD_REQUEST",
  "REQUEST_TIMEOUT",
  "HEADERS_TOO_LARGE",
  "INTERNAL_ERROR",
];
