/** What a peer records of its work for requests: the exchange with the caller, messages taken in, transactions flushed. */
import type { PeerId } from "../../core/protocol/Topology.ts";
import type { Write } from "../../core/Tables.ts";
import { requestKey } from "../../core/protocol/Forward.ts";
import type { Opened } from "../../runtime/EnvelopeCodec.ts";
import { requestsIn } from "../peer/RequestTrail.ts";
import type { Attributes, Span } from "./Span.ts";
import { callersSpan, freshRoot, freshSpanId, isSampled, rootOf, type SpanContext } from "./TraceContext.ts";

interface TracesPorts {
  /** Takes a span in or drops it; never throws. */
  readonly push: (span: Span) => void;
  /** From 0 to 1, of all traces. */
  readonly ratio: number;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** A clock that never goes back, in milliseconds. */
  readonly elapsedMillis: () => number;
}

/** One answered request of the public API. */
export interface Exchange {
  readonly method: string;
  /** Its name, never the path that a caller chose. */
  readonly route: string;
  readonly status: number;
  /** Of a refusal. */
  readonly code: string | undefined;
  readonly millis: number;
  /** `ENTRY/NAME` where other peers heard of it. */
  readonly request: string | undefined;
  /** The header of that name, as it came. */
  readonly traceparent: string | ReadonlyArray<string> | undefined;
}

type Timed = Pick<Span, "startedAt" | "endedAt">;

/** A request whose trace is recorded. */
interface Recorded {
  /** `ENTRY/NAME`. */
  readonly name: string;
  readonly root: SpanContext;
}

type Stage = readonly [request: string, stage: "prepare" | "commit"];

/** The requests whose rows a transaction brings, and which of their stages. */
const stagesIn = (writes: ReadonlyArray<Write>): ReadonlyArray<Stage> =>
  writes.flatMap((write): ReadonlyArray<Stage> => {
    if (write.op !== "insert") return [];
    if (write.table === "preparations") return [[requestKey(write.row.proposal), "prepare"]];
    if (write.table === "certificates") return [[requestKey(write.row.proposal), "commit"]];
    return [];
  });

export class Traces {
  readonly #ports: TracesPorts;

  constructor(ports: TracesPorts) {
    this.#ports = ports;
  }

  #lasting(millis: number): Timed {
    const endedAt = this.#ports.now();
    return { startedAt: endedAt - millis, endedAt };
  }

  /** Records a request of a caller that was answered just now. */
  exchange({ method, route, status, code, millis, request, traceparent }: Exchange): void {
    const { ratio, push } = this.#ports;
    const root = request === undefined ? freshRoot() : rootOf(request);
    if (!isSampled(root.traceId, ratio)) return;
    const isKnown = method !== "other";
    push({
      ...root,
      ...this.#lasting(millis),
      parentSpanId: undefined,
      name: `${isKnown ? method : "HTTP"} ${route}`,
      kind: "server",
      attributes: {
        "http.request.method": isKnown ? method : "_OTHER",
        "http.route": route,
        "http.response.status_code": status,
        ...(code === undefined ? {} : { "custody.problem": code }),
        ...(request === undefined ? {} : { "custody.request": request }),
      },
      link: callersSpan(traceparent),
      isError: status >= 500,
    });
  }

  /**
   * A message about requests has come in.
   *
   * @param to this peer
   * @param consumed called at the end, when nothing of the message waits any more
   * @returns what to call instead
   */
  delivery(to: PeerId, { from, message }: Pick<Opened, "from" | "message">, consumed: () => void): () => void {
    const requests = requestsIn(message, to).flatMap((request) => this.#sampled(request));
    if (requests.length === 0) return consumed;
    const startedAt = this.#ports.elapsedMillis();
    return () => {
      consumed();
      const time = this.#lasting(this.#ports.elapsedMillis() - startedAt);
      for (const request of requests)
        this.#below(request, `message ${message._tag}`, "consumer", time, {
          "custody.message": message._tag,
          "custody.from": from,
        });
    };
  }

  /** A transaction has been flushed just now. */
  flushed(millis: number, writes: ReadonlyArray<Write>): void {
    const time = this.#lasting(millis);
    for (const [name, stage] of stagesIn(writes))
      for (const request of this.#sampled(name))
        this.#below(request, `flush ${stage}`, "internal", time, { "custody.stage": stage });
  }

  /** The request, if its trace is recorded. */
  #sampled(name: string): ReadonlyArray<Recorded> {
    const root = rootOf(name);
    return isSampled(root.traceId, this.#ports.ratio) ? [{ name, root }] : [];
  }

  #below({ name: request, root }: Recorded, name: string, kind: Span["kind"], time: Timed, own: Attributes): void {
    this.#ports.push({
      traceId: root.traceId,
      spanId: freshSpanId(),
      parentSpanId: root.spanId,
      name,
      kind,
      ...time,
      attributes: { ...own, "custody.request": request },
    });
  }
}
