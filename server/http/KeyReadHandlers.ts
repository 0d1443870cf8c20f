/** Reads of keys, and verification with them: by this peer's rows alone. */
import { Effect, Either } from "effect";
import { Limits } from "../../core/base/Limits.ts";
import type { BodyFault } from "../../core/base/Rejection.ts";
import { verificationShape } from "../../core/commands/keys/KeyBodies.ts";
import { artifactFaults, messageOf } from "../../core/commands/signWithKey/SigningRequest.ts";
import { bodyRefusal, readDraft } from "../../core/credential/RequestBody.ts";
import { type Suite, suiteOf } from "../../core/threshold/Suite.ts";
import { keyCursorIn, keyCursorOf, keyPage, type KeyQuery, parseKeyQuery } from "../../runtime/KeyPages.ts";
import { type ReadKey, readKey } from "../../runtime/KeyReads.ts";
import { type QueryRules, readQuery, wholeNumber, wholeNumberFault } from "../../runtime/Query.ts";
import { type ApiAnswer, type ApiCall, type ApiPorts, answer, authorized, type Handler, holderOf } from "./ApiCall.ts";
import { bodyOf } from "./ApproverHandlers.ts";
import { keyEndpoints } from "./endpoints/KeyEndpoints.ts";
import { faultOf, type HttpFault, httpFault, invalidQuery } from "./HttpErrors.ts";
import { keyAnswer } from "./KeyHandlers.ts";
import { keyJson, publicKeyFields } from "./KeyJson.ts";
import { isKnown } from "./Preconditions.ts";
import { queryIn } from "./RequestTarget.ts";

/** A record is kept by its reader alone, who asks each time whether it is still the current one (RFC 9111 5.2.2). */
const revalidated = { "cache-control": "private, no-cache" };

const keyIdOf = ({ holes }: ApiCall): string => holes["keyId"] ?? "";

const read = ({ ports, ...call }: ApiCall, number?: number): Either.Either<ReadKey, HttpFault> =>
  Either.mapLeft(readKey(ports.peer.reading, keyIdOf({ ports, ...call }), number), faultOf);

/** A record that was asked for: whole, or nothing of it where the caller has it already (RFC 9110 15.4.5). */
const shown = (call: ApiCall, found: ReadKey): Either.Either<ApiAnswer, HttpFault> => {
  const { headers = {}, ...whole } = keyAnswer(call, 200, found);
  return Either.map(isKnown(call.request.headers, headers["etag"] ?? ""), (known) => ({
    ...whole,
    ...(known ? { status: 304, body: "" } : {}),
    headers: { ...headers, ...revalidated },
  }));
};

/** GET /v1/custody/keys/{keyId}. Never waits for a change and never writes. */
export const readOneKey: Handler = (call) =>
  Effect.gen(function* () {
    yield* authorized(call);
    return yield* shown(call, yield* read(call));
  });

/** GET …/generations/{generation}. What is no number of a generation has none. */
export const readGeneration: Handler = (call) =>
  Effect.gen(function* () {
    yield* authorized(call);
    const number = wholeNumber(call.holes["generation"] ?? "", Limits.generations) ?? 0;
    return yield* shown(call, yield* read(call, number));
  });

const generationRule: QueryRules = {
  named: { generation: (value) => wholeNumberFault(value, Limits.generations) },
};

/** GET …/public. */
export const readPublicKey: Handler = (call) =>
  Effect.gen(function* () {
    yield* authorized(call);
    const given = yield* Either.mapLeft(readQuery(queryIn(call.request.url ?? ""), generationRule), invalidQuery);
    const { key, generation } = yield* read(call, wholeNumber(given[0]?.value ?? "", Limits.generations));
    const { keyId, algorithm, scheme } = key;
    const fields = publicKeyFields(call.ports.backend.keyCrypto, key, generation);
    return answer(keyEndpoints.readPublicKey, 200, {
      keyId,
      algorithm,
      scheme,
      generation: generation.generation,
      ...fields,
    });
  });

const foreignCursor = invalidQuery([
  {
    parameter: "cursor",
    code: "invalid_value",
    detail: "This is not the nextCursor of a page with the same filters; begin without one.",
  },
]);

interface PageTexts {
  readonly items: ReadonlyArray<string>;
  readonly next: string | undefined;
}

/** Takes one slice of a page at a time, and makes its text before the next one. */
function* pageTexts(
  { peer, backend }: ApiPorts,
  query: KeyQuery,
  from: string,
): Generator<undefined, Either.Either<PageTexts, HttpFault>> {
  const slices = keyPage(() => peer.reading, query, from);
  const items: Array<string> = [];
  for (;;) {
    const slice = slices.next();
    if (slice.done === true)
      return Either.mapBoth(slice.value, { onLeft: faultOf, onRight: (next) => ({ items, next }) });
    items.push(...slice.value.map((each) => JSON.stringify(keyJson(backend.keyCrypto, each))));
    yield;
  }
}

/** GET /v1/custody/keys. The bearer is judged before the query. */
export const listKeys: Handler = (call) =>
  Effect.gen(function* () {
    const { peer, longReads } = call.ports;
    const { actor } = yield* authorized(call);
    const query = yield* Either.mapLeft(parseKeyQuery(queryIn(call.request.url ?? "")), invalidQuery);
    const { crypto } = peer.reading;
    const from = query.cursor === undefined ? "" : keyCursorIn(crypto, query.filter, query.cursor);
    if (from === undefined) return yield* Effect.fail(foreignCursor);
    const pages = longReads.run(holderOf(actor), pageTexts(call.ports, query, from));
    const { items, next } = yield* Effect.flatten(pages);
    const cursor = next === undefined ? null : keyCursorOf(crypto, query.filter, next);
    const body = `{"items":[${items.join(",")}],"nextCursor":${JSON.stringify(cursor)}}`;
    return { status: 200, body, caller: holderOf(actor) } satisfies ApiAnswer;
  });

const WHAT = "a signature to verify";

const invalidCommand = (fault: BodyFault): HttpFault =>
  httpFault("INVALID_COMMAND", fault.detail, "Send the artifact as it was signed, and its signature.", {
    faults: [fault],
  });

const noSuite = httpFault(
  "UNSUPPORTED_ALGORITHM",
  "This peer cannot verify signatures of such keys.",
  "Ask another peer.",
);

const suiteFor = (
  { backend }: ApiPorts,
  { key: { algorithm, scheme } }: ReadKey,
  wanted: string,
  messageBytes: number,
): Either.Either<Suite, HttpFault> => {
  const suite = suiteOf(backend.keyCrypto, algorithm, scheme);
  if (suite === undefined) return Either.left(noSuite);
  if (wanted !== scheme) return Either.left(invalidCommand(artifactFaults.scheme));
  const needed = suite.messageBytes ?? messageBytes;
  if (needed === messageBytes) return Either.right(suite);
  return Either.left(invalidCommand(artifactFaults.lengthOtherThan(needed)));
};

/** POST …/verify: the same rules for the message as when it is signed, and no policy. */
export const verify: Handler = (call) =>
  Effect.gen(function* () {
    const { actor } = yield* authorized(call);
    // Before the body: a peer that may not be read reads none.
    yield* read(call);
    const draft = readDraft(yield* bodyOf(call, actor), verificationShape, Limits.signingBodyBytes);
    if (draft.read === undefined || draft.faults.length > 0)
      return yield* Effect.fail(faultOf(bodyRefusal(WHAT, draft.faults)));
    const { command, generation: number, signature64: signature } = draft.read;
    const found = yield* read(call, number);
    const { scheme, hash = "NONE", data64: data } = command.artifact;
    const message = messageOf({ hash, data });
    const suite = yield* suiteFor(call.ports, found, scheme, message.length);
    const valid = suite.verify(found.generation.publicKey, message, Buffer.from(signature).toString("hex"));
    return answer(keyEndpoints.verify, 200, { valid });
  });
