/** The audit of this peer, in pages (contract 6.1). */
import { Effect, Either } from "effect";
import { readAudit } from "../../runtime/AuditReads.ts";
import { auditEvent } from "../audit/AuditEvent.ts";
import { type ApiAnswer, type ApiPorts, authorized, type Handler } from "./ApiCall.ts";
import { auditBounds } from "./endpoints/SystemEndpoints.ts";
import { faultOf, type HttpFault, httpFault } from "./HttpErrors.ts";
import { pathIn } from "./RequestTarget.ts";

/** Rows that are read and verified before other work goes on: a few milliseconds. */
const SLICE = 16;
/** About as many bytes of events are in a page, at most. */
const PAGE_BYTES = 1024 * 1024;

const wrongQuery = (name: string, detail: string): HttpFault =>
  httpFault("BAD_REQUEST", `The query parameter ${name} ${detail}.`, "Correct the query; see /docs.");

type Bounds = typeof auditBounds;
const isKnown = (name: string): name is keyof Bounds => Object.hasOwn(auditBounds, name);

/** Where a page begins, and how many events it may have; an unknown, repeated or malformed parameter is refused. */
const wishIn = (target: string): Either.Either<{ readonly [N in keyof Bounds]: number }, HttpFault> =>
  Either.gen(function* () {
    const wish = { since: 1, limit: 100 };
    const given = new Set<string>();
    const [, query = ""] = (pathIn(target) ?? "").split(/\?(.*)/s);
    for (const [name, text] of new URLSearchParams(query)) {
      if (!isKnown(name)) return yield* Either.left(wrongQuery("named here", "is unknown; there are since and limit"));
      if (given.has(name)) return yield* Either.left(wrongQuery(name, "is there twice"));
      given.add(name);
      const value = /^[1-9][0-9]{0,15}$/.test(text) ? Number(text) : 0;
      if (value < 1 || value > auditBounds[name])
        return yield* Either.left(wrongQuery(name, `is not a whole number from 1 to ${auditBounds[name]}`));
      wish[name] = value;
    }
    return wish;
  });

/** Pages are made one after the other: however many are asked for, other work waits for one slice at most. */
const onePage = Effect.unsafeMakeSemaphore(1);

const othersFirst = Effect.promise(() => new Promise<void>((resolve) => void setImmediate(resolve)));

/** The texts of the events from `since` on, at most `limit` or {@link PAGE_BYTES} of them, and where to go on. */
const pageOf = ({ peer }: ApiPorts, since: number, limit: number) =>
  Effect.gen(function* () {
    const texts: Array<string> = [];
    let size = 0;
    while (texts.length < limit && size < PAGE_BYTES) {
      const asked = Math.min(SLICE, limit - texts.length);
      const slice = yield* Either.mapLeft(readAudit(peer.reading, since + texts.length, asked), faultOf);
      for (const each of slice) {
        const text = JSON.stringify(auditEvent(each));
        texts.push(text);
        size += text.length;
      }
      if (slice.length < asked) break;
      yield* othersFirst;
    }
    return { texts, next: since + texts.length };
  });

/**
 * GET /v1/custody/audit: events from the sequence number `since` on, oldest first, in the JSON format of CloudEvents.
 * Never waits for a new one and never writes.
 */
export const audit: Handler = (call) =>
  Effect.gen(function* () {
    yield* authorized(call);
    const { since, limit } = yield* wishIn(call.request.url ?? "");
    const { texts, next } = yield* onePage.withPermits(1)(pageOf(call.ports, since, limit));
    const { cluster, signed } = call.ports.peer.state;
    const head = JSON.stringify({ seq: signed.audit.seq, hash: signed.audit.hash });
    const body = `{"peerId":${cluster.peer?.peerId ?? 0},"events":[${texts.join(",")}],"next":${next},"head":${head}}`;
    return { status: 200, body } satisfies ApiAnswer;
  });
