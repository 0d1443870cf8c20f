/** Searching: words that must all occur, in what is said of a moment or anywhere in its messages and rows. */
import { at, data } from "./Data.js";
import { changed, view } from "./View.js";

/** Rows that match the query; empty without one. */
export const matches = /** @type {Set<number>} */ (new Set());

/** `name:value` looks in one place only. */
const places = /** @type {const} */ (["type", "peer", "request", "proposal", "ref", "kind"]);

/** @typedef {{ readonly place: string, readonly text: string }} Word */

/**
 * @param {string} query
 * @returns {ReadonlyArray<Word>}
 */
const wordsOf = (query) =>
  [...query.toLowerCase().matchAll(/(?:([a-z]+):)?(?:"([^"]*)"|(\S+))/g)].map(([whole, place = "", quoted, bare]) => {
    if (places.some((each) => each === place)) return { place, text: quoted ?? bare ?? "" };
    return { place: "", text: quoted ?? whole };
  });

/**
 * Which values of the pool hold a text, themselves or further down: what is held comes before what holds it.
 * @param {string} text
 */
const holdersOf = (text) => {
  const holds = new Uint8Array(data.pool.length);
  data.pool.forEach((entry, index) => {
    if (typeof entry === "string") holds[index] = entry.toLowerCase().includes(text) ? 1 : 0;
    else if (typeof entry === "object" && entry !== null)
      holds[index] = entry.some((child, place) => place > 0 && holds[child] === 1) ? 1 : 0;
    else holds[index] = String(entry) === text ? 1 : 0;
  });
  return holds;
};

/** @param {number} row */
const messagesOf = (row) => {
  const { message, sends = [] } = at(data.moments, row);
  return [...(message === undefined ? [] : [message]), ...sends].map((number) => at(data.messages, number));
};

/**
 * @param {number} row
 * @param {string} kind
 * @param {string} text
 */
const isAbout = (row, kind, text) =>
  at(data.moments, row).about.some((number) => {
    const topic = at(data.topics, number);
    return topic.kind === kind && (topic.name.toLowerCase().includes(text) || topic.id.toLowerCase().includes(text));
  });

/** @param {number} row */
const saidOf = (row) => {
  const { text, label, marks = [], answers = [], about } = at(data.moments, row);
  const messages = messagesOf(row).map((message) => `${message.type} ${message.text} ${message.how}`);
  const topics = about.map((number) => `${at(data.topics, number).name} ${at(data.topics, number).id}`);
  return [text, label, ...marks, ...answers.map((each) => `${each.request} ${each.text}`), ...messages, ...topics]
    .join("\n")
    .toLowerCase();
};

/**
 * @param {Word} word
 * @returns {(row: number) => boolean}
 */
const testOf = ({ place, text }) => {
  switch (place) {
    case "type":
      return (row) => messagesOf(row).some(({ type }) => type.toLowerCase() === text);
    case "peer":
      return (row) => String(at(data.moments, row).peer) === text;
    case "kind":
      return (row) => at(data.moments, row).kind === text;
    case "request":
    case "proposal":
      return (row) => isAbout(row, place, text);
    case "ref":
      return (row) => isAbout(row, "approver", text);
    default: {
      const holds = holdersOf(text);
      return (row) => {
        const { value, answers = [] } = at(data.moments, row);
        const values = [...messagesOf(row).map((message) => message.value), ...answers.map((each) => each.value)];
        if (value !== undefined) values.push(value);
        return values.some((index) => holds[index] === 1) || saidOf(row).includes(text);
      };
    }
  }
};

/** Finds what matches the query of the view. */
const find = () => {
  matches.clear();
  const tests = wordsOf(view.query).map(testOf);
  if (tests.length > 0)
    for (let row = 0; row < data.moments.length; row++) if (tests.every((test) => test(row))) matches.add(row);
};

/** @param {string} query */
export const searchFor = (query) => {
  view.query = query.trim();
  find();
  changed("search");
};

/**
 * The next match after a row, or the one before it; it goes on at the other end.
 * @param {number} row
 * @param {1 | -1} way
 */
export const nextMatch = (row, way) => {
  const all = [...matches];
  if (all.length === 0) return undefined;
  if (way === 1) return all.find((each) => each > row) ?? all[0];
  return all.findLast((each) => each < row) ?? all.at(-1);
};
