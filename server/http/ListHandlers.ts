/** Lists of approvers (contract 4.1.1). */
import { Effect, Either } from "effect";
import { approverPage, behind, type NextPage, type PageWanted } from "../../runtime/ApproverPages.ts";
import { cursorOf, startOf } from "../../runtime/ListCursor.ts";
import { type ListQuery, parseListQuery } from "../../runtime/ListQuery.ts";
import { mayRead } from "../../runtime/Reads.ts";
import type { ApiPeer } from "../peer/ApiPeer.ts";
import { type ApiAnswer, bearerOf, type Handler, holderOf } from "./ApiCall.ts";
import { recordJson } from "./ApproverRecord.ts";
import { faultOf, type HttpFault, invalidQuery } from "./HttpErrors.ts";
import { queryIn } from "./RequestTarget.ts";

/** About as many bytes of records are in a page, at most: 200 with the longest metadata, unless much of it is escaped. */
const PAGE_BYTES = 4 * 1024 * 1024;

const foreignCursor = invalidQuery([
  {
    parameter: "cursor",
    code: "invalid_value",
    detail: "This is not the nextCursor of a page with the same filters; begin without one.",
  },
]);

const wantedOf = (peer: ApiPeer, { filter, limit, cursor }: ListQuery): Either.Either<PageWanted, HttpFault> => {
  const from = cursor === undefined ? "" : startOf(peer.reading.crypto, filter, cursor);
  return from === undefined ? Either.left(foreignCursor) : Either.right({ filter, from, limit });
};

interface PageTexts {
  readonly items: ReadonlyArray<string>;
  readonly next: NextPage;
}

/** Takes one slice of a page at a time, and makes its text before the next one. */
function* pageTexts(peer: ApiPeer, wanted: PageWanted): Generator<undefined, Either.Either<PageTexts, HttpFault>> {
  const slices = approverPage({ ...peer.reading, state: () => peer.standing }, wanted);
  const items: Array<string> = [];
  let size = 0;
  for (;;) {
    const slice = slices.next();
    if (slice.done === true)
      return Either.mapBoth(slice.value, { onLeft: faultOf, onRight: (next) => ({ items, next }) });
    for (const record of slice.value) {
      const text = recordJson(record);
      items.push(text);
      size += Buffer.byteLength(text);
      if (size >= PAGE_BYTES) return Either.right({ items, next: behind(record.approver.ref) });
    }
    yield;
  }
}

/** GET /v1/custody/approvers. Never waits for a mutation and never writes; the bearer is judged before the query. */
export const list: Handler = (call) =>
  Effect.gen(function* () {
    const { peer, longReads } = call.ports;
    const { actor } = yield* bearerOf(call);
    yield* Either.mapLeft(mayRead(peer.reading, actor), faultOf);
    const query = yield* Either.mapLeft(parseListQuery(queryIn(call.request.url ?? "")), invalidQuery);
    const wanted = yield* wantedOf(peer, query);
    const { items, next } = yield* Effect.flatten(longReads.run(holderOf(actor), pageTexts(peer, wanted)));
    const cursor = next === undefined ? null : cursorOf(peer.reading.crypto, wanted.filter, next);
    const body = `{"items":[${items.join(",")}],"nextCursor":${JSON.stringify(cursor)}}`;
    return { status: 200, body, caller: holderOf(actor) } satisfies ApiAnswer;
  });
