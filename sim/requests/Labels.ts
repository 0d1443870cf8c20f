/** The metadata that callers mean by the name of a team: the team, for some its site, and for some as much as may be. */

/** Sorted by the bytes of their names. */
export type Labels = ReadonlyArray<readonly [name: string, value: string]>;

const NONE: Labels = [];

const team = (name: string): Labels => [["team", name]];

/** So many pairs of `bytes` bytes each. */
const pairs = (count: number, bytes: number): Labels =>
  Array.from({ length: count }, (_, index) => [`k${String(index).padStart(2, "0")}`, "v".repeat(bytes - 3)]);

/** Its characters take two bytes each. */
const wide = (bytes: number): string => "é".repeat(bytes >> 1) + "e".repeat(bytes % 2);

/** Teams whose metadata is at a limit of contract 2.4, or beyond it; none is beyond two. */
const EXTREMES = {
  "32 pairs": pairs(32, 8),
  "33 pairs": pairs(33, 8),
  "a key of 64 bytes": [[wide(64), "1"]],
  "a key of 65 bytes": [[wide(65), "1"]],
  "a key of 1 byte": [["k", "1"]],
  "an empty key": [["", "1"]],
  "a value of 512 bytes": [["k", wide(512)]],
  "a value of 513 bytes": [["k", wide(513)]],
  "an empty value": [["k", ""]],
  "16 KiB": pairs(32, 512),
  "16 KiB and a byte": [...pairs(31, 512), ["k31", "v".repeat(510)]],
  // Of another order than as UTF-16.
  "keys of any script": [
    ["\uFB01", "1"],
    ["\u{1F600}", "2"],
  ],
} as const satisfies { readonly [name: string]: Labels };
export type Extreme = keyof typeof EXTREMES;

const KNOWN: ReadonlyMap<string, Labels> = new Map<string, Labels>([
  ["team-1", [["site", "north"], ...team("team-1")]],
  [
    "team-3",
    [
      ["desk", "4"],
      ["site", "north"],
      ["team", "team-3"],
    ],
  ],
  ...Object.entries(EXTREMES),
]);

/** None without a team. */
export const labelsOf = (name: string | undefined): Labels =>
  name === undefined ? NONE : (KNOWN.get(name) ?? team(name));

/** As a body has it: in the order in which nothing is stored, or in the other. */
export const labelsJson = (name: string | undefined, isSorted = false): string =>
  JSON.stringify(Object.fromEntries(isSorted ? labelsOf(name) : labelsOf(name).toReversed()));
