import { describe, expect, it } from "vitest";
import type { Delivery, Signal } from "./Collector.ts";
import { Exporter, MOST_SENT, MOST_WAITING } from "./Exporter.ts";
import type { Span } from "./Span.ts";

const span: Span = {
  traceId: "a".repeat(32),
  spanId: "b".repeat(16),
  parentSpanId: undefined,
  name: "a",
  kind: "internal",
  startedAt: 0,
  endedAt: 1,
  attributes: {},
};
const taken: Delivery = { _tag: "Taken" };
const failed: Delivery = { _tag: "Failed", reason: "it answers 503" };
const refused: Delivery = { _tag: "Refused", reason: "it answers 400" };

/** An exporter whose requests are answered when the test says so. */
const start = () => {
  const sent: Array<{ readonly signal: Signal; readonly spans: number; readonly answer: (of: Delivery) => void }> = [];
  const counts = new Map<string, number>();
  const lines: Array<string> = [];
  const exporter = new Exporter({
    send: (signal, body) =>
      new Promise((answer) => {
        const spans = JSON.parse(body).resourceSpans?.[0].scopeSpans[0].spans.length ?? 0;
        sent.push({ signal, spans, answer });
      }),
    resource: () => ({ "service.name": "custody" }),
    metrics: {
      count: (name, value = "") => void counts.set(`${name} ${value}`, (counts.get(`${name} ${value}`) ?? 0) + 1),
    },
    log: {
      warn: (event, fields) =>
        void lines.push(`${event}: ${String(fields?.["signal"])}: ${String(fields?.["reason"])}`),
      info: (event, fields) => void lines.push(`${event}: ${String(fields?.["signal"])}`),
    },
    now: () => 0,
  });
  const push = (times: number): void => {
    for (let left = times; left > 0; left -= 1) exporter.push(span);
  };
  /** Answers what is under way, which is never more than one. */
  const answer = async (delivery: Delivery): Promise<string> => {
    const [only, ...more] = sent.splice(0);
    expect(more).toEqual([]);
    only?.answer(delivery);
    await new Promise((resolve) => void setImmediate(resolve));
    return only === undefined ? "nothing" : `${only.signal} ${only.spans}`;
  };
  return { exporter, sent, counts, lines, push, answer };
};

describe("spans that wait", () => {
  it("are sent at once when they fill a request, one request at a time", async () => {
    const { sent, push, answer } = start();
    push(MOST_SENT - 1);
    expect(sent).toEqual([]);
    push(2 * MOST_SENT);
    expect(sent.map(({ spans }) => spans)).toEqual([MOST_SENT]);
    expect(await answer(taken)).toBe(`traces ${MOST_SENT}`);
    expect(await answer(taken)).toBe(`traces ${MOST_SENT}`);
    expect(await answer(taken)).toBe(`traces ${MOST_SENT - 1}`);
    expect(await answer(taken)).toBe("nothing");
  });

  it("are at most 2,048, and those that are dropped are counted", async () => {
    const { counts, push } = start();
    push(MOST_WAITING);
    expect(counts.size).toBe(0);
    push(3);
    expect(counts.get("custody_spans_dropped_total full")).toBe(3);
  });

  it("go on waiting when the collector fails, which is told once, and are gone when it refuses them", async () => {
    const { exporter, counts, lines, push, answer } = start();
    push(2);
    void exporter.export();
    expect(await answer(failed)).toBe("traces 2");
    void exporter.export();
    expect(await answer(failed)).toBe("traces 2");
    expect(counts.get("custody_telemetry_failures_total traces")).toBe(2);
    expect(lines).toEqual(["telemetry is not taken: traces: it answers 503"]);
    void exporter.export();
    expect(await answer(taken)).toBe("traces 2");
    expect(lines.at(-1)).toBe("telemetry is taken again: traces");
    push(3);
    void exporter.export();
    expect(await answer(refused)).toBe("traces 3");
    expect(counts.get("custody_spans_dropped_total refused")).toBe(3);
    void exporter.export();
    expect(await answer(taken)).toBe("nothing");
  });

  it("are not sent ahead of time to a collector that fails", async () => {
    const { exporter, sent, push, answer } = start();
    push(1);
    void exporter.export();
    await answer(failed);
    push(MOST_SENT);
    expect(sent).toEqual([]);
  });
});

describe("metrics", () => {
  it("are sent after the spans, and nothing is while a request is under way", async () => {
    const { exporter, push, answer } = start();
    exporter.measureWith(() => Promise.resolve([]));
    push(1);
    void exporter.export();
    void exporter.export();
    expect(await answer(taken)).toBe("traces 1");
    expect(await answer(taken)).toBe("metrics 0");
    expect(await answer(taken)).toBe("nothing");
  });

  it("that cannot be read are told, and stop nothing", async () => {
    const { exporter, counts, lines, push, answer } = start();
    exporter.measureWith(() => Promise.reject(new Error("a gauge broke")));
    await exporter.export();
    expect(lines).toEqual(["telemetry is not taken: metrics: a gauge broke"]);
    expect(counts.get("custody_telemetry_failures_total metrics")).toBe(1);
    push(1);
    void exporter.export();
    expect(await answer(taken)).toBe("traces 1");
  });
});

describe("at the end", () => {
  it("what is left is sent, after the request under way", async () => {
    const { exporter, push, answer } = start();
    push(MOST_SENT);
    push(1);
    const finished = exporter.finish();
    expect(await answer(taken)).toBe(`traces ${MOST_SENT}`);
    expect(await answer(taken)).toBe("traces 1");
    await finished;
  });

  it("a collector that failed is not asked again, and what is left is counted", async () => {
    const { exporter, counts, push, answer } = start();
    push(2);
    void exporter.export();
    await answer(failed);
    await exporter.finish();
    expect(await answer(taken)).toBe("nothing");
    exporter.abandon();
    expect(counts.get("custody_spans_dropped_total stopped")).toBe(2);
  });
});
