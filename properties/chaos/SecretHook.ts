/**
 * Loaded by the fault port between the product's code and the process that runs it: every secret of keys that the product
 * makes is told to whoever listens, as {@link HEARD}. It fails where it no longer finds the place at which they are made.
 */
import type { LoadHook } from "node:module";

const MODULE = "/core/threshold/Secret.js";
const MADE = "this.#bytes = Uint8Array.from(bytes);";

export const load: LoadHook = async (url, context, next) => {
  const loaded = await next(url, context);
  if (!url.endsWith(MODULE)) return loaded;
  const source = String(loaded.source);
  if (!source.includes(MADE)) throw new Error(`${url} does not make secrets as it did`);
  return { ...loaded, source: source.replace(MADE, `${MADE} globalThis.chaosHears?.(this.#bytes);`) };
};
