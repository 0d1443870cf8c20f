/** Alert rules and dashboard, held against the metrics that a peer serves and the page that says what to do. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { type MetricEntry, metricEntries } from "../server/peer/Metrics.ts";

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook: string };
}

const { groups }: { readonly groups: ReadonlyArray<{ readonly rules: ReadonlyArray<Rule> }> } = parse(
  readFileSync("deploy/alerts.yaml", "utf8"),
);
const rules = groups.flatMap((group) => group.rules);

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: ReadonlyArray<{ readonly expr: string }>;
}

const dashboard: { readonly panels: ReadonlyArray<Panel> } = JSON.parse(readFileSync("deploy/grafana.json", "utf8"));

const entries = await metricEntries();
/** What a scraper stores under each name; `up` is its own. */
const series = new Set([
  "up",
  ...entries.flatMap(({ name, type }) =>
    type === "histogram" ? ["_bucket", "_sum", "_count"].map((end) => `${name}${end}`) : [name],
  ),
]);

/** The metrics of an expression with the labels it names of each: what is neither called, nor text, nor a grouping. */
const selectorsIn = (
  expression: string,
): ReadonlyArray<{ readonly name: string; readonly labels: ReadonlyArray<string> }> => {
  const bare = expression.replaceAll(/"[^"]*"/g, '""').replaceAll(/\b(?:by|without|on|ignoring) *\([^)]*\)/g, " ");
  return [...bare.matchAll(/\b([a-z_:][a-z0-9_:]*)\b(?! *\()(?:\{([^}]*)\})?/gi)].flatMap(
    ([, name = "", labels = ""], at) => {
      const isWord = ["and", "or", "unless", "bool", "offset"].includes(name);
      const isDuration = /^[smhdwy]$/.test(name) || name.startsWith("__");
      // Labels inside braces are found again as words of their own.
      const before = bare.slice(
        0,
        [...bare.matchAll(/\b([a-z_:][a-z0-9_:]*)\b(?! *\()(?:\{([^}]*)\})?/gi)][at]?.index ?? 0,
      );
      const isInside = before.lastIndexOf("{") > before.lastIndexOf("}");
      if (isWord || isDuration || isInside) return [];
      return [{ name, labels: [...labels.matchAll(/(\w+) *(?:=~|!~|!=|=)/g)].map(([, label = ""]) => label) }];
    },
  );
};

/** The metric that a series is of. */
const entryOf = (name: string): MetricEntry | undefined =>
  entries.find((each) => name === each.name || (each.type === "histogram" && name.startsWith(`${each.name}_`)));

/** Those of a scraper, and those of buckets. */
const everywhere = ["instance", "job", "le"];

const wrongIn = (expression: string): ReadonlyArray<string> =>
  selectorsIn(expression).flatMap(({ name, labels }) => {
    if (!series.has(name)) return [name];
    const entry = entryOf(name);
    return labels
      .filter((label) => ![...everywhere, ...(entry?.labels ?? [])].includes(label))
      .map((label) => `${name}{${label}}`);
  });

const anchors = new Set(
  [...readFileSync("docs/operations.md", "utf8").matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  ),
);

describe("deploy/alerts.yaml", () => {
  it("has rules for what an operator must know", () => {
    expect(rules.length).toBeGreaterThan(15);
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
  });

  it.each(rules)("has in $alert metrics that there are, and a section that says what to do", (rule) => {
    expect(wrongIn(rule.expr)).toEqual([]);
    expect(selectorsIn(rule.expr).length).toBeGreaterThan(0);
    expect(["page", "ticket"]).toContain(rule.labels.severity);
    expect(rule.for ?? "1m").toMatch(/^\d+[mhd]$/);
    expect(rule.annotations.summary.length).toBeGreaterThan(20);
    const [page, anchor = ""] = rule.annotations.runbook.split("#");
    expect(page).toBe("docs/operations.md");
    expect([...anchors]).toContain(anchor);
  });

  it.each(rules)("tells in $alert only labels that its metrics have", ({ expr, annotations }) => {
    const told = [...annotations.summary.matchAll(/\$labels\.(\w+)/g)].map(([, label = ""]) => label);
    const has = new Set([...everywhere, ...selectorsIn(expr).flatMap(({ name }) => entryOf(name)?.labels ?? [])]);
    expect(told.filter((label) => !has.has(label))).toEqual([]);
  });
});

describe("deploy/grafana.json", () => {
  const panels = dashboard.panels.filter(({ type }) => type !== "row");

  it("has every panel once, none over another, and all within the width", () => {
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
    const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)},${y + Math.floor(cell / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(dashboard.panels.every(({ gridPos }) => gridPos.x + gridPos.w <= 24)).toBe(true);
  });

  it.each(panels)("shows in $title metrics that there are", ({ targets = [] }) => {
    expect(targets.length).toBeGreaterThan(0);
    for (const { expr } of targets) expect([expr, wrongIn(expr)]).toEqual([expr, []]);
  });

  it("shows every gauge and histogram of ours", () => {
    const shown = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)).join(" ");
    const ours = entries.filter(({ name, type }) => name.startsWith("custody_") && type !== "counter");
    expect(ours.filter(({ name }) => !shown.includes(name))).toEqual([]);
  });
});

it("would find a metric or a label that there is not", () => {
  expect(wrongIn('sum by (x) (rate(custody_lock{instance="a"}[5m])) > 1 and custody_locks == 0')).toEqual([
    "custody_lock",
  ]);
  expect(wrongIn('custody_flush_seconds_bucket{le="1"} / custody_flush_seconds')).toEqual(["custody_flush_seconds"]);
  expect(wrongIn('custody_problems_total{cod=~"A|B", code!="C"}')).toEqual(["custody_problems_total{cod}"]);
});
