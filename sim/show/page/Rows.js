/**
 * Which moments are shown, in which line. The axis is the order of events: time
 * would put microseconds of work on one point and idle seconds on a screen.
 */
import { at, data, familyOf, groupOf, lastRow, spanText } from "./Data.js";
import { matches } from "./Search.js";
import { view } from "./View.js";

/** Fewer quiet moments in a row are not worth hiding. */
const LEAST_FOLD = 4;

/**
 * A line of the picture: one moment, or a stretch of quiet ones.
 * @typedef {{ readonly row: number, readonly to: number }} Line
 */

/** @type {{ lines: Array<Line>, lineOf: Array<number> }} */
export const rows = { lines: [], lineOf: [] };

const quietKinds = new Set(["timer", "deliver", "flush", "readiness", "acts"]);

/**
 * Nothing of a proposal, a request, a fault or the founding.
 * @param {number} row
 */
const isQuiet = (row) => {
  const { kind, about, bad, answers, message, flushes } = at(data.moments, row);
  if (!quietKinds.has(kind) || about.length > 0 || bad || answers !== undefined) return false;
  if (message !== undefined && familyOf(at(data.messages, message).type) === "founding") return false;
  return row !== view.row && row !== lastRow && !(flushes && kind === "deliver");
};

/** @param {number} row */
const isShown = (row) => {
  const moment = at(data.moments, row);
  if (row === view.row || row === data.violation?.row) return true;
  if (!view.groups.has(groupOf(moment))) return false;
  if (moment.peer > 0 && !view.peers.has(moment.peer)) return false;
  return !view.onlyMatches || matches.has(row);
};

/** Counts everything anew; to be called when filters, folds, the search or the selection have changed. */
export const arrange = () => {
  /** @type {Array<Line>} */
  const lines = [];
  /** @type {Array<number>} */
  const lineOf = [];
  /** @type {Array<number>} */
  let quiet = [];
  const endQuiet = () => {
    const [first = 0] = quiet;
    const isFold = quiet.length >= LEAST_FOLD && !view.opened.has(first);
    if (isFold) {
      for (const row of quiet) lineOf[row] = lines.length;
      lines.push({ row: first, to: at(quiet, quiet.length - 1) });
    } else
      for (const row of quiet) {
        lineOf[row] = lines.length;
        lines.push({ row, to: row });
      }
    quiet = [];
  };
  for (let row = 0; row <= lastRow; row++) {
    if (!isShown(row)) continue;
    if (view.folds && isQuiet(row)) quiet.push(row);
    else {
      endQuiet();
      lineOf[row] = lines.length;
      lines.push({ row, to: row });
    }
  }
  endQuiet();
  // What is hidden lies where the next thing is that is not.
  let next = lines.length;
  for (let row = lastRow; row >= 0; row--) next = lineOf[row] ??= next;
  rows.lines = lines;
  rows.lineOf = lineOf;
};

/**
 * Where a row is; whatever was before the first is above the first line.
 * @param {number} row
 */
export const lineOf = (row) => (row < 0 ? -1 : (rows.lineOf[row] ?? rows.lines.length));

/** @param {Line} line */
export const isFold = ({ row, to }) => to > row;

/** @param {Line} line */
export const foldText = ({ row, to }) =>
  `${to - row + 1} quiet events in ${spanText(at(data.moments, to).at - at(data.moments, row).at)}: timers, readiness, housekeeping`;

/**
 * The row that many lines further; a fold counts as its first row.
 * @param {number} row
 * @param {number} by
 */
export const rowBeside = (row, by) => {
  const line = Math.max(0, Math.min(rows.lines.length - 1, lineOf(row) + by));
  return rows.lines[line]?.row ?? row;
};
