/** What the reader looks at: the selection, the filters, the zoom; and who is told when it changes. */
import { data, families, happenings, lastRow, peerCount } from "./Data.js";

/** Heights of a row in pixels. */
export const zooms = /** @type {const} */ ([3, 5, 8, 12, 17, 22, 28, 36]);
const USUAL_ZOOM = 5;

export const view = {
  /** The selected row. */
  row: 0,
  /** The selected message, or -1. */
  message: -1,
  /** The topic that is followed, or -1. */
  topic: -1,
  /** The peer whose state is shown; 0 for the one it happens to. */
  peer: data.peer,
  zoom: USUAL_ZOOM,
  query: "",
  onlyMatches: false,
  folds: true,
  /** Whole folds that were opened, by their first row. */
  opened: /** @type {Set<number>} */ (new Set()),
  groups: new Set([...families, ...happenings].map(([name]) => String(name))),
  peers: new Set(Array.from({ length: peerCount }, (_, index) => index + 1)),
};

/** @typedef {"rows" | "selection" | "zoom" | "search"} Aspect */

/** @type {Array<(aspect: Aspect) => void>} */
const listeners = [];

/** @param {(aspect: Aspect) => void} listener */
export const whenChanged = (listener) => void listeners.push(listener);

/** @param {Aspect} aspect */
export const changed = (aspect) => {
  for (const listener of listeners) listener(aspect);
};

/**
 * Selects a row, and a message where that is what was meant.
 * @param {number} row
 * @param {number} message
 */
export const select = (row, message = -1) => {
  view.row = Math.max(0, Math.min(lastRow, row));
  view.message = message;
  changed("selection");
};
