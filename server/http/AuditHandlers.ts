/** The audit of this peer, in pages (contract 6.1). */
import { Effect, Either } from "effect";
import { readAudit } from "../../runtime/AuditReads.ts";
import { type QueryRules, readQuery, wholeNumber, wholeNumberFault } from "../../runtime/Query.ts";
import { auditEvent } from "../audit/AuditEvent.ts";
import { type ApiAnswer, type ApiPorts, authorized, type Handler, holderOf } from "./ApiCall.ts";
import { auditBounds } from "./endpoints/SystemEndpoints.ts";
import { faultOf, type HttpFault, invalidQuery } from "./HttpErrors.ts";
import { queryIn } from "./RequestTarget.ts";

/** Rows that are read and verified before other work may go on: a few milliseconds. */
const SLICE = 16;
/** About as many bytes of events are in a page, at most. */
const PAGE_BYTES = 1024 * 1024;

const rules: QueryRules = {
  named: {
    since: (value) => wholeNumberFault(value, auditBounds.since),
    limit: (value) => wholeNumberFault(value, auditBounds.limit),
  },
};
/** Where a page begins, and how many events it may have, unless the query says so. */
const usual = { since: 1, limit: 100 };

const wishIn = (target: string): Either.Either<typeof usual, HttpFault> =>
  Either.mapBoth(readQuery(queryIn(target), rules), {
    onLeft: invalidQuery,
    onRight: (given) => {
      const values = new Map(given.map(({ name, value }) => [name, value]));
      return {
        since: wholeNumber(values.get("since") ?? "", auditBounds.since) ?? usual.since,
        limit: wholeNumber(values.get("limit") ?? "", auditBounds.limit) ?? usual.limit,
      };
    },
  });

interface PageTexts {
  readonly texts: ReadonlyArray<string>;
  /** Where to go on. */
  readonly next: number;
}

/** The texts of the events from `since` on, at most `limit` or {@link PAGE_BYTES} of them. */
function* pageOf(
  { peer }: ApiPorts,
  since: number,
  limit: number,
): Generator<undefined, Either.Either<PageTexts, HttpFault>> {
  const texts: Array<string> = [];
  let size = 0;
  while (texts.length < limit && size < PAGE_BYTES) {
    const asked = Math.min(SLICE, limit - texts.length);
    const slice = readAudit(peer.reading, since + texts.length, asked);
    if (Either.isLeft(slice)) return Either.left(faultOf(slice.left));
    for (const each of slice.right) {
      const text = JSON.stringify(auditEvent(each));
      texts.push(text);
      size += text.length;
    }
    if (slice.right.length < asked) break;
    yield;
  }
  return Either.right({ texts, next: since + texts.length });
}

/**
 * GET /v1/custody/audit: events from the sequence number `since` on, oldest first, in the JSON format of CloudEvents.
 * Never waits for a new one and never writes.
 */
export const audit: Handler = (call) =>
  Effect.gen(function* () {
    const { actor } = yield* authorized(call);
    const { since, limit } = yield* wishIn(call.request.url ?? "");
    const { longReads } = call.ports;
    const { texts, next } = yield* Effect.flatten(longReads.run(holderOf(actor), pageOf(call.ports, since, limit)));
    const { cluster, signed } = call.ports.peer.standing;
    const head = JSON.stringify({ seq: signed.audit.seq, hash: signed.audit.hash });
    const body = `{"peerId":${cluster.peer?.peerId ?? 0},"events":[${texts.join(",")}],"next":${next},"head":${head}}`;
    return { status: 200, body, caller: holderOf(actor) } satisfies ApiAnswer;
  });
