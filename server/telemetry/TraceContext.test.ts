import { describe, expect, it } from "vitest";
import { callersSpan, freshRoot, isSampled, rootOf } from "./TraceContext.ts";

describe("the root of a request's trace", () => {
  it("is the same at every peer, and another for every name", () => {
    const root = rootOf("2/abc");
    expect(root).toEqual(rootOf("2/abc"));
    expect(root.traceId).toMatch(/^[0-9a-f]{32}$/);
    expect(root.spanId).toMatch(/^[0-9a-f]{16}$/);
    expect(root.traceId.startsWith(root.spanId)).toBe(false);
    expect(rootOf("3/abc").traceId).not.toBe(root.traceId);
    expect(freshRoot()).not.toEqual(freshRoot());
  });
});

describe("sampling", () => {
  const share = (ratio: number): number =>
    Array.from({ length: 2_000 }, (_, at) => rootOf(`1/${at}`).traceId).filter((id) => isSampled(id, ratio)).length;

  it("takes all, none, or about the share it is told", () => {
    expect([share(0), share(1)]).toEqual([0, 2_000]);
    expect(share(0.25)).toBeGreaterThan(400);
    expect(share(0.25)).toBeLessThan(600);
  });

  it("takes with a greater ratio all that a smaller one does", () => {
    const ids = Array.from({ length: 500 }, (_, at) => rootOf(`1/${at}`).traceId);
    expect(ids.filter((id) => isSampled(id, 0.1) && !isSampled(id, 0.2))).toEqual([]);
  });

  it("decides at the bounds of the last digits", () => {
    expect(isSampled("f".repeat(32), 2 ** -52)).toBe(true);
    expect(isSampled(`${"f".repeat(31)}e`, 2 ** -52)).toBe(false);
    expect(isSampled("0".repeat(32), 1)).toBe(true);
    expect(isSampled("f".repeat(32), 0)).toBe(false);
  });
});

describe("a caller's traceparent", () => {
  const [traceId, spanId] = ["0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"];

  it("names the caller's span", () => {
    expect(callersSpan(`00-${traceId}-${spanId}-01`)).toEqual({ traceId, spanId });
    expect(callersSpan(`00-${traceId}-${spanId}-00`)).toEqual({ traceId, spanId });
  });

  it.each([
    undefined,
    "",
    `00-${traceId}-${spanId}-01, 00-${traceId}-${spanId}-01`,
    [`00-${traceId}-${spanId}-01`],
    `01-${traceId}-${spanId}-01`,
    `00-${traceId}-${spanId}-01-more`,
    `00-${traceId.toUpperCase()}-${spanId}-01`,
    `00-${"0".repeat(32)}-${spanId}-01`,
    `00-${traceId}-${"0".repeat(16)}-01`,
    `00-${traceId}-${spanId}`,
    `00-${traceId}-${spanId}-01\n`,
  ])("is passed over as %j", (header) => {
    expect(callersSpan(header)).toBeUndefined();
  });
});
