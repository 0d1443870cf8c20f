/** What is done to keys and with them: every change is judged by those whom it takes, this peer only passes it on. */
import { Effect, Either } from "effect";
import type { Answer } from "../../core/Action.ts";
import { isKeyId, type KeyAct, keyPath, KEYS_PATH } from "../../core/commands/keys/KeyId.ts";
import { keyNotFound } from "../../core/commands/keys/KeyRefusals.ts";
import { type ReadKey, shownKey } from "../../runtime/KeyReads.ts";
import { guarded } from "../../runtime/Reads.ts";
import { type ApiAnswer, type ApiCall, answer, authorizedToChange, type Handler, mutated } from "./ApiCall.ts";
import { bodyOf } from "./ApproverHandlers.ts";
import { keyEndpoints } from "./endpoints/KeyEndpoints.ts";
import { faultOf, type HttpFault } from "./HttpErrors.ts";
import { keyJson, keyTag } from "./KeyJson.ts";
import { operated, type Sent } from "./OperatorCalls.ts";

/** Of keys a member is missed under a name of their own. */
const ofKeys = (fault: HttpFault): HttpFault =>
  fault.code === "APPROVER_REPLICATION_UNAVAILABLE" ? { ...fault, code: "KEY_REPLICATION_UNAVAILABLE" } : fault;

/** Has the peer answer a request; a refusal is a failure. */
const sentOn = (call: ApiCall, path: string, sent: Sent) =>
  Effect.gen(function* () {
    const { rawBody } = sent;
    const answered = yield* mutated(call, { method: "POST", path, ifMatch: undefined, rawBody }, sent);
    return answered._tag === "Rejected" ? yield* Effect.fail(faultOf(answered.rejection)) : answered;
  });

/** Sends a request on, once its bearer may make it and its body is here; a refusal is a failure. */
const asked = (call: ApiCall, path: string) =>
  Effect.gen(function* () {
    const { token, actor } = yield* authorizedToChange(call);
    const { keyId } = call.holes;
    if (keyId !== undefined && !isKeyId(keyId)) return yield* Effect.fail(faultOf(keyNotFound));
    return yield* sentOn(call, path, { token, actor, rawBody: yield* bodyOf(call, actor) });
  }).pipe(Effect.mapError(ofKeys));

const askedTo = (call: ApiCall, act: KeyAct) => asked(call, keyPath(call.holes["keyId"] ?? "", act));

const otherwise = (answered: Answer): Effect.Effect<never> =>
  Effect.dieMessage(`a request about a key was answered with ${answered._tag}`);

export const keyAnswer = ({ ports }: ApiCall, status: number, read: ReadKey): ApiAnswer => ({
  status,
  body: JSON.stringify(keyJson(ports.backend.keyCrypto, read)),
  headers: { etag: keyTag(read) },
});

type Made = Extract<Answer, { readonly _tag: "KeyMade" | "KeyDestroyed" }>;

/** The key as it is now, with this peer's health. */
const shownNow = (call: ApiCall, status: number, { key, generation }: Made): Either.Either<ApiAnswer, HttpFault> => {
  const { reading } = call.ports.peer;
  const shown = guarded(reading, () => Either.right(shownKey(reading, key, generation)));
  // The change stands, and another peer shows it.
  return Either.mapBoth(shown, {
    onLeft: (refusal) => faultOf({ ...refusal, outcomeUnknown: true }),
    onRight: (read) => keyAnswer(call, status, read),
  });
};

/** POST /v1/custody/keys. */
export const createKey: Handler = (call) =>
  Effect.flatMap(asked(call, KEYS_PATH), (answered) =>
    answered._tag === "KeyMade" ? shownNow(call, answered.created ? 201 : 200, answered) : otherwise(answered),
  );

const renewing =
  (act: "rotate" | "refresh"): Handler =>
  (call) =>
    Effect.flatMap(askedTo(call, act), (answered) =>
      answered._tag === "KeyMade" ? shownNow(call, 200, answered) : otherwise(answered),
    );

/** POST …/rotate and …/refresh: the answer is the same when the request comes again. */
export const rotateKey = renewing("rotate");
export const refreshKey = renewing("refresh");

/** POST …/destroy. */
export const destroyKey: Handler = (call) =>
  Effect.flatMap(askedTo(call, "destroy"), (answered) =>
    answered._tag === "KeyDestroyed" ? shownNow(call, 200, answered) : otherwise(answered),
  );

/** POST …/sign. */
export const sign: Handler = (call) =>
  Effect.flatMap(askedTo(call, "sign"), (answered) => {
    if (answered._tag !== "Signed") return otherwise(answered);
    const { signature, generation, imposters, operationId } = answered;
    const signature64 = Buffer.from(signature, "hex").toString("base64");
    return Effect.succeed(
      answer(keyEndpoints.sign, 200, { type: "arbitrary", signature64, generation, imposters, operationId }),
    );
  });

/**
 * POST …/repair: an operator's call, because it has other members tell of their shares. Those that it stores again have
 * audit events of their own, in their transaction.
 */
export const repairKey: Handler = (call) => {
  const { keyId = "" } = call.holes;
  const path = isKeyId(keyId) ? keyPath(keyId, "repair") : undefined;
  const { body } = keyEndpoints.repairKey;
  return operated(call, { call: "REPAIR", body, path }, (_asked, _operation, sent) =>
    Effect.gen(function* () {
      if (path === undefined) return yield* Effect.fail(faultOf(keyNotFound));
      const answered = yield* sentOn(call, path, sent);
      return answered._tag === "Repaired"
        ? answer(keyEndpoints.repairKey, 200, { generations: answered.generations })
        : yield* otherwise(answered);
    }).pipe(Effect.mapError(ofKeys)),
  );
};
