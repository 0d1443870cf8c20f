/** Going from event to event: the next of the same thing, the other end of a message, a match, the violation. */
import { at, byId, data, lastRow, rowsByTopic } from "./Data.js";
import { arrivalOf } from "./Details.js";
import { rowBeside } from "./Rows.js";
import { nextMatch, searchFor } from "./Search.js";
import { changed, select, view, zooms } from "./View.js";

const search = /** @type {HTMLInputElement} */ (byId("search"));

/** What is followed, or the first thing the selected row is about: a proposal if there is one. */
const topicHere = () => {
  if (view.topic >= 0) return view.topic;
  const { about } = at(data.moments, view.row);
  return about.find((number) => at(data.topics, number).kind === "proposal") ?? about[0];
};

/** @param {1 | -1} way */
export const walkTopic = (way) => {
  const topic = topicHere();
  if (topic === undefined) return;
  view.topic = topic;
  const of = at(rowsByTopic, topic);
  const next = way === 1 ? of.find((row) => row > view.row) : of.findLast((row) => row < view.row);
  select(next ?? view.row);
};

/** @param {number} by */
export const walkLines = (by) => select(rowBeside(view.row, by));

/** @param {1 | -1} way */
export const walkMatches = (way) => {
  const row = nextMatch(view.row, way);
  if (row !== undefined) select(row);
};

/** Through the messages that left here; from the last of them on, to where it arrived. */
export const forward = () => {
  const { sends = [] } = at(data.moments, view.row);
  if (view.message < 0 || !sends.includes(view.message)) {
    const [first] = sends;
    if (first !== undefined) select(view.row, first);
    return;
  }
  const next = sends[sends.indexOf(view.message) + 1];
  if (next !== undefined) select(view.row, next);
};

/** To where the selected message arrived. */
export const follow = () => {
  const arrival = view.message < 0 ? undefined : arrivalOf(view.message);
  if (arrival !== undefined) select(arrival);
};

/** To where the message that came in here was sent. */
export const back = () => {
  const { message } = at(data.moments, view.row);
  if (view.message >= 0 && at(data.messages, view.message).row === view.row) return select(view.row);
  const from = message === undefined ? -1 : at(data.messages, message).row;
  if (message !== undefined && from >= 0) select(from, message);
};

export const toViolation = () => {
  if (data.violation !== null) select(data.violation.row);
};

/** @param {number} by */
export const zoomBy = (by) => {
  view.zoom = Math.max(0, Math.min(zooms.length - 1, by === 0 ? 5 : view.zoom + by));
  changed("zoom");
};

/** @param {1 | -1} way */
const walkTrouble = (way) => {
  const isTrouble = (row = 0) => {
    const { kind, bad } = at(data.moments, row);
    return bad === true && kind !== "refuse" && kind !== "silence";
  };
  for (let row = view.row + way; row >= 0 && row <= lastRow; row += way) if (isTrouble(row)) return select(row);
};

const clear = () => {
  if (view.query !== "") {
    search.value = "";
    searchFor("");
  }
  view.topic = -1;
  select(view.row);
};

const help = /** @type {HTMLDialogElement} */ (byId("help"));

export const openHelp = () => {
  if (!help.open) help.showModal();
};

/** Keys, what they do in words, and what they do. */
export const keys = /** @type {ReadonlyArray<readonly [ReadonlyArray<string>, string, () => void]>} */ ([
  [["j", "ArrowDown"], "next event", () => walkLines(1)],
  [["k", "ArrowUp"], "previous event", () => walkLines(-1)],
  [["PageDown", " "], "twenty events on", () => walkLines(20)],
  [["PageUp"], "twenty events back", () => walkLines(-20)],
  [["Home", "g"], "first event", () => select(0)],
  [["End", "G"], "last event", () => select(lastRow)],
  [["]", "."], "next event of the same proposal, request or approver", () => walkTopic(1)],
  [["[", ","], "previous event of the same", () => walkTopic(-1)],
  [["l", "ArrowRight"], "through the messages that left here", forward],
  [["Enter"], "where the chosen message arrived", follow],
  [["h", "ArrowLeft"], "where the message that came in was sent", back],
  [["v"], "the violation", toViolation],
  [["x"], "next fault or crash", () => walkTrouble(1)],
  [["X"], "previous fault or crash", () => walkTrouble(-1)],
  [["/"], "search", () => search.focus()],
  [["n"], "next match", () => walkMatches(1)],
  [["N"], "previous match", () => walkMatches(-1)],
  [["+", "="], "larger", () => zoomBy(1)],
  [["-"], "smaller", () => zoomBy(-1)],
  [["0"], "usual size", () => zoomBy(0)],
  [["Escape"], "clear the search and what is followed", clear],
  [["?"], "this help", openHelp],
]);
