/** Messages as arrows: one for each copy that arrived or will, one that ends in a cross for each that was lost. */
import { at, data, familyOf, rowAt, spanText } from "./Data.js";
import { svg } from "./Elements.js";
import { endY, laneX, lineHeight, rowY } from "./Plane.js";
import { lineOf, rows } from "./Rows.js";
import { view } from "./View.js";

/** Lines per bucket of arrows. */
const BUCKET = 64;
/** How far a lost message gets. */
const LOST_SHARE = 0.42;

/** @typedef {{ readonly message: number, readonly copy: number, readonly from: number, readonly to: number }} Arrow */

/** @type {Array<Array<Arrow>>} */
let buckets = [];

/**
 * The line at which an arrow ends: where it arrived, or where it would have, or just below where it was lost.
 * @param {import("./Data.js").CopyData | undefined} copy
 * @param {number} from
 */
const endLine = (copy, from) => {
  if (copy === undefined) return from + 0.6;
  if (copy.row !== undefined) return lineOf(copy.row);
  return copy.fate === "under way" ? rows.lines.length : lineOf(rowAt(copy.at));
};

/** Sorts arrows by the lines they pass; to be called when the lines have changed. */
export const arrangeArrows = () => {
  buckets = [];
  data.messages.forEach(({ type, row, copies, from, to: target }, message) => {
    if (!view.groups.has(familyOf(type)) || !view.peers.has(from) || !view.peers.has(target)) return;
    const start = lineOf(row);
    const ends = copies.length === 0 ? [undefined] : copies;
    ends.forEach((copy, number) => {
      const end = endLine(copy, start);
      // Both ends in one fold: there is nothing to see.
      if (end <= start) return;
      for (let bucket = Math.max(0, Math.floor(start / BUCKET)); bucket <= end / BUCKET; bucket++)
        (buckets[bucket] ??= []).push({ message, copy: number, from: start, to: end });
    });
  });
};

/**
 * Arrows that pass some of these lines, each once.
 * @param {number} first
 * @param {number} last
 */
export const arrowsIn = (first, last) => {
  /** @type {Set<string>} */
  const seen = new Set();
  /** @type {Array<Arrow>} */
  const found = [];
  for (let bucket = Math.floor(first / BUCKET); bucket <= last / BUCKET; bucket++)
    for (const arrow of buckets[bucket] ?? []) {
      const name = `${arrow.message} ${arrow.copy}`;
      if (seen.has(name) || arrow.to < first || arrow.from > last) continue;
      seen.add(name);
      found.push(arrow);
    }
  return found;
};

/**
 * @param {number} x
 * @param {number} y
 * @param {number} size
 */
export const cross = (x, y, size) =>
  svg("path", {
    class: "cross",
    d: `M${x - size} ${y - size}L${x + size} ${y + size}M${x - size} ${y + size}L${x + size} ${y - size}`,
  });

/**
 * @param {number} x
 * @param {number} y
 * @param {number} dx
 * @param {number} dy
 */
const head = (x, y, dx, dy) => {
  const length = Math.hypot(dx, dy) || 1;
  const [ux, uy] = [dx / length, dy / length];
  const size = Math.min(7, 2 + lineHeight() / 4);
  const [bx, by] = [x - ux * size, y - uy * size];
  const half = size * 0.45;
  return svg("path", {
    class: "head",
    d: `M${x} ${y}L${bx - uy * half} ${by + ux * half}L${bx + uy * half} ${by - ux * half}Z`,
  });
};

/**
 * Whether a message belongs to what is selected or followed.
 * @param {number} number
 */
const standing = (number) => {
  const { about, row, copies } = at(data.messages, number);
  if (view.message === number) return "chosen";
  if (view.topic >= 0) return about.includes(view.topic) ? "same" : "other";
  return row === view.row || copies.some((copy) => copy.row === view.row) ? "same" : "";
};

/** @param {Arrow} arrow */
export const drawArrow = ({ message: number, copy: place, from }) => {
  const message = at(data.messages, number);
  const copy = message.copies[place];
  const height = lineHeight();
  const x1 = laneX(message.from);
  const y1 = from < 0 ? -height : (from + 0.5) * height;
  const side = Math.sign(laneX(message.to) - x1) || 1;
  let x2 = laneX(message.to) - side * 6;
  let y2 = copy?.row === undefined ? y1 + height : rowY(copy.row);
  if (copy === undefined) {
    x2 = x1 + (x2 - x1) * LOST_SHARE;
    y2 = y1 + Math.max(4, height * 0.6);
  } else if (copy.fate === "nobody there") {
    y2 = rowY(rowAt(copy.at));
    x2 -= side * 6;
  } else if (copy.fate === "under way") y2 = endY();
  const fate = copy === undefined ? "lost" : copy.fate.replace(" ", "-");
  const names = ["arrow", `of-${familyOf(message.type)}`, `is-${fate}`, `how-${message.how}`, standing(number)];
  if (place > 0) names.push("is-double");
  const d = `M${x1 + side * 4} ${y1}L${x2} ${y2}`;
  const group = svg(
    "g",
    { class: names.filter(Boolean).join(" "), "data-message": number, "data-copy": place },
    svg("path", { class: "reach", d }),
    svg("path", { class: "line", d }),
  );
  if (fate === "lost" || fate === "nobody-there") group.append(cross(x2, y2, Math.min(5, 2 + height / 8)));
  else if (fate !== "under-way") group.append(head(x2, y2, x2 - x1, y2 - y1));
  if (message.how !== "sent") group.append(svg("circle", { class: "origin", cx: x1, cy: y1, r: 4 }));
  return group;
};

/**
 * How long a message was under way, where that is known.
 * @param {number} number
 */
export const tookText = (number) => {
  const { row, copies } = at(data.messages, number);
  const [first] = copies;
  if (row < 0 || first === undefined) return "";
  return spanText(first.at - at(data.moments, row).at);
};
