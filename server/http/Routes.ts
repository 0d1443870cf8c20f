/**
 * Which handler a method and a path lead to. Paths are compared as they were
 * sent: only the ref is ever decoded, once, by the handler that knows it is one.
 */
import { Either } from "effect";
import { OPTIONS_PATH } from "../../core/commands/enrollPasskey/Enrollment.ts";
import { FINISH_PATH } from "../../core/commands/enrollPasskey/Finish.ts";
import { REGISTER_PATH } from "../../core/commands/registerKey/Registration.ts";
import type { Handler } from "./ApiCall.ts";
import { readOne, register, replaceMetadata } from "./ApproverHandlers.ts";
import { audit, AUDIT_PATH } from "./AuditHandlers.ts";
import { ENROLL_PATH } from "../enroll/EnrollmentPage.ts";
import { finish, options, page } from "./EnrollmentHandlers.ts";
import { type HttpFault, httpFault } from "./HttpErrors.ts";
import { pathIn } from "./RequestTarget.ts";
import { health, readable, ready } from "./Probes.ts";
import { configuration, init, rekey, restore, rotateIntegrity, seal, status, unseal } from "./SystemHandlers.ts";

type Methods = { readonly [M in "GET" | "POST" | "PUT"]?: Handler };

export interface Route {
  /** Its name in the log and the metrics: never the path itself, which the caller chose. */
  readonly name: string;
  readonly methods: Methods;
}

export interface Matched {
  readonly name: string;
  readonly handler: Handler;
  readonly rest: string;
}

const SYSTEM = "/v1/custody/system";
const REF_PREFIX = `${REGISTER_PATH}/`;
const METADATA_SUFFIX = "/metadata";

const exact: ReadonlyMap<string, Methods> = new Map([
  [REGISTER_PATH, { POST: register }],
  ["/v2/custody/config", { GET: configuration }],
  [OPTIONS_PATH, { POST: options }],
  [FINISH_PATH, { POST: finish }],
  [ENROLL_PATH, { GET: page }],
  [AUDIT_PATH, { GET: audit }],
  [`${SYSTEM}/init`, { POST: init }],
  [`${SYSTEM}/unseal`, { POST: unseal }],
  [`${SYSTEM}/seal`, { POST: seal }],
  [`${SYSTEM}/rekey`, { POST: rekey }],
  [`${SYSTEM}/restore`, { POST: restore }],
  [`${SYSTEM}/integrity/rotate`, { POST: rotateIntegrity }],
  [`${SYSTEM}/status`, { GET: status }],
  [`${SYSTEM}/health`, { GET: health }],
  [`${SYSTEM}/readable`, { GET: readable }],
  [`${SYSTEM}/ready`, { GET: ready }],
]);

const refRoute: Route = { name: `${REF_PREFIX}{ref}`, methods: { GET: readOne } };
const metadataRoute: Route = { name: `${refRoute.name}${METADATA_SUFFIX}`, methods: { PUT: replaceMetadata } };

const routeOf = (path: string): { readonly route: Route; readonly rest: string } | undefined => {
  const methods = exact.get(path);
  if (methods !== undefined) return { route: { name: path, methods }, rest: "" };
  if (path.startsWith(`${ENROLL_PATH}/`))
    return { route: { name: `${ENROLL_PATH}/{file}`, methods: { GET: page } }, rest: path.slice(ENROLL_PATH.length) };
  const below = path.startsWith(REF_PREFIX) ? path.slice(REF_PREFIX.length) : "";
  const isMetadata = below.endsWith(METADATA_SUFFIX);
  const rest = isMetadata ? below.slice(0, -METADATA_SUFFIX.length) : below;
  if (rest === "" || rest.includes("/")) return undefined;
  return { route: isMetadata ? metadataRoute : refRoute, rest };
};

const unknownPath = httpFault("NOT_FOUND", "There is no such path.", "See docs/api.md for the paths there are.");

const wrongTarget = httpFault(
  "BAD_REQUEST",
  "The request line asks for neither a path nor an http or https URL without credentials.",
  "Send the path alone (RFC 9112 3.2.1).",
);

/** HEAD is GET without its body (RFC 9110 9.3.2). */
const allowed = (methods: Methods): string =>
  Object.keys(methods)
    .flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]))
    .join(", ");

const handlerOf = (method: string, { GET, POST, PUT }: Methods): Handler | undefined =>
  new Map([
    ["GET", GET],
    ["HEAD", GET],
    ["POST", POST],
    ["PUT", PUT],
  ]).get(method);

/**
 * The handler for a request line; 400 for a malformed target, 404 for an unknown path, 405 with `Allow` for another
 * method.
 */
export const match = (method: string, target: string): Either.Either<Matched, HttpFault> => {
  const url = pathIn(target);
  if (url === undefined) return Either.left(wrongTarget);
  const query = url.indexOf("?");
  const found = routeOf(query === -1 ? url : url.slice(0, query));
  if (found === undefined) return Either.left(unknownPath);
  const { route, rest } = found;
  const handler = handlerOf(method, route.methods);
  if (handler !== undefined) return Either.right({ name: route.name, handler, rest });
  const allow = allowed(route.methods);
  return Either.left(
    httpFault("METHOD_NOT_ALLOWED", "The path is there, but not for this method.", `Use ${allow}.`, { allow }),
  );
};
