/** Registration and exact reads (contract 4.1). */
import { Effect, Either } from "effect";
import type { Answer } from "../../core/Action.ts";
import { Limits } from "../../core/base/Limits.ts";
import { REGISTER_PERMISSION } from "../../core/commands/approvers/Permissions.ts";
import { REGISTER_PATH } from "../../core/commands/registerKey/Registration.ts";
import type { ReadRecord } from "../../runtime/Reads.ts";
import { type ApiAnswer, authorizedToChange, bearerOf, type Handler, holderOf } from "./ApiCall.ts";
import { entityTag, recordJson } from "./ApproverRecord.ts";
import { faultOf, type HttpFault, httpFault } from "./HttpErrors.ts";
import { readBody } from "./RequestBody.ts";

/** How long the body of a mutation may take to arrive. */
export const BODY_MILLIS = 10_000;

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

/** POST /v1/custody/approvers. The token is judged before a byte of the body is read. */
export const register: Handler = (call) =>
  Effect.gen(function* () {
    const { request, ports } = call;
    const { token, actor } = yield* authorizedToChange(call, REGISTER_PERMISSION);
    const rawBody = yield* readBody(request, {
      budget: ports.budget,
      actor: holderOf(actor),
      maxBytes: Limits.requestBodyBytes,
      timeoutMillis: BODY_MILLIS,
    });
    const command = { method: "POST", path: REGISTER_PATH, ifMatch: undefined, rawBody };
    const answered = yield* Effect.promise(() => ports.peer.mutate(command, token, actor));
    return yield* registeredAnswer(answered);
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

/** GET /v1/custody/approvers/{ref}. Never waits for a mutation and never writes. */
export const readOne: Handler = (call) =>
  Effect.gen(function* () {
    const { actor } = yield* bearerOf(call);
    const ref = decodeRef(call.rest);
    // A caller who may not read learns nothing about the path either, so an undecodable ref is judged as an empty one.
    const row = call.ports.peer.read(actor, ref ?? "");
    if (Either.isRight(row)) return recordAnswer(200, row.right);
    const fault = faultOf(row.left);
    return yield* Effect.fail(ref === undefined && fault.code === "INVALID_REF" ? malformedRef : fault);
  });
