/** One span as it is recorded. */
import type { SpanContext } from "./TraceContext.ts";

/** Chosen by this program, never by a caller: no token, share, key, body, path or header. */
export type Attributes = { readonly [name: string]: string | number };

export interface Span extends SpanContext {
  /** Undefined for the root of a trace. */
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly kind: "internal" | "server" | "consumer";
  /** Unix milliseconds, with fractions. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly attributes: Attributes;
  /** A span of somebody else that led to this one. */
  readonly link?: SpanContext | undefined;
  readonly isError?: boolean;
}
