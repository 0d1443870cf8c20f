/**
 * Where a span belongs. A request that goes from peer to peer has a name in every message about it, and its trace is
 * named after that: all peers find the same trace and the same root, and nothing is added to what is sent or signed.
 */
import { hash, randomBytes } from "node:crypto";

/** Of W3C Trace Context: 16 and 8 bytes, in lower-case hexadecimal. */
export interface SpanContext {
  readonly traceId: string;
  readonly spanId: string;
}

const TRACE_BYTES = 16;
const SPAN_BYTES = 8;

/** The root of a request's trace, which is the span of its HTTP exchange at the entry peer. */
export const rootOf = (name: string): SpanContext => {
  const digest = hash("sha256", `custody trace\n${name}`, "hex");
  return {
    traceId: digest.slice(0, 2 * TRACE_BYTES),
    spanId: digest.slice(2 * TRACE_BYTES, 2 * (TRACE_BYTES + SPAN_BYTES)),
  };
};

export const freshSpanId = (): string => randomBytes(SPAN_BYTES).toString("hex");

/** A trace of a single span, for a request that no other peer hears of. */
export const freshRoot = (): SpanContext => ({
  traceId: randomBytes(TRACE_BYTES).toString("hex"),
  spanId: freshSpanId(),
});

/** Digits of a trace id that decide: as many as a number holds exactly. */
const DECIDING = 13;

/**
 * Whether a trace is recorded, by the last bits of its id as OpenTelemetry's own samplers do it: peers with the same
 * ratio decide alike.
 *
 * @param ratio from 0, none, to 1, all
 */
export const isSampled = (traceId: string, ratio: number): boolean =>
  Number.parseInt(traceId.slice(-DECIDING), 16) >= (1 - ratio) * 16 ** DECIDING;

/**
 * The caller's own span, of a `traceparent` (W3C Trace Context 3.2); undefined where there is none, or anything but
 * one of version 00. Its sampling flag is passed over: no stranger decides what is recorded here.
 */
export const callersSpan = (traceparent: string | ReadonlyArray<string> | undefined): SpanContext | undefined => {
  if (typeof traceparent !== "string") return undefined;
  const [, traceId, spanId] = /^00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/.exec(traceparent) ?? [];
  if (traceId === undefined || spanId === undefined || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId };
};
