/** What of the picture is on the screen, and bringing a row there. */
import { byId, data } from "./Data.js";
import { draw, drawHeads, layOut } from "./Drawing.js";
import { writeList } from "./ListPane.js";
import { frameOverview } from "./Overview.js";
import { endY, fit, lineHeight, rowY } from "./Plane.js";
import { rows } from "./Rows.js";

const scroller = byId("scroller");
const list = byId("list");

/** Lines drawn beyond what is on the screen. */
const BEYOND = 25;

let isDue = false;
let drawn = { first: 0, last: 0 };

/** The height of the picture on the screen, without the heads of the lanes. */
const roomHeight = () => Math.max(1, scroller.clientHeight - byId("heads-row").offsetHeight);

const render = (force = false) => {
  const height = lineHeight();
  const top = scroller.scrollTop;
  const first = Math.max(0, Math.floor(top / height));
  const last = Math.min(rows.lines.length, Math.ceil((top + roomHeight()) / height));
  const total = Math.max(1, endY());
  frameOverview(top / total, (top + roomHeight()) / total);
  if (!force && first >= drawn.first && last <= drawn.last) return;
  drawn = { first: Math.max(0, first - BEYOND), last: Math.min(rows.lines.length, last + BEYOND) };
  draw(drawn.first, drawn.last);
  writeList(drawn.first, drawn.last);
};

/** Draws everything anew before the next frame. */
export const redraw = () => {
  if (isDue) return;
  isDue = true;
  requestAnimationFrame(() => {
    isDue = false;
    render(true);
  });
};

/** Fits the lanes into the window, and draws. */
export const resize = () => {
  fit(scroller.clientWidth - list.offsetWidth);
  drawHeads();
  layOut();
  render(true);
};

/**
 * Scrolls so that a row is on the screen; where it is already, nothing moves.
 * @param {number} row
 * @param {"near" | "middle"} where
 */
export const bring = (row, where = "near") => {
  const y = rowY(row);
  const room = roomHeight();
  const margin = Math.min(room / 3, 4 * lineHeight());
  const isThere = y > scroller.scrollTop + margin && y < scroller.scrollTop + room - margin;
  if (where === "middle" || !isThere) {
    const isJump = where === "middle" || y < scroller.scrollTop - room || y > scroller.scrollTop + 2 * room;
    if (isJump) scroller.scrollTop = y - room / 2;
    else scroller.scrollTop = y < scroller.scrollTop + margin ? y - margin : y - room + margin;
  }
};

/** @param {number} share */
export const scrollTo = (share) => {
  scroller.scrollTop = share * endY() - roomHeight() / 2;
};

scroller.addEventListener("scroll", () => render(), { passive: true });
new ResizeObserver(resize).observe(scroller);

/** Where the run says to begin: at what is violated, or at its beginning. */
export const firstRow = () => {
  const [, row] = /row=(\d+)/.exec(location.hash) ?? [];
  return row === undefined ? (data.violation?.row ?? 0) : Number(row);
};
