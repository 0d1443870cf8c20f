/** Every rule of the contract that callers meet is asked for by somebody and judged by somebody; the manual says by whom. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { commands as composition } from "../core/commands/Commands.ts";
import { utf8Bytes } from "../core/codec/Utf8.ts";
import { plantedBugs } from "../sim/bugs/PlantedBugs.ts";
import { entropyOf } from "../sim/base/Prng.ts";
import { cryptographyOf } from "../sim/crypto/Cryptography.ts";
import type { Asked } from "../sim/requests/Asked.ts";
import { Commands } from "../sim/requests/Commands.ts";
import { atEdge, edgeNames } from "../sim/requests/Edges.ts";
import { atKeyEdge, keyEdgeNames } from "../sim/requests/KeyEdges.ts";
import { creation, ending, type KeyRequest, renewal, repairing, signing } from "../sim/requests/KeyRequests.ts";
import { listAtEdge, listEdgeNames } from "../sim/requests/ListQueries.ts";
import { ruleMarks, rules } from "../sim/requests/Rules.ts";
import { missingPoints } from "../sim/hunting/Sometimes.ts";

const commands = new Commands(cryptographyOf("fast", entropyOf(1, 0), composition));
const rawBody = utf8Bytes('{"invitation":"","credential":{}}');
const asks: ReadonlyArray<Asked> = [
  commands.command("alice", 1, "team-1"),
  commands.replacement("alice@sha256:00", '"1"', "team-1"),
  commands.enrollment.invite("alice", "team-1"),
  { kind: "FINISH", call: { method: "POST", path: "", ifMatch: undefined, rawBody } },
];

/** Kinds of requests that keep a rule, or break it, by its mark. */
const atEdges = new Map<string, Set<string>>();
for (const name of edgeNames)
  for (const asked of asks) {
    const edge = atEdge(commands, asked, name)?.edge;
    if (edge === undefined) continue;
    const mark = `${edge.refusedAs === undefined ? "kept" : "broken"} ${edge.rule}`;
    atEdges.set(mark, (atEdges.get(mark) ?? new Set()).add(asked.kind));
  }
const ofKeys: ReadonlyArray<KeyRequest> = [
  creation(commands, "k", { algorithm: "ED25519", scheme: undefined, assetOwner: undefined }),
  renewal(commands, "rotate", { keyId: "k", base: 1, assetOwner: undefined }),
  ending(commands, { keyId: "k", base: 2, generation: 1, isFinal: false }),
  signing(commands, { keyId: "k", scheme: "EdDSA", hash: undefined, data: rawBody, generation: undefined }),
  repairing(commands, { keyId: "k", helpers: [1] }),
];
for (const name of keyEdgeNames)
  for (const asked of ofKeys) {
    const edge = atKeyEdge(commands, asked, name)?.edge;
    // Every kind of request breaks the rules of all bodies.
    if (edge === undefined || edge.rule === "4.1.2 body") continue;
    const mark = `${edge.refusedAs === undefined ? "kept" : "broken"} ${edge.rule}`;
    atEdges.set(mark, (atEdges.get(mark) ?? new Set()).add(asked.kind));
  }
atEdges.set("broken 2.8 shares", new Set(["KEYGEN"]));
for (const name of listEdgeNames) {
  const edge = listAtEdge(name)?.edge;
  if (edge !== undefined) atEdges.set(`${edge.isBroken ? "broken" : "kept"} ${edge.rule}`, new Set(["list"]));
}
atEdges.set("kept 2.3 credential", new Set(["FINISH"]));

/** Who asks for what sets a mark. */
const askersOf = (mark: string): ReadonlyArray<string> => [...(atEdges.get(mark) ?? [mark.split(/:? /u)[0] ?? ""])];

const list = (names: Iterable<string>): string => {
  const all = [...new Set(names)].toSorted();
  return all.length === asks.length ? "all" : all.join(",");
};

const found = new Set(plantedBugs.flatMap(({ finds, orFinds = [] }) => [finds, ...orFinds]));

it("asks for each rule both ways, and judges it", () => {
  const askers = new Set([
    "REGISTER",
    "METADATA",
    "OPTIONS",
    "FINISH",
    "list",
    "get",
    "policy",
    "identities",
    "authority",
    ...ofKeys.map(({ kind }) => kind),
  ]);
  for (const [rule, { refused, done, judges }] of Object.entries(rules)) {
    const asking = [...refused, ...done].flatMap(askersOf);
    expect(
      asking.filter((each) => !askers.has(each)),
      rule,
    ).toEqual([]);
    expect(done.length, rule).toBeGreaterThan(0);
    expect(
      judges.filter((id) => !found.has(id)),
      rule,
    ).toEqual([]);
    expect(judges.length, rule).toBeGreaterThan(0);
  }
  const missing = missingPoints([]).map(({ name }) => name);
  expect([...ruleMarks].filter((mark) => !missing.includes(mark))).toEqual([]);
});

it("shows it in the manual", () => {
  const rows = new Map<string, string>();
  for (const [rule, { refused, done, judges }] of Object.entries(rules)) {
    const [section = "", ...words] = rule.split(" ");
    const asking = list([...refused, ...done].flatMap(askersOf));
    const others = `${asking}|${refused.length > 0 ? "" : "never"}|${judges.join(",")}|`;
    // Rules of one section that have everything else in common are one row.
    const known = rows.get(`${section} ${others}`);
    rows.set(
      `${section} ${others}`,
      `${known?.slice(0, -others.length - 1) ?? `|${section} `}${known ? "," : ""}${words.join(" ")}|${others}`,
    );
  }
  const table = ["|rule|asked by|refused|judged by|", "|---|---|---|---|", ...rows.values()].join("\n");
  const manual = readFileSync(new URL("../docs/simulator.md", import.meta.url), "utf8");
  expect(/\|rule\|[^]*?(?=\n\n)/u.exec(manual)?.[0]).toBe(table);
});
