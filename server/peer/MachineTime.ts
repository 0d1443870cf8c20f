/** Delays on the machine's clock. */
import type { Later } from "../../runtime/Time.ts";

const timeout: Later = (run, afterMillis) => {
  const timer = setTimeout(run, afterMillis);
  return () => clearTimeout(timer);
};

/** After the events that have arrived by now; a timeout of zero would wait for a whole millisecond. */
const soon = (run: () => void): (() => void) => {
  const immediate = setImmediate(run);
  return () => clearImmediate(immediate);
};

export const later: Later = (run, afterMillis) => (afterMillis === 0 ? soon(run) : timeout(run, afterMillis));
