/**
 * Which endpoint a method and a path lead to. There is a handler for each definition and for nothing else. Paths are
 * compared as they were sent: only the ref is ever decoded, once, by the handler that knows it is one.
 */
import { Either } from "effect";
import type { Handler } from "./ApiCall.ts";
import { readOne, register, replaceMetadata } from "./ApproverHandlers.ts";
import { audit } from "./AuditHandlers.ts";
import { backup } from "./BackupHandler.ts";
import { description, reference } from "./DescriptionHandlers.ts";
import { type Endpoint, type Holes, holesOf, type Method } from "./endpoints/Endpoint.ts";
import { type EndpointName, namedEndpoints } from "./endpoints/Endpoints.ts";
import { finish, options, page } from "./EnrollmentHandlers.ts";
import { type HttpFault, httpFault } from "./HttpErrors.ts";
import { describeAuthority, listIdentities } from "./IdentityHandlers.ts";
import { createKey, destroyKey, refreshKey, repairKey, rotateKey, sign } from "./KeyHandlers.ts";
import { listKeys, readGeneration, readOneKey, readPublicKey, verify } from "./KeyReadHandlers.ts";
import { list } from "./ListHandlers.ts";
import { health, readable, ready } from "./Probes.ts";
import { resolve } from "./PolicyHandlers.ts";
import { pathIn } from "./RequestTarget.ts";
import { promote, readPromotion } from "./PromotionHandlers.ts";
import { configuration, init, rekey, restore, rotateIntegrity, seal, status, unseal } from "./SystemHandlers.ts";

const handlers: { readonly [N in EndpointName]: Handler } = {
  registerApprover: register,
  listApprovers: list,
  readApprover: readOne,
  replaceMetadata,
  startEnrollment: options,
  finishEnrollment: finish,
  initialize: init,
  unseal,
  rekey,
  seal,
  restore,
  backup,
  rotateIntegrity,
  promote,
  readPromotion,
  readStatus: status,
  readHealth: health,
  readReadable: readable,
  readReady: ready,
  readConfiguration: configuration,
  resolvePolicy: resolve,
  createKey,
  listKeys,
  readKey: readOneKey,
  readGeneration,
  readPublicKey,
  rotateKey,
  refreshKey,
  destroyKey,
  sign,
  verify,
  repairKey,
  listIdentities,
  describeAuthority,
  readAudit: audit,
  readDescription: description,
  readReference: reference,
  readEnrollmentPage: page,
  readEnrollmentFile: page,
};

interface Served {
  readonly endpoint: Endpoint;
  readonly handler: Handler;
}

type Methods = ReadonlyMap<Method, Served>;

export interface Matched extends Served {
  readonly holes: Holes;
}

/** The methods of each path. */
export const routes: ReadonlyMap<string, Methods> = namedEndpoints.reduce((routes, [name, endpoint]) => {
  const methods = new Map(routes.get(endpoint.path)).set(endpoint.method, { endpoint, handler: handlers[name] });
  return routes.set(endpoint.path, methods);
}, new Map<string, Methods>());

/** The paths that have a hole, which are few. */
const withHoles = [...routes].flatMap(([path, methods]) => {
  const names = holesOf(path);
  if (names.length === 0) return [];
  const before = path.slice(0, path.indexOf("{"));
  return [{ before, segments: path.slice(before.length).split("/"), names, methods }];
});

const isHole = (segment: string): boolean => segment.startsWith("{");

const found = (path: string): { readonly methods: Methods; readonly holes: Holes } | undefined => {
  const methods = path.includes("{") ? undefined : routes.get(path);
  if (methods !== undefined) return { methods, holes: {} };
  for (const { before, segments, names, methods } of withHoles) {
    if (!path.startsWith(before)) continue;
    const given = path.slice(before.length).split("/");
    if (given.length !== segments.length) continue;
    if (!segments.every((each, at) => (isHole(each) ? given[at] !== "" : each === given[at]))) continue;
    const values = given.filter((_, at) => isHole(segments[at] ?? ""));
    return { methods, holes: Object.fromEntries(names.map((name, at) => [name, values[at] ?? ""])) };
  }
  return undefined;
};

const unknownPath = httpFault("NOT_FOUND", "There is no such path.", "See /docs for the paths there are.");

const wrongTarget = httpFault(
  "BAD_REQUEST",
  "The request line asks for neither a path nor an http or https URL without credentials.",
  "Send the path alone (RFC 9112 3.2.1).",
);

/** HEAD is GET without its body (RFC 9110 9.3.2). */
const allowed = (methods: Methods): string =>
  [...methods.keys()].flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method])).join(", ");

const servedOf = (method: string, methods: Methods): Served | undefined => {
  for (const [each, served] of methods) if (each === method || (each === "GET" && method === "HEAD")) return served;
  return undefined;
};

/**
 * What serves a request line; 400 for a malformed target, 404 for an unknown path, 405 with `Allow` for another
 * method.
 */
export const match = (method: string, target: string): Either.Either<Matched, HttpFault> => {
  const url = pathIn(target);
  if (url === undefined) return Either.left(wrongTarget);
  const query = url.indexOf("?");
  const there = found(query === -1 ? url : url.slice(0, query));
  if (there === undefined) return Either.left(unknownPath);
  const { methods, holes } = there;
  const served = servedOf(method, methods);
  if (served !== undefined) return Either.right({ ...served, holes });
  const allow = allowed(methods);
  return Either.left(
    httpFault("METHOD_NOT_ALLOWED", "The path is there, but not for this method.", `Use ${allow}.`, { allow }),
  );
};
