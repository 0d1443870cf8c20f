/** Registration, exact reads and replacement of metadata (contract 4.1). */
import { Effect, Either } from "effect";
import type { Answer } from "../../core/Action.ts";
import type { ActorCheck } from "../../core/auth/ActorCheck.ts";
import { REGISTER_PATH } from "../../core/commands/registerKey/Registration.ts";
import { metadataPath, replacementOf } from "../../core/commands/replaceMetadata/Replacement.ts";
import type { ReadRecord } from "../../runtime/Reads.ts";
import {
  type ApiAnswer,
  type ApiCall,
  authorizedToChange,
  bearerNow,
  type Handler,
  holderOf,
  mutated,
} from "./ApiCall.ts";
import { entityTag, recordJson } from "./ApproverRecord.ts";
import { faultOf, type HttpFault, httpFault } from "./HttpErrors.ts";
import { isKnown, notExcluded } from "./Preconditions.ts";
import { readBody } from "./RequestBody.ts";

/** How long the body of a mutation may take to arrive. */
const BODY_MILLIS = 10_000;

const recordAnswer = (status: number, record: ReadRecord): ApiAnswer => ({
  status,
  body: recordJson(record),
  headers: { etag: entityTag(record) },
});

/** The answer to a mutation that registers: 201 for a new version, 200 for one that was there already. */
export const registeredAnswer = (answered: Answer): Effect.Effect<ApiAnswer, HttpFault> => {
  if (answered._tag === "Rejected") return Effect.fail(faultOf(answered.rejection));
  if (answered._tag !== "Registered") return Effect.dieMessage(`a registration was answered with ${answered._tag}`);
  return Effect.succeed(recordAnswer(answered.created ? 201 : 200, answered));
};

/** The body of a change whose bearer may make it, as its endpoint bounds it. */
export const bodyOf = ({ request, endpoint, ports: { budget } }: ApiCall, actor: ActorCheck) =>
  readBody(request, {
    budget,
    actor: holderOf(actor),
    maxBytes: endpoint.body?.maxBytes ?? 0,
    timeoutMillis: BODY_MILLIS,
  });

/** POST /v1/custody/approvers. The token is judged before a byte of the body is read. */
export const register: Handler = (call) =>
  Effect.gen(function* () {
    const bearer = yield* authorizedToChange(call);
    const rawBody = yield* bodyOf(call, bearer.actor);
    const command = { method: "POST", path: REGISTER_PATH, ifMatch: undefined, rawBody };
    return yield* registeredAnswer(yield* mutated(call, command, bearer));
  });

const malformedRef = httpFault(
  "INVALID_REF",
  "The ref in the path is not percent-encoded UTF-8.",
  "Encode the ref once, as encodeURIComponent does.",
);

/** Decodes the path segment exactly once: `@` and `:` may stand there raw or encoded. */
const decodeRef = (rest: string): string | undefined => {
  try {
    return decodeURIComponent(rest);
  } catch {
    return undefined;
  }
};

/** A record is kept by its reader alone, who asks each time whether it is still the current one (RFC 9111 5.2.2). */
const revalidated = { "cache-control": "private, no-cache" };

/** A record that was asked for: whole, or nothing of it where the caller has it already (RFC 9110 15.4.5). */
const readAnswer = ({ request }: ApiCall, record: ReadRecord): Either.Either<ApiAnswer, HttpFault> =>
  Either.map(isKnown(request.headers, entityTag(record)), (known) => {
    const { headers, ...whole } = recordAnswer(200, record);
    return { ...whole, ...(known ? { status: 304, body: "" } : {}), headers: { ...headers, ...revalidated } };
  });

const readAs = (call: ApiCall, actor: ActorCheck): Either.Either<ApiAnswer, HttpFault> => {
  const ref = decodeRef(call.holes["ref"] ?? "");
  // A caller who may not read learns nothing about the path either, so an undecodable ref is judged as an empty one.
  const row = call.ports.peer.read(actor, ref ?? "");
  if (Either.isRight(row)) return readAnswer(call, row.right);
  const fault = faultOf(row.left);
  return Either.left(ref === undefined && fault.code === "INVALID_REF" ? malformedRef : fault);
};

/** GET /v1/custody/approvers/{ref}. Never waits for a mutation and never writes. */
export const readOne: Handler = (call) => {
  const bearer = bearerNow(call);
  if (Effect.isEffect(bearer)) return Effect.flatMap(bearer, ({ actor }) => readAs(call, actor));
  return Either.getOrElse(readAs(call, bearer.actor), Effect.fail);
};

/** No revision is longer: of a longer If-Match, so much tells what it is. */
const TELLING_CHARACTERS = 64;

const partial = httpFault(
  "BAD_REQUEST",
  "Metadata is replaced as a whole, not by a range of its bytes.",
  "Leave Content-Range out (RFC 9110 14.5).",
);

/** PUT /v1/custody/approvers/{ref}/metadata (contract 4.1.2). Judged as a registration is: the token before the body. */
export const replaceMetadata: Handler = (call) =>
  Effect.gen(function* () {
    const {
      request: { headers },
      ports: { peer },
    } = call;
    const bearer = yield* authorizedToChange(call);
    const ref = decodeRef(call.holes["ref"] ?? "");
    if (ref === undefined) return yield* Effect.fail(malformedRef);
    if (headers["content-range"] !== undefined) return yield* Effect.fail(partial);
    const rawBody = yield* bodyOf(call, bearer.actor);
    // Repeated header lines arrive as one list, which no revision is.
    const ifMatch = headers["if-match"]?.slice(0, TELLING_CHARACTERS);
    const command = { method: "PUT", path: metadataPath(ref), ifMatch, rawBody };
    const meant = replacementOf(command);
    if (Either.isRight(meant)) yield* notExcluded(headers, `"${meant.right.baseRevision}"`);
    const answered = yield* mutated(call, command, bearer);
    if (answered._tag === "Rejected") return yield* Effect.fail(faultOf(answered.rejection));
    if (answered._tag !== "Replaced") return yield* Effect.dieMessage(`a replacement was answered ${answered._tag}`);
    const record = yield* Either.mapLeft(peer.withObservations(answered.approver), faultOf);
    return recordAnswer(200, record);
  });
