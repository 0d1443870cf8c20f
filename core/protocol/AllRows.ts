/** Tables read as a whole. */
import type { View } from "./Tables.ts";

const PAGE = 256;

/** Every row of a table, in key order. */
export const allRows = <R, T extends keyof R & string>(view: View<R>, table: T): ReadonlyArray<R[T]> => {
  const rows: Array<R[T]> = [];
  for (let after = ""; ; ) {
    const page = view.scan(table, after, PAGE);
    for (const each of page) rows.push(each.row);
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return rows;
    after = last.key;
  }
};
