/** The state of a peer at a moment, put together from what changed up to then. */
import { at, data, plainAt } from "./Data.js";

/**
 * A line of a state: `how` tells whether the moment itself changed it.
 * @typedef {{ readonly text: string, readonly value: number, how: "" | "new" | "changed" | "gone" }} StateLine
 */

/**
 * Section to name to line, after a row; lines that the row took away are still there, marked.
 * @param {number} peer
 * @param {number} row
 * @returns {Map<string, Map<string, StateLine>>}
 */
export const stateAt = (peer, row) => {
  /** @type {Map<string, Map<string, StateLine>>} */
  const sections = new Map();
  for (const [when, changes] of at(data.lanes, peer - 1).states) {
    if (when > row) break;
    const isNow = when === row;
    for (const [section, name, text, value] of changes) {
      const lines = sections.get(plainAt(section)) ?? new Map();
      sections.set(plainAt(section), lines);
      const old = lines.get(plainAt(name));
      if (text === undefined || value === undefined) {
        if (isNow && old !== undefined) old.how = "gone";
        else lines.delete(plainAt(name));
      } else lines.set(plainAt(name), { text: plainAt(text), value, how: isNow ? (old ? "changed" : "new") : "" });
    }
  }
  return new Map(
    data.sections.flatMap((name) => (sections.has(name) ? [[name, sections.get(name) ?? new Map()]] : [])),
  );
};

/**
 * How a peer is at a row: its mode, and how many locks it holds.
 * @param {number} peer
 * @param {number} row
 * @returns {{ mode: string, locks: number }}
 */
export const modeAt = (peer, row) => {
  let found = { mode: "down", locks: 0 };
  for (const [when, mode, locks] of at(data.lanes, peer - 1).modes) {
    if (when > row) break;
    found = { mode: at(data.modes, mode), locks };
  }
  return found;
};
