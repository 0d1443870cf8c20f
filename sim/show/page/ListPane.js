/** The events as a list beside the picture, line by line with it: what a screen reader reads, and where times are printed. */
import { at, byId, data, groupOf, spanText, timeText } from "./Data.js";
import { html } from "./Elements.js";
import { lineHeight } from "./Plane.js";
import { foldText, isFold, rows } from "./Rows.js";
import { matches } from "./Search.js";
import { view } from "./View.js";

const list = byId("list");

/** A silence longer than this is worth a word, in microseconds. */
const PAUSE = 50_000;
/** Lines closer to each other than this are not written out. */
const READABLE = 15;

/** @param {number} row */
const isImportant = (row) => {
  const { kind } = at(data.moments, row);
  return row === data.violation?.row || kind === "crash" || kind === "healed" || kind === "fault";
};

/** @param {number} line */
const pauseBefore = (line) => {
  const before = rows.lines[line - 1];
  if (before === undefined) return "";
  const pause = at(data.moments, at(rows.lines, line).row).at - at(data.moments, before.to).at;
  return pause >= PAUSE ? `+${spanText(pause)}` : "";
};

/** What a moment led to, in short. @param {number} row */
const ledTo = (row) => {
  const { sends = [], answers = [] } = at(data.moments, row);
  /** @type {Map<string, Array<number>>} */
  const byType = new Map();
  for (const number of sends) {
    const { type, to, how } = at(data.messages, number);
    const name = how === "sent" ? type : `${how} ${type}`;
    byType.set(name, [...(byType.get(name) ?? []), to]);
  }
  const parts = [...byType].map(([type, to]) => `${type} to ${to.join(", ")}`);
  return [...answers.map(({ request, text }) => `answers ${request}: ${text}`), ...parts].join("; ");
};

/** A sentence about a peer with its number set apart; read aloud it is the same sentence. @param {string} text */
const sentence = (text) => {
  const [, peer, rest] = /^Peer (\d+):? ?(.*)$/s.exec(text) ?? [];
  if (peer === undefined || rest === undefined) return [text];
  return [html("span", { class: "chip" }, html("span", { class: "unseen" }, "Peer "), peer), ` ${rest}`];
};

/**
 * @param {number} line
 * @param {boolean} isMute
 */
const option = (line, isMute) => {
  const shown = at(rows.lines, line);
  const { row } = shown;
  const moment = at(data.moments, row);
  const fold = isFold(shown);
  const isChosen = view.row >= row && view.row <= shown.to;
  const names = ["row", fold ? "is-fold" : `of-${groupOf(moment)}`];
  if (isChosen) names.push("is-chosen");
  if (matches.has(row)) names.push("is-match");
  if (moment.bad && !fold) names.push("is-bad");
  if (row === data.violation?.row) names.push("is-violation");
  if (isMute) names.push("is-mute");
  if (view.topic >= 0 && !moment.about.includes(view.topic)) names.push("is-other");
  const led = fold ? "" : ledTo(row);
  const element = html(
    "div",
    {
      role: "option",
      id: `row-${row}`,
      class: names.join(" "),
      "aria-selected": String(isChosen),
      "aria-setsize": rows.lines.length,
      "aria-posinset": line + 1,
      ...(fold ? { "data-fold": row } : { "data-row": row }),
    },
    html("span", { class: "time" }, timeText(moment.at)),
    html("span", { class: "pause" }, pauseBefore(line)),
    html(
      "span",
      { class: "said" },
      ...(fold ? [foldText(shown)] : sentence(moment.text)),
      ...(led === "" ? [] : [html("span", { class: "led" }, ` → ${led}`)]),
    ),
  );
  element.style.top = `${line * lineHeight()}px`;
  element.style.height = `${lineHeight()}px`;
  return element;
};

/**
 * Writes the lines from `first` up to `last`.
 * @param {number} first
 * @param {number} last
 */
export const writeList = (first, last) => {
  const height = lineHeight();
  list.classList.toggle("is-small", height < 20);
  list.classList.toggle("is-tiny", height < READABLE);
  const written = [];
  let free = first;
  for (let line = first; line < last; line++) {
    const { row } = at(rows.lines, line);
    const fits = line >= free;
    const isNext =
      height >= READABLE || (fits && (isImportant(row) || line % Math.ceil((2 * READABLE) / height) === 0));
    if (isNext) free = line + READABLE / height;
    written.push(option(line, !isNext));
  }
  list.replaceChildren(...written);
  list.setAttribute("aria-activedescendant", `row-${at(rows.lines, rows.lineOf[view.row] ?? 0).row}`);
};
