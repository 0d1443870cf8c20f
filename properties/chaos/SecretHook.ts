/**
 * Loaded by the fault port between the product's code and the process that runs it: every secret of keys that the product
 * makes is told to whoever listens, as {@link HEARD}; and where a run is to find it, targets of a promotion accept a
 * draft that they do not store. It fails where it no longer finds the place for that.
 */
import type { LoadHook } from "node:module";

const MODULE = "/core/threshold/Secret.js";
const MADE = "this.#bytes = Uint8Array.from(bytes);";
const TARGET = "/core/protocol/PromotionTarget.js";
const BOUND = 'step.rows(promotionTables).put("transfer", SELF, { draft, previous });';

type Loaded = Awaited<ReturnType<LoadHook>>;

const changed = (loaded: Loaded, from: string, to: string): Loaded => {
  const source = String(loaded.source);
  if (!source.includes(from)) throw new Error(`there is no ${from} any more`);
  return { ...loaded, source: source.replace(from, to) };
};

export const load: LoadHook = async (url, context, next) => {
  const loaded = await next(url, context);
  if (url.endsWith(MODULE)) return changed(loaded, MADE, `${MADE} globalThis.chaosHears?.(this.#bytes);`);
  return url.endsWith(TARGET) && process.env["CHAOS_FORGET"] === "yes" ? changed(loaded, BOUND, "") : loaded;
};
