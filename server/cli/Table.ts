/** Rows under a heading, each column as wide as its widest cell. */
import { printable } from "./Output.ts";

const GAP = "  ";

/**
 * The lines of a table, without spaces at their ends; cells from elsewhere lose their control characters.
 *
 * @param heading one cell for each column
 * @param rows each with as many cells
 */
export const tableLines = (
  heading: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<string>>,
): ReadonlyArray<string> => {
  const all = [heading, ...rows].map((row) => row.map(printable));
  const widths = heading.map((_, column) => Math.max(...all.map((row) => (row[column] ?? "").length)));
  return all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join(GAP)
      .trimEnd(),
  );
};
