/** Where things are: lanes across, lines down. */
import { data, lastRow, peerCount } from "./Data.js";
import { lineOf, rows } from "./Rows.js";
import { view, zooms } from "./View.js";

const LEAST_LANE = 86;
const MOST_LANE = 260;
const CALL_COLUMN = 10;
const MOST_CALL_COLUMNS = 12;
const CONDITION_COLUMN = 12;
const MOST_CONDITION_COLUMNS = 8;
/** Between the columns of a lane and its neighbours. */
export const EDGE = 22;
/** Below this height of a line nothing is written beside it. */
const WRITTEN = 15;

/** @param {ReadonlyArray<{ readonly column: number }>} spans */
const columnsOf = (spans) => spans.reduce((most, { column }) => Math.max(most, column + 1), 1);

const callColumns = Math.min(MOST_CALL_COLUMNS, columnsOf(data.calls));
const conditionColumns = Math.min(MOST_CONDITION_COLUMNS, columnsOf(data.conditions));
const callersWidth = Math.max(64, 2 * EDGE + callColumns * CALL_COLUMN);
const worldWidth = Math.max(64, 2 * EDGE + conditionColumns * CONDITION_COLUMN);

export const plane = { width: 0, lane: LEAST_LANE };

/**
 * Fits the lanes into a width; many lanes take more.
 * @param {number} room
 */
export const fit = (room) => {
  const left = room - callersWidth - worldWidth;
  plane.lane = Math.max(LEAST_LANE, Math.min(MOST_LANE, Math.floor(left / peerCount)));
  plane.width = Math.max(room, callersWidth + worldWidth + peerCount * plane.lane);
};

/** @param {number} peer */
export const laneX = (peer) => callersWidth + (peer - 0.5) * plane.lane;

/** @param {number} column */
export const callX = (column) => EDGE + (Math.min(column, callColumns - 1) + 0.5) * CALL_COLUMN;

export const callersX = callersWidth / 2;
export const callersEdge = callersWidth;

export const worldLeft = () => callersWidth + peerCount * plane.lane;

/** @param {number} column */
export const conditionX = (column) =>
  worldLeft() + EDGE + (Math.min(column, conditionColumns - 1) + 0.5) * CONDITION_COLUMN;

export const worldX = () => worldLeft() + worldWidth / 2;

/** The height of a line. */
export const lineHeight = () => zooms[view.zoom] ?? zooms[zooms.length - 1] ?? 22;

export const isWritten = () => lineHeight() >= WRITTEN;

/**
 * The middle of a row's line.
 * @param {number} row
 */
export const rowY = (row) => (lineOf(row) + 0.5) * lineHeight();

/** The end of the last line. */
export const endY = () => rows.lines.length * lineHeight();

/**
 * From where to where a span reaches; what is still open reaches to the end.
 * @param {number} from
 * @param {number | null} to
 * @returns {[number, number]}
 */
export const spanY = (from, to) => [Math.max(0, rowY(from)), to === null || to > lastRow ? endY() : rowY(to)];
