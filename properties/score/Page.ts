/** What the score says, on one page. */
import { ASSERTED } from "./Assertions.ts";
import { FOLDERS, LEFT_OUT, type Mutant } from "./Mutants.ts";
import type { Judged } from "./Judge.ts";

/** The score of some mutants. */
export interface Score {
  /** All but those with which the program ends while it is loaded. */
  readonly counted: number;
  readonly noticed: number;
  /** Of those noticed: seeds up to the first that noticed. Absent where none was. */
  readonly median: number | undefined;
  readonly ninetieth: number | undefined;
}

const quantile = (sorted: ReadonlyArray<number>, share: number): number | undefined =>
  sorted[Math.ceil(sorted.length * share) - 1];

/** Counts what was noticed. */
export const scoreOf = (judged: ReadonlyArray<Judged>): Score => {
  const counted = judged.filter(({ isLoaded }) => isLoaded);
  const seeds = counted.flatMap(({ noticed }) => noticed?.seed ?? []).toSorted((left, right) => left - right);
  return {
    counted: counted.length,
    noticed: seeds.length,
    median: quantile(seeds, 0.5),
    ninetieth: quantile(seeds, 0.9),
  };
};

/** The share noticed, in percent; none of none is none. */
export const percentOf = ({ counted, noticed }: Score): number => (counted === 0 ? 0 : (100 * noticed) / counted);

const MOST_TEXT = 160;

/** Code on one line, and not much of it. */
const short = (code: string): string => {
  const line = code.replaceAll(/\s+/gu, " ").trim();
  return line.length <= MOST_TEXT ? line : `${line.slice(0, MOST_TEXT)}…`;
};

/** A mutant in two lines. */
export const mutantLines = ({ id, file, line, mutator, original, replacement }: Mutant): ReadonlyArray<string> => [
  `${file}:${line}  ${mutator}  --mutant ${id}`,
  `    ${short(original)}  →  ${short(replacement)}`,
];

const row = (name: string, score: Score): string =>
  [
    name.padEnd(16),
    String(score.counted).padStart(7),
    String(score.noticed).padStart(8),
    `${percentOf(score).toFixed(1)} %`.padStart(8),
    String(score.median ?? "").padStart(7),
    String(score.ninetieth ?? "").padStart(10),
  ]
    .join(" ")
    .trimEnd();

const byCount = (names: ReadonlyArray<string>): ReadonlyArray<readonly [string, number]> => {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].toSorted(([, left], [, right]) => right - left);
};

const listed = (title: string, judged: ReadonlyArray<Judged>, seeds: number): ReadonlyArray<string> =>
  judged.length === 0
    ? []
    : [
        "",
        `${title} (${judged.length}):`,
        ...judged.flatMap(({ mutant, reaching, parting }) => [
          ...mutantLines(mutant),
          `    makes a difference in ${reaching} of ${seeds} seeds, and another run in ${parting}`,
        ]),
      ];

/** How far those that were not noticed went. */
const shares = (left: ReadonlyArray<Judged>): ReadonlyArray<string> => {
  const idle = left.filter(({ reaching }) => reaching === 0).length;
  const parted = left.filter(({ parting }) => parting > 0).length;
  return [
    `not noticed: ${idle} make no difference in any seed, ${left.length - idle - parted} compute something else and change no run,`,
    `             ${parted} change what is done, sent, written or answered`,
  ];
};

const byPlace = (left: Judged, right: Judged): number =>
  left.mutant.file.localeCompare(right.mutant.file) || left.mutant.line - right.mutant.line;

/** The page of a score; beside it stands how many were drawn that do not compile. */
export const pageLines = (all: ReadonlyArray<Judged>, seeds: number, refused: number): ReadonlyArray<string> => {
  const judged = all.toSorted(byPlace);
  const left = judged.filter(({ noticed, isLoaded }) => noticed === undefined && isLoaded);
  const by = byCount(judged.flatMap(({ noticed }) => noticed?.by ?? []));
  return [
    `mutants noticed by seeds 1..${seeds} of the default mix, and by nothing else`,
    "",
    `${"".padEnd(16)} ${"mutants".padStart(7)} ${"noticed".padStart(8)} ${"share".padStart(8)} ${"median".padStart(7)} ${"9 of 10 by".padStart(10)}`,
    ...FOLDERS.map((folder) => [folder, judged.filter(({ mutant }) => mutant.file.startsWith(`${folder}/`))] as const)
      .filter(([, inFolder]) => inFolder.length > 0)
      .map(([folder, inFolder]) => row(folder, scoreOf(inFolder))),
    row("all", scoreOf(judged)),
    "",
    `noticed by ${by.map(([name, count]) => `${name} ${count}`).join(", ") || "nothing"}`,
    `median and 9 of 10: the seed that noticed first; other equivalent mutants are counted as not noticed`,
    `left out: ${LEFT_OUT.join(", ")}; assertions (if … throw new ${ASSERTED.join(", ")}); ${refused} drawn that the type checker refuses`,
    ...shares(left),
    ...listed(
      "not counted, the program ends while it is loaded",
      judged.filter(({ isLoaded }) => !isLoaded),
      seeds,
    ),
    ...listed("not noticed", left, seeds),
  ];
};
