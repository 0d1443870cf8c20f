/** The deadline of the invitation in words, counted down. The service's clock decides, not this one. */
import { byId, setText } from "./View.js";

/** @type {ReturnType<typeof setInterval> | undefined} */
let ticking;

/** @param {number} millis */
const inWords = (millis) => {
  const seconds = Math.max(0, Math.floor(millis / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")} left`;
};

/**
 * Shows when the invitation ends, and how long that is from now.
 * @param {number | undefined} expiresAt Unix milliseconds; undefined stops the count
 */
export const countDown = (expiresAt) => {
  clearInterval(ticking);
  if (expiresAt === undefined) return;
  const at = new Date(expiresAt);
  const time = /** @type {HTMLTimeElement} */ (byId("deadline"));
  const isDate = !Number.isNaN(at.getTime());
  time.dateTime = isDate ? at.toISOString() : "";
  time.textContent = isDate ? at.toLocaleTimeString([], { timeStyle: "medium" }) : "";
  const tick = () => {
    const left = expiresAt - Date.now();
    setText("remaining", left > 0 ? inWords(left) : "over, by the clock of this device");
  };
  tick();
  ticking = setInterval(tick, 1000);
};
