/** The whole run in a strip: how much happened where, what went wrong, and which part is on the screen. */
import { at, byId, data, groupOf } from "./Data.js";
import { lineOf, rows } from "./Rows.js";
import { matches } from "./Search.js";

const strip = byId("overview");
const canvas = /** @type {HTMLCanvasElement} */ (byId("overview-canvas"));
const frame = byId("overview-frame");

/** A canvas knows no variables: an element is asked what one comes to. */
const colourOf = (name = "") => {
  frame.style.color = `var(--${name})`;
  return getComputedStyle(frame).color;
};

/** Draws the strip anew; to be called when lines, the search or the colours have changed. */
export const drawOverview = () => {
  const scale = devicePixelRatio || 1;
  const { clientWidth: width, clientHeight: height } = strip;
  canvas.width = width * scale;
  canvas.height = height * scale;
  const context = canvas.getContext("2d");
  if (context === null || height === 0) return;
  context.scale(scale, scale);
  context.clearRect(0, 0, width, height);
  const count = Math.max(1, rows.lines.length);
  const binCount = Math.max(1, Math.min(Math.floor(height / 3), count));
  const binHeight = height / binCount;
  /** @type {Array<Map<string, number>>} */
  const bins = Array.from({ length: binCount }, () => new Map());
  rows.lines.forEach(({ row }, line) => {
    const bin = at(bins, Math.floor((line * binCount) / count));
    const group = groupOf(at(data.moments, row));
    bin.set(group, (bin.get(group) ?? 0) + 1);
  });
  const most = Math.max(1, ...bins.map((bin) => [...bin.values()].reduce((sum, each) => sum + each, 0)));
  /** @type {Map<string, string>} */
  const colours = new Map();
  const groupColour = (group = "") => {
    const colour = colours.get(group) ?? colourOf(`of-${group}`);
    colours.set(group, colour);
    return colour;
  };
  context.globalAlpha = 0.55;
  bins.forEach((bin, number) => {
    let x = 2;
    for (const [group, share] of bin) {
      const part = (share * (width - 12)) / most;
      context.fillStyle = groupColour(group);
      context.fillRect(x, number * binHeight, part, Math.max(1, binHeight - 0.5));
      x += part;
    }
  });
  context.globalAlpha = 1;
  const tick = (row = 0, name = "", left = 0, size = 1) => {
    context.fillStyle = colourOf(name);
    context.fillRect(left, Math.floor((lineOf(row) * height) / count), width - left, size);
  };
  for (const { from, to, isCut } of data.conditions) {
    context.fillStyle = colourOf(isCut ? "bad" : "warn");
    const top = (lineOf(from) * height) / count;
    context.fillRect(width - 4, top, 4, Math.max(1, ((to === null ? count : lineOf(to)) * height) / count - top));
  }
  data.moments.forEach(({ kind }, row) => {
    if (kind === "crash") tick(row, "bad", width - 10, 2);
    if (kind === "healed") tick(row, "good", 0, 2);
  });
  for (const row of matches) tick(row, "accent", 0, 1);
  if (data.violation !== null) tick(data.violation.row, "bad", 0, 4);
};

/**
 * Marks what is on the screen, as shares of the whole.
 * @param {number} from
 * @param {number} to
 */
export const frameOverview = (from, to) => {
  frame.style.top = `${Math.min(100, from * 100)}%`;
  frame.style.height = `${Math.min(1, to - from) * 100}%`;
};

/**
 * Tells where on the strip somebody points, as a share of the whole.
 * @param {(share: number) => void} go
 */
export const whenPointed = (go) => {
  /** @param {PointerEvent} event */
  const point = (event) => {
    const { top, height } = strip.getBoundingClientRect();
    go(Math.max(0, Math.min(1, (event.clientY - top) / height)));
  };
  strip.addEventListener("pointerdown", (event) => {
    strip.setPointerCapture(event.pointerId);
    point(event);
  });
  strip.addEventListener("pointermove", (event) => {
    if (event.buttons === 1) point(event);
  });
};
