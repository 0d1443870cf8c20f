/** Ties it together: the tools above the picture, pointing, keys, and what is told to whom. */
import { at, byId, data, families, happenings, peerCount, timeText } from "./Data.js";
import { layOut } from "./Drawing.js";
import { showDetails } from "./Details.js";
import { button, html } from "./Elements.js";
import { facts } from "./Facts.js";
import { drawOverview, whenPointed } from "./Overview.js";
import { isFold, rows } from "./Rows.js";
import { bring, firstRow, redraw, resize, scrollTo } from "./Scroll.js";
import { matches, searchFor } from "./Search.js";
import { changed, select, view, whenChanged } from "./View.js";
import { keys, openHelp, toViolation, walkMatches, zoomBy } from "./Walk.js";

const list = byId("list");
const search = /** @type {HTMLInputElement} */ (byId("search"));
const said = byId("said");
const tip = byId("tip");

/** @param {string} text */
const say = (text) => {
  said.textContent = text;
};

// The verdict and its two facts; what they name can be searched for.

/** @param {string} fact */
const factParts = (fact) =>
  fact.split(/(\b[0-9a-f]{16,64}\b|\br\d+\b|\bpeer \d+\b)/).map((part, index) => {
    if (index % 2 === 0) return part;
    const query = part.startsWith("peer ") ? `peer:${part.slice(5)}` : part;
    const find = () => {
      search.value = query;
      searchFor(query);
    };
    return button(part.length > 12 ? `${part.slice(0, 10)}…` : part, find, {
      class: "link",
      title: `Search for ${query}`,
    });
  });

const showVerdict = () => {
  const verdict = byId("verdict");
  const { violation, leftOut, run } = data;
  if (violation !== null) {
    const items = facts.map(({ text, row }, index) => {
      const there =
        row === undefined
          ? []
          : [
              " ",
              button(`last event of it, ${timeText(at(data.moments, row).at)} s`, () => select(row), { class: "last" }),
            ];
      return html("li", {}, html("span", { class: "badge" }, String(index + 1)), " ", ...factParts(text), ...there);
    });
    verdict.className = "is-violated";
    const heading = html("h2", {}, `${violation.id} is violated: these two facts cannot both be`);
    verdict.append(heading, html("ol", {}, ...items), button("Go there (v)", toViolation, { class: "go" }));
  }
  for (const note of run.notes) verdict.append(html("p", { class: "note" }, note));
  if (leftOut > 0)
    verdict.append(
      html(
        "p",
        { class: "note" },
        `The first ${leftOut} moments of the run are not in this picture: it holds the newest ${data.moments.length}.`,
      ),
    );
  verdict.hidden = verdict.childElementCount === 0;
};

// Filters.

/**
 * @param {string} title
 * @param {boolean} isOn
 * @param {(isOn: boolean) => void} set
 * @param {string} swatch
 */
const checkbox = (title, isOn, set, swatch = "") => {
  const input = html("input", { type: "checkbox" });
  input.checked = isOn;
  input.addEventListener("change", () => {
    set(input.checked);
    changed("rows");
  });
  return html(
    "label",
    {},
    input,
    ...(swatch === "" ? [] : [html("span", { class: `swatch of-${swatch}` })]),
    ` ${title}`,
  );
};

/**
 * @template T
 * @param {Set<T>} set
 * @param {T} element
 */
const membership =
  (set, element) =>
  (isOn = true) =>
    void (isOn ? set.add(element) : set.delete(element));

const showFilters = () => {
  const kinds = [...families, ...happenings].map(([name, title]) =>
    checkbox(title, true, membership(view.groups, name), name),
  );
  const peers = Array.from({ length: peerCount }, (_, index) =>
    checkbox(`Peer ${index + 1}`, true, membership(view.peers, index + 1)),
  );
  byId("filter-kinds").append(...kinds);
  byId("filter-peers").append(...peers);
  byId("filter-rest").append(
    checkbox("Fold quiet stretches", view.folds, (isOn) => {
      view.folds = isOn;
    }),
    checkbox("Only what matches the search", view.onlyMatches, (isOn) => {
      view.onlyMatches = isOn;
    }),
  );
};

// Pointing.

/** @param {EventTarget | null} target @param {string} name */
const numberAt = (target, name) => {
  const found = target instanceof Element ? target.closest(`[data-${name}]`) : null;
  return found === null ? undefined : Number(found.getAttribute(`data-${name}`));
};

/** @param {MouseEvent} event */
const press = (event) => {
  const fold = numberAt(event.target, "fold");
  if (fold !== undefined) {
    view.opened.add(fold);
    return changed("rows");
  }
  const message = numberAt(event.target, "message");
  const row = numberAt(event.target, "row");
  if (message !== undefined) {
    const { row: from, copies } = at(data.messages, message);
    select(from >= 0 ? from : (copies.find((copy) => copy.row !== undefined)?.row ?? view.row), message);
  } else if (row !== undefined) select(row);
};

/** @param {MouseEvent} event */
const hover = (event) => {
  const message = numberAt(event.target, "message");
  const row = numberAt(event.target, "row");
  tip.hidden = message === undefined && row === undefined;
  if (message !== undefined) {
    const { type, from, to, text, how } = at(data.messages, message);
    tip.textContent = `${how === "sent" ? "" : `${how} `}${type}, ${from} → ${to}${text === "" ? "" : `: ${text}`}`;
  } else if (row !== undefined)
    tip.textContent = `${timeText(at(data.moments, row).at)}  ${at(data.moments, row).text}`;
  const { clientWidth } = document.documentElement;
  tip.style.left = `${Math.min(event.clientX + 14, clientWidth - 360)}px`;
  tip.style.top = `${event.clientY + 16}px`;
};

byId("picture").addEventListener("click", press);
byId("picture").addEventListener("mousemove", hover);
byId("picture").addEventListener("mouseleave", () => {
  tip.hidden = true;
});
list.addEventListener("click", press);

// Keys: where somebody writes, they write.

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const help = /** @type {HTMLDialogElement} */ (byId("help"));
  if (help.open) return;
  if (event.target === search) {
    if (event.key === "Enter") walkMatches(event.shiftKey ? -1 : 1);
    if (event.key === "Escape") {
      event.preventDefault();
      list.focus();
    }
    return;
  }
  const isControl = event.target instanceof Element && event.target.closest("button, summary, input, select") !== null;
  if (isControl && [" ", "Enter"].includes(event.key)) return;
  const peer = Number(event.key);
  if (peer >= 1 && peer <= peerCount) {
    view.peer = peer;
    return changed("selection");
  }
  const entry = keys.find(([names]) => names.includes(event.key));
  if (entry === undefined) return;
  event.preventDefault();
  entry[2]();
});

// What follows from a change.

const showCount = () => {
  byId("matches").textContent = view.query === "" ? "" : `${matches.size} found`;
};

whenChanged((aspect) => {
  if (aspect === "selection") {
    // Whatever is selected is shown, also where it was folded or filtered away.
    const line = rows.lines[rows.lineOf[view.row] ?? -1];
    if (line === undefined || isFold(line) || line.row !== view.row) layOut();
    bring(view.row);
    showDetails();
    say(at(data.moments, view.row).text);
    try {
      history.replaceState(null, "", `#row=${view.row}`);
    } catch {
      // Some browsers give pages from disk no history; nothing depends on it.
    }
  } else {
    layOut();
    bring(view.row, aspect === "zoom" ? "middle" : "near");
    drawOverview();
  }
  if (aspect === "search") {
    showCount();
    say(`${matches.size} events match`);
    if (matches.size > 0 && !matches.has(view.row)) walkMatches(1);
  }
  redraw();
});

// The tools.

const showTools = () => {
  byId("title").textContent = data.run.title;
  byId("facts").textContent = `${data.run.crypto} crypto · ${data.run.events} events · hash ${data.run.hash}`;
  const outcome = byId("outcome");
  outcome.textContent = data.violation === null ? "nothing violated" : `${data.violation.id} violated`;
  outcome.className = data.violation === null ? "outcome is-good" : "outcome is-bad";
  byId("command").textContent = data.run.command;
  byId("keys").append(
    ...keys.map(([names, does]) =>
      html(
        "tr",
        {},
        html("td", {}, ...names.flatMap((name) => [html("kbd", {}, name === " " ? "Space" : name), " "])),
        html("td", {}, does),
      ),
    ),
    html("tr", {}, html("td", {}, html("kbd", {}, "1"), "…"), html("td", {}, "the state of that peer")),
  );
  byId("open-help").addEventListener("click", openHelp);
  byId("larger").addEventListener("click", () => zoomBy(1));
  byId("smaller").addEventListener("click", () => zoomBy(-1));
  byId("next-match").addEventListener("click", () => walkMatches(1));
  byId("previous-match").addEventListener("click", () => walkMatches(-1));
  byId("theme").addEventListener("click", () => {
    const { dataset } = document.documentElement;
    const theme = dataset["theme"] ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
    dataset["theme"] = theme === "dark" ? "light" : "dark";
    drawOverview();
  });
};

let writing = 0;
search.addEventListener("input", () => {
  clearTimeout(writing);
  writing = setTimeout(() => searchFor(search.value), 120);
});

showTools();
showVerdict();
showFilters();
whenPointed(scrollTo);
addEventListener("resize", drawOverview);
view.row = Math.min(firstRow(), data.moments.length - 1);
resize();
drawOverview();
changed("selection");
bring(view.row, "middle");
document.documentElement.dataset["ready"] = "yes";
