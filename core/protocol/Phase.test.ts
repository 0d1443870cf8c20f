import { readFileSync, writeFileSync } from "node:fs";
import { env } from "node:process";
import { expect, it } from "vitest";
import { mayFollow, phaseMeanings, phases } from "./Phase.ts";

const page = new URL("../../docs/protocol.md", import.meta.url);
const BEGIN = "<!-- phases:begin -->\n";
const END = "<!-- phases:end -->";

const nameOf = (phase: string): string => (phase === "absent" ? "[*]" : phase);

/** The block of docs/protocol.md between its markers. */
const printed = [
  "```mermaid",
  "stateDiagram-v2",
  ...phases.flatMap((from) =>
    Object.entries(mayFollow[from]).map(([to, on]) => `  ${nameOf(from)} --> ${nameOf(to)}: ${on}`),
  ),
  "```",
  "",
  "|Phase||",
  "|---|---|",
  ...phases.map((phase) => `|${phase}|${phaseMeanings[phase]}|`),
  "",
].join("\n");

it("the drawing in the documentation is the table that every change of phase is held against", () => {
  const text = readFileSync(page, "utf8");
  const [before = "", rest = ""] = text.split(BEGIN);
  const [block, after = ""] = rest.split(END);
  if (env["PRINT_PHASES"] !== undefined) writeFileSync(page, `${before}${BEGIN}${printed}${END}${after}`);
  else expect(block).toBe(printed);
});

it("every phase can be reached and left", () => {
  const reached = new Set<string>(phases.flatMap((phase) => Object.keys(mayFollow[phase])));
  expect(phases.filter((phase) => !reached.has(phase) || Object.keys(mayFollow[phase]).length === 0)).toEqual([]);
});
