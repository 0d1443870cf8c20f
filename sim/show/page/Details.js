/** Everything about what is selected: the message, what it led to, the rows, the state and the locks. */
import { tookText } from "./Arrows.js";
import { at, byId, data, familyOf, fateText, peerCount, plainAt, rowsByTopic, timeText, valueAt } from "./Data.js";
import { button, html } from "./Elements.js";
import { modeAt, stateAt } from "./States.js";
import { changed, select, view } from "./View.js";

const details = byId("details");

/** Longer digits are shortened until one asks for them. */
const SHORT_HEX = 12;
/** Virtual time begins here on the calendar. */
const EPOCH = 1_800_000_000_000;
const YEAR = 31_536_000_000;
/** Records with fewer fields than this are open from the start. */
const OPEN_FIELDS = 12;

/** @param {string} text */
const hex = (text) => {
  const code = button(`${text.slice(0, SHORT_HEX)}…`, () => {
    code.textContent = code.textContent === text ? `${text.slice(0, SHORT_HEX)}…` : text;
  });
  code.className = "hex";
  code.title = text;
  return code;
};

/** @param {string | number | boolean | null} value */
const plain = (value) => {
  if (typeof value === "string" && /^[0-9a-f]{16,}$/.test(value)) return hex(value);
  if (typeof value === "number" && value >= EPOCH && value < EPOCH + YEAR)
    return html(
      "span",
      {},
      html("code", {}, String(value)),
      html("small", {}, ` ${timeText((value - EPOCH) * 1000)} s`),
    );
  return html("code", { class: typeof value }, value === null ? "none" : String(value));
};

/**
 * A value as a tree that opens by parts.
 * @param {string} name
 * @param {number} index
 * @param {number} depth
 * @returns {HTMLElement}
 */
const tree = (name, index, depth) => {
  const value = valueAt(index);
  if (value.kind === "plain")
    return html("div", { class: "field" }, html("span", { class: "name" }, name), plain(value.value));
  const { items } = value;
  const isList = value.kind === "list";
  const count = isList ? `${items.length} of them` : "";
  if (items.length === 0)
    return html(
      "div",
      { class: "field" },
      html("span", { class: "name" }, name),
      html("code", {}, isList ? "none" : "empty"),
    );
  const node = html(
    "details",
    { class: "tree" },
    html("summary", {}, html("span", { class: "name" }, name), html("small", {}, ` ${count}`)),
  );
  const open = () => {
    if (node.childElementCount > 1) return;
    node.append(...items.map((item, place) => tree(isList ? `${place + 1}` : at(value.names, place), item, depth - 1)));
  };
  node.addEventListener("toggle", open);
  if (depth > 0 && items.length <= OPEN_FIELDS) {
    open();
    node.open = true;
  }
  return node;
};

/** The fields of a record, without a name around them. @param {number} index */
const fields = (index) => {
  const value = valueAt(index);
  if (value.kind === "plain") return [plain(value.value)];
  return value.items.flatMap((item, place) => {
    const name = value.kind === "list" ? `${place + 1}` : at(value.names, place);
    // What it is stands above it already.
    return name === "_tag" ? [] : [tree(name, item, 1)];
  });
};

/** A row change, in a line that opens. @param {number} index */
const rowChange = (index) => {
  const value = valueAt(index);
  if (value.kind !== "record") return tree("row", index, 0);
  /** @param {string} name */
  const part = (name) => value.items[value.names.indexOf(name)];
  const [op, table, key, row] = ["op", "table", "key", "row"].map(part);
  const said = [op, table].map((each) => (each === undefined ? "" : plainAt(each))).join(" ");
  const name =
    key === undefined
      ? ""
      : plainAt(key)
          .replace(/^0+(?=\d)/, "")
          .replace(/\.0+(?=\d)/, ".");
  const head = [
    html("span", { class: "name" }, said),
    " ",
    name.length > 40 ? html("code", { title: name }, `${name.slice(0, SHORT_HEX)}…`) : html("code", {}, name),
  ];
  if (row === undefined) return html("div", { class: "field" }, ...head);
  const node = html("details", { class: "tree" }, html("summary", {}, ...head));
  node.addEventListener("toggle", () => {
    if (node.childElementCount === 1) node.append(html("div", { class: "fields" }, ...fields(row)));
  });
  return node;
};

/** @param {number} index */
const rowChanges = (index) => {
  const value = valueAt(index);
  return value.kind === "list" ? value.items.map(rowChange) : [];
};

/**
 * @param {string} title
 * @param {ReadonlyArray<Node | string>} children
 */
const section = (title, ...children) => html("section", {}, html("h3", {}, title), ...children);

/** @param {number} row */
const rowLink = (row) =>
  button(timeText(at(data.moments, row).at), () => select(row), { class: "link", title: `Event ${row}` });

/** @param {ReadonlyArray<number>} about */
const topics = (about) =>
  html(
    "p",
    { class: "topics" },
    ...about.map((number) => {
      const { kind, name, id } = at(data.topics, number);
      const follow = () => {
        view.topic = view.topic === number ? -1 : number;
        changed("selection");
      };
      const count = at(rowsByTopic, number).length;
      return button(`${name} · ${count}`, follow, {
        class: `topic is-${kind}`,
        title: `${kind} ${id}: follow it through ${count} events`,
        "aria-pressed": String(view.topic === number),
      });
    }),
  );

/** @param {number} number */
const messageSection = (number) => {
  const message = at(data.messages, number);
  const { type, from, to, how, row, text, value, copies } = message;
  const took = tookText(number);
  const ends = copies.flatMap((copy) => (copy.row === undefined ? [] : [" at ", rowLink(copy.row)]));
  return section(
    `${how === "sent" ? "" : `${how} `}${type}, ${from} → ${to}`,
    html(
      "p",
      { class: "fate" },
      html("span", { class: `swatch of-${familyOf(type)}` }),
      "sent at ",
      row < 0 ? "an event that is not in this picture" : rowLink(row),
      `, ${fateText(message)}`,
      ...ends,
      took === "" ? "" : ` after ${took}`,
    ),
    ...(text === "" ? [] : [html("p", {}, text)]),
    html("div", { class: "fields", "data-message": number }, ...fields(value)),
  );
};

/** @param {number} row */
const ledSection = (row) => {
  const { sends = [], answers = [] } = at(data.moments, row);
  const items = sends.map((number) => {
    const message = at(data.messages, number);
    const open = button(`${message.type} to ${message.to}`, () => select(row, number), { class: "link" });
    return html(
      "li",
      { class: view.message === number ? "is-chosen" : "" },
      html("span", { class: `swatch of-${familyOf(message.type)}` }),
      open,
      html("small", {}, ` ${fateText(message)}`),
    );
  });
  const replies = answers.map(({ request, text, value }) =>
    html("li", {}, `answers ${request}: ${text}`, ...fields(value)),
  );
  return section("What it led to", html("ul", { class: "led-to" }, ...replies, ...items));
};

const marks = { "": "", new: "+", changed: "~", gone: "−" };

/** @param {number} row @param {number} peer */
const stateSection = (row, peer) => {
  const { mode, locks } = modeAt(peer, row);
  const tabs = Array.from({ length: peerCount }, (_, index) => {
    const choose = () => {
      view.peer = index + 1;
      changed("selection");
    };
    return button(`${index + 1}`, choose, {
      "aria-pressed": String(peer === index + 1),
      title: `State of peer ${index + 1} (key ${index + 1})`,
    });
  });
  const parts = [...stateAt(peer, row)].flatMap(([name, lines]) => {
    if (lines.size === 0) return [];
    const isChanged = [...lines.values()].some(({ how }) => how !== "");
    const node = html(
      "details",
      { class: isChanged ? "part is-changed" : "part" },
      html("summary", {}, name, html("small", {}, ` ${lines.size}`)),
    );
    node.open = isChanged || name === "Locks" || name === "Prepared";
    for (const [line, { text, value, how }] of lines) {
      const head = html(
        "summary",
        {},
        html("span", { class: "how" }, marks[how]),
        html("span", { class: "name" }, line),
        html("span", { class: "text" }, text),
      );
      const closer = html("details", { class: `line is-${how || "same"}` }, head);
      closer.addEventListener("toggle", () => {
        if (closer.childElementCount === 1) closer.append(html("div", { class: "fields" }, ...fields(value)));
      });
      node.append(closer);
    }
    return [node];
  });
  const held = locks === 1 ? "1 lock" : `${locks} locks`;
  const summary = mode === "down" ? "No process runs." : `${mode}, ${held} held`;
  return html(
    "section",
    { class: "state", "aria-label": `State of peer ${peer}` },
    html("h3", {}, `Peer ${peer} at this moment `, html("span", { class: "tabs" }, ...tabs)),
    html("p", { class: `mode is-${mode}` }, summary),
    ...parts,
  );
};

/** Shows what is selected. */
export const showDetails = () => {
  const { row } = view;
  const moment = at(data.moments, row);
  /** @type {Array<HTMLElement>} */
  const parts = [
    html("h2", {}, moment.text),
    html("p", { class: "where" }, `${timeText(moment.at)} s, event ${moment.event}`),
    topics(moment.about),
  ];
  if (row === data.violation?.row)
    parts.push(html("p", { class: "violated" }, `${data.violation.id} was found violated here.`));
  if (view.message >= 0) parts.push(messageSection(view.message));
  else if (moment.message !== undefined) parts.push(messageSection(moment.message));
  const isFlush = moment.kind === "flush";
  if (moment.value !== undefined && !isFlush)
    parts.push(section("Request", html("div", { class: "fields" }, ...fields(moment.value))));
  if (moment.sends !== undefined || moment.answers !== undefined) parts.push(ledSection(row));
  if (moment.value !== undefined && isFlush)
    parts.push(section("Rows", html("div", { class: "fields" }, ...rowChanges(moment.value))));
  if (moment.marks !== undefined)
    parts.push(section("Reached", html("ul", {}, ...moment.marks.map((mark) => html("li", {}, mark)))));
  const peer = view.peer > 0 ? view.peer : moment.peer > 0 ? moment.peer : 1;
  parts.push(stateSection(row, peer));
  const { scrollTop } = details;
  details.replaceChildren(...parts);
  details.scrollTop = scrollTop;
};

/** The same message, looked at from where it arrived. @param {number} number */
export const arrivalOf = (number) => at(data.messages, number).copies.find((copy) => copy.row !== undefined)?.row;
