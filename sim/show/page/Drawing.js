/** The picture itself: what can be seen of it, drawn anew whenever something else can. */
import { arrangeArrows, arrowsIn, cross, drawArrow } from "./Arrows.js";
import { at, byId, data, groupOf, peerCount } from "./Data.js";
import { html, svg } from "./Elements.js";
import { factsAt } from "./Facts.js";
import {
  callersEdge,
  callersX,
  callX,
  conditionX,
  EDGE,
  endY,
  isWritten,
  laneX,
  lineHeight,
  plane,
  rowY,
  spanY,
  worldX,
} from "./Plane.js";
import { arrange, foldText, isFold, rows } from "./Rows.js";
import { matches } from "./Search.js";
import { view } from "./View.js";

const picture = byId("picture");
const heads = byId("heads");

/** Pixels below the last line. */
const BELOW = 160;
/** Letters of the labels, in pixels. */
const LETTER = 6.2;

/** @param {number} peer */
const drawLane = (peer, first = 0, last = 0) => {
  const { modes, flushes } = at(data.lanes, peer - 1);
  const x = laneX(peer);
  const [top, bottom] = [first * lineHeight(), last * lineHeight()];
  const group = svg("g", { class: "lane" });
  /**
   * @param {string} name
   * @param {number} left
   * @param {number} width
   * @param {number} from
   * @param {number} to
   */
  const bar = (name, left, width, from, to) => {
    const [y1, y2] = [Math.max(from, top), Math.min(to, bottom)];
    if (y2 > y1) group.append(svg("rect", { class: name, x: left, y: y1, width, height: y2 - y1 }));
  };
  modes.forEach(([row, mode, locks], index) => {
    const [from, to] = spanY(row, modes[index + 1]?.[0] ?? null);
    bar(`mode is-${at(data.modes, mode)}`, x - 2, 4, from, to);
    if (locks > 0) bar("locks", x + 5, Math.min(9, 1 + locks), from, to);
  });
  for (const [from, to] of flushes) bar("flush", x - 4, 8, ...spanY(from, to));
  return group;
};

/**
 * @param {number} from
 * @param {number} to
 */
const isBetween = (from, to, top = 0, bottom = 0) => to >= top && from <= bottom;

const drawCalls = (top = 0, bottom = 0) => {
  const group = svg("g", { class: "calls" });
  for (const { peer, column, from, to, end, request } of data.calls) {
    const [y1, y2] = spanY(from, to);
    if (!isBetween(y1, y2, top, bottom) || !view.groups.has("callers")) continue;
    const x = callX(column);
    const call = svg("g", { class: `call is-${end}`, "data-row": to ?? from });
    call.append(svg("title", {}, `${request}: ${end}`), svg("path", { class: "waits", d: `M${x} ${y1}V${y2}` }));
    if (y1 >= top) call.append(svg("path", { class: "asks", d: `M${x} ${y1}H${laneX(peer) - 8}` }));
    const isAnswer = end === "answered" || end === "refused";
    // Answered at once: one line says both.
    if (isAnswer && y2 > y1 && y2 <= bottom)
      call.append(svg("path", { class: "answers", d: `M${laneX(peer) - 8} ${y2}H${x}` }));
    if (end === "silence") call.append(cross(x, y2, 3));
    else if (end !== "open")
      call.append(svg("circle", { class: "end", cx: x, cy: y2, r: Math.min(3.5, lineHeight() / 3) }));
    group.append(call);
  }
  return group;
};

const drawConditions = (top = 0, bottom = 0) => {
  const group = svg("g", { class: "conditions" });
  for (const { from, to, text, isCut, column } of data.conditions) {
    const [y1, y2] = spanY(from, to);
    if (!isBetween(y1, y2, top, bottom) || !view.groups.has("faults")) continue;
    const x = conditionX(column) - 4;
    const bar = svg("rect", { x, y: y1, width: 8, height: Math.max(2, y2 - y1), rx: 2, "data-row": from });
    bar.setAttribute("class", isCut ? "condition is-cut" : "condition");
    bar.append(svg("title", {}, text));
    group.append(bar);
  }
  return group;
};

/** Shapes of moments, around nothing. @type {Record<string, string>} */
const shapes = {
  timer: "M-3.5 0A3.5 3.5 0 1 1 3.5 0A3.5 3.5 0 1 1 -3.5 0M0 -2V0H1.6",
  flush: "M-4 -4H4V4H-4Z",
  start: "M-4 -4.5L5 0L-4 4.5Z",
  pause: "M-4 -4.5H-1V4.5H-4ZM1 -4.5H4V4.5H1Z",
  resume: "M-4 -4.5L5 0L-4 4.5Z",
  unseal: "M0 -5L5 0L0 5L-5 0Z",
  seal: "M0 -5L5 0L0 5L-5 0Z",
};

/** @param {number} fact */
const badge = (fact, x = 0, y = 0) =>
  svg(
    "g",
    { class: "badge-mark" },
    svg("title", {}, `The last event about what fact ${fact} names`),
    svg("circle", { cx: x, cy: y, r: 8 }),
    svg("text", { x, y: y + 4, "text-anchor": "middle" }, String(fact)),
  );

/**
 * The point of a moment on its lane.
 * @param {number} row
 * @param {number} y
 */
const drawPoint = (row, y) => {
  const moment = at(data.moments, row);
  const x = laneX(moment.peer);
  const size = Math.min(1, lineHeight() / 12);
  const isCalled = moment.kind === "unreachable" || moment.kind === "read" || moment.kind === "readiness";
  const shape =
    moment.kind === "crash" || moment.kind === "refuse" || moment.kind === "unreachable"
      ? cross(0, 0, 5)
      : moment.kind in shapes
        ? svg("path", { class: "shape", d: shapes[moment.kind] })
        : svg("circle", { class: "shape", r: 4 });
  const point = svg(
    "g",
    { class: `point is-${moment.kind} of-${groupOf(moment)}`, "data-row": row },
    svg("g", { transform: `translate(${x} ${y}) scale(${size})` }, shape),
  );
  if (isCalled) point.prepend(svg("path", { class: "calls", d: `M${callersEdge - EDGE} ${y}H${x - 8}` }));
  factsAt(row).forEach((fact, place) => point.append(badge(fact, x - 20 - 20 * place, y)));
  if (isWritten() && moment.label !== "") {
    const room = Math.floor((plane.lane - 30) / (moment.bad ? LETTER + 0.7 : LETTER));
    const label = moment.label.length > room ? `${moment.label.slice(0, room - 1)}…` : moment.label;
    point.append(svg("text", { class: "label", x: x + 17, y: y + 3.6 }, label));
  }
  return point;
};

/**
 * What happens to the world: a line across all lanes.
 * @param {number} row
 * @param {number} y
 */
const drawAcross = (row, y) => {
  const { kind, label, text } = at(data.moments, row);
  const across = svg("g", { class: `across is-${kind}`, "data-row": row });
  const right = worldX() + 26;
  across.append(
    svg("path", {
      d: `M${kind === "silence" ? callX(0) : callersEdge - 12} ${y}H${kind === "silence" ? callersEdge : right}`,
    }),
  );
  if (isWritten() && kind !== "silence") {
    const words =
      kind === "healed" ? "everything is healed" : kind === "fault" ? text.replace("Fault: ", "") : label || text;
    const shown = words.length > 60 ? `${words.slice(0, 59)}…` : words;
    across.append(svg("text", { class: "label", x: laneX(1) + 17, y: y + 3.6 }, shown));
  }
  return across;
};

/**
 * @param {number} line
 */
const drawLine = (line) => {
  const shown = at(rows.lines, line);
  const y = (line + 0.5) * lineHeight();
  if (isFold(shown)) {
    const fold = svg("g", { class: "fold", "data-fold": shown.row });
    fold.append(
      svg("rect", { x: callersEdge, y: y - lineHeight() / 2, width: peerCount * plane.lane, height: lineHeight() }),
    );
    if (isWritten())
      fold.append(
        svg(
          "text",
          { class: "label", x: laneX(peerCount / 2 + 0.5), y: y + 3.6, "text-anchor": "middle" },
          foldText(shown),
        ),
      );
    return fold;
  }
  return at(data.moments, shown.row).peer > 0 ? drawPoint(shown.row, y) : drawAcross(shown.row, y);
};

const drawViolation = () => {
  const { violation } = data;
  if (violation === null) return svg("g");
  const y = rowY(violation.row);
  const height = Math.max(6, lineHeight());
  return svg(
    "g",
    { class: "violation", "data-row": violation.row },
    svg("rect", { x: 0, y: y - height / 2, width: plane.width, height }),
    svg("text", { x: plane.width - 12, y: y + 4, "text-anchor": "end" }, `${violation.id} is violated here`),
  );
};

/** @param {number} row */
const drawBand = (row, name = "") =>
  svg("rect", {
    class: `band ${name}`,
    x: 0,
    y: rowY(row) - lineHeight() / 2,
    width: plane.width,
    height: lineHeight(),
  });

/**
 * Draws the lines from `first` up to `last`.
 * @param {number} first
 * @param {number} last
 */
export const draw = (first, last) => {
  const height = lineHeight();
  const [top, bottom] = [first * height, last * height];
  picture.setAttribute("viewBox", `0 ${top} ${plane.width} ${Math.max(1, bottom - top)}`);
  picture.setAttribute("width", String(plane.width));
  picture.setAttribute("height", String(Math.max(1, bottom - top)));
  picture.style.top = `${top}px`;
  picture.classList.toggle("is-following", view.topic >= 0);
  const layers = [drawBand(view.row, "is-chosen")];
  for (let line = first; line < last; line++) {
    const { row } = at(rows.lines, line);
    if (matches.has(row)) layers.push(drawBand(row, "is-match"));
  }
  /** @type {Array<SVGElement>} */
  const drawn = [...layers, drawViolation()];
  for (let peer = 1; peer <= peerCount; peer++) drawn.push(drawLane(peer, first, last));
  drawn.push(drawConditions(top, bottom), drawCalls(top, bottom));
  for (const arrow of arrowsIn(first, last)) drawn.push(drawArrow(arrow));
  for (let line = first; line < last; line++) drawn.push(drawLine(line));
  picture.replaceChildren(...drawn);
};

/** The names of the lanes, above them. */
export const drawHeads = () => {
  /**
   * @param {number} x
   * @param {string} name
   * @param {string} note
   */
  const title = (x, name, note) => {
    const element = html("div", { class: "lane-head" }, html("b", {}, name), html("small", {}, note));
    element.style.left = `${x}px`;
    return element;
  };
  /** @param {number} index */
  const roleOf = (index) => {
    const treason = data.run.treasons[index];
    return [...(index === 0 ? ["writer"] : []), ...(treason ? ["traitor"] : [])].join(", ");
  };
  const callers = title(callersX, "callers", "");
  const peers = Array.from({ length: peerCount }, (_, index) =>
    title(laneX(index + 1), `peer ${index + 1}`, roleOf(index)),
  );
  heads.replaceChildren(callers, ...peers, title(worldX(), "world", ""));
  heads.style.width = `${plane.width}px`;
};

/** Puts everything in its place after filters, folds or the search have changed. */
export const layOut = () => {
  arrange();
  arrangeArrows();
  // Room below, so that the end, where the violation is, can be looked at in the middle.
  byId("sheet").style.height = `${endY() + BELOW}px`;
};
