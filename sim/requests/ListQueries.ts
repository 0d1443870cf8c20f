/** The query of a list, written as callers write it, and queries at the edges of what a list takes (contract 4.1.1). */
import { labelsOf } from "./Labels.ts";
import type { Rule } from "./Rules.ts";

/** What its caller means by it. */
export interface ListMeant {
  readonly id: string | undefined;
  readonly type: string | undefined;
  readonly metadata: ReadonlyArray<readonly [name: string, value: string]>;
  readonly limit: number;
  /** Absent for the first page. */
  readonly cursor: string | undefined;
}

/** Items of a page where the query names no limit. */
const USUAL_LIMIT = 50;

const parameter = (name: string, value: string): string => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`;

/** Every parameter once, those of no value left out. */
export const queryOf = ({ id, type, metadata, limit, cursor }: ListMeant): string =>
  [
    ...(id === undefined ? [] : [parameter("id", id)]),
    ...(type === undefined ? [] : [parameter("type", type)]),
    ...metadata.map(([name, value]) => parameter(`metadata.${name}`, value)),
    parameter("limit", String(limit)),
    ...(cursor === undefined ? [] : [parameter("cursor", cursor)]),
  ].join("&");

/** How a query stands to a rule of lists. */
export interface ListEdge {
  readonly rule: Rule;
  readonly how: string;
  /** No page may come of it. */
  readonly isBroken: boolean;
}

/** A first page that is asked for at the edge of a rule. */
export interface EdgedList {
  readonly edge: ListEdge;
  readonly meant: ListMeant;
  readonly query: string;
}

const ALL: ListMeant = { id: undefined, type: undefined, metadata: [], limit: USUAL_LIMIT, cursor: undefined };

type Row = readonly [how: string, meant: ListMeant, query: string];

/** Written as usual. */
const kept = (how: string, more: Partial<ListMeant>): Row => {
  const meant = { ...ALL, ...more };
  return [how, meant, queryOf(meant)];
};

/** Every byte by its number. */
const escaped = (text: string): string =>
  [...new TextEncoder().encode(text)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");

const keeps: ReadonlyArray<readonly [rule: Rule, row: Row]> = [
  ["4.1.1 limit", kept("one", { limit: 1 })],
  ["4.1.1 limit", kept("as many as may be", { limit: 200 })],
  ["4.1.1 limit", ["none named", ALL, ""]],
  ["4.1.1 filter", kept("an id of 128 characters", { id: "approver-1".padEnd(128, "-") })],
  ["4.1.1 filter", kept("a key of 64 bytes", { metadata: labelsOf("a key of 64 bytes") })],
  ["4.1.1 filter", kept("a value of 512 bytes", { metadata: labelsOf("a value of 512 bytes") })],
  ["4.1.1 filter", kept("an empty value", { metadata: labelsOf("an empty value") })],
  [
    "4.1.1 filter",
    [
      "every byte by its number",
      { ...ALL, metadata: labelsOf("team-1") },
      labelsOf("team-1")
        .map(([name, value]) => `metadata.${escaped(name)}=${escaped(value)}`)
        .join("&"),
    ],
  ],
];

/** The edge at which searching takes more work than a page has where that is scarce. */
export const MOST_PAIRS = "4.1.1 filter: 32 pairs";
const mostPairs: readonly [rule: Rule, row: Row] = [
  "4.1.1 filter",
  kept("32 pairs", { metadata: labelsOf("32 pairs") }),
];

const breaks: ReadonlyArray<readonly [rule: Rule, how: string, query: string]> = [
  ["4.1.1 limit", "none", "limit=0"],
  ["4.1.1 limit", "one more than may be", "limit=201"],
  ["4.1.1 limit", "less than none", "limit=-1"],
  ["4.1.1 limit", "a part", "limit=1.5"],
  ["4.1.1 limit", "a zero before it", "limit=01"],
  ["4.1.1 limit", "no text", "limit="],
  ["4.1.1 limit", "twice", "limit=1&limit=1"],
  ["4.1.1 filter", "33 pairs", queryOf({ ...ALL, metadata: labelsOf("33 pairs") })],
  ["4.1.1 filter", "a key of 65 bytes", queryOf({ ...ALL, metadata: labelsOf("a key of 65 bytes") })],
  ["4.1.1 filter", "an empty key", queryOf({ ...ALL, metadata: labelsOf("an empty key") })],
  ["4.1.1 filter", "a value of 513 bytes", queryOf({ ...ALL, metadata: labelsOf("a value of 513 bytes") })],
  ["4.1.1 filter", "an id of 129 characters", queryOf({ ...ALL, id: "a".repeat(129) })],
  ["4.1.1 filter", "another type", "type=PASSWORD"],
  ["4.1.1 filter", "a pair twice", "metadata.team=team-1&metadata.te%61m=team-1"],
  ["4.1.1 filter", "an unknown parameter", "order=asc"],
  ["4.1.1 filter", "cut off in its encoding", "id=%4"],
];

/** The names of all edges, those that keep a rule first. */
export const listEdgeNames: ReadonlyArray<string> = [
  ...keeps.map(([rule, [how]]) => `${rule}: ${how}`),
  ...breaks.map(([rule, how]) => `${rule}: ${how}`),
  MOST_PAIRS,
];

/** The list at an edge, by its name; undefined where there is none. */
export const listAtEdge = (name: string): EdgedList | undefined => {
  for (const [rule, [how, meant, query]] of [...keeps, mostPairs])
    if (name === `${rule}: ${how}`) return { edge: { rule, how, isBroken: false }, meant, query };
  for (const [rule, how, query] of breaks)
    if (name === `${rule}: ${how}`) return { edge: { rule, how, isBroken: true }, meant: ALL, query };
  return undefined;
};
