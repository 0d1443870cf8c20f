/** The table of docs/strength.md: a row for every planted bug, in the order in which they are planted. */

export interface Strength {
  readonly bug: string;
  /** The invariant under which it was found. */
  readonly invariant: string;
  readonly seed: number;
  /** Whether all seeds before it were run. */
  readonly isFirst: boolean;
  /** Deviations from the quiet run, in the first failing seed and after shrinking. */
  readonly before: number;
  readonly after: number;
  readonly isMinimal: boolean;
}

const HEAD = ["|bug|breaks|found in seed|deviations|after shrinking|", "|---|---|---|---|---|"];

const ROW = /^\|`([^`]+)`\|([A-Z]+\d+[a-z]?)\|/;

const lineOf = ({ bug, invariant, seed, isFirst, before, after, isMinimal }: Strength): string =>
  `|\`${bug}\`|${invariant}|${isFirst ? "" : "≤"}${seed}|${before}|${after}${isMinimal ? "" : "*"}|`;

interface Row {
  readonly bug: string;
  readonly invariant: string;
  readonly line: string;
}

/** The rows that a page has. */
export const rowsOf = (page: string): ReadonlyArray<Row> =>
  page.split("\n").flatMap((line) => {
    const [, bug, invariant] = ROW.exec(line) ?? [];
    return bug === undefined || invariant === undefined ? [] : [{ bug, invariant, line }];
  });

/** A page with new measurements in its table, in the order given; unmeasured rows stay, rows without a bug go. */
export const withStrengths = (
  page: string,
  measured: ReadonlyArray<Strength>,
  order: ReadonlyArray<string>,
): string => {
  const rows = new Map(rowsOf(page).map(({ bug, line }) => [bug, line]));
  for (const each of measured) rows.set(each.bug, lineOf(each));
  const [text = ""] = page.split(HEAD[0] ?? "");
  return `${text}${[...HEAD, ...order.flatMap((bug) => rows.get(bug) ?? [])].join("\n")}\n`;
};
