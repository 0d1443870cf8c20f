/**
 * Loaded by the fault port between the product's code and the process that runs it: every secret of keys that the product
 * makes is told to whoever listens, as {@link MADE}; and where a run is to find it, a fault is planted. It fails where it
 * no longer finds the place for that.
 */
import type { LoadHook } from "node:module";

const MODULE = "/core/threshold/Secret.js";
const MADE = "this.#bytes = Uint8Array.from(bytes);";

type Loaded = Awaited<ReturnType<LoadHook>>;

const changed = (loaded: Loaded, from: string, to: string): Loaded => {
  const source = String(loaded.source);
  if (!source.includes(from)) throw new Error(`there is no ${from} any more`);
  return { ...loaded, source: source.replace(from, to) };
};

/** The planted fault, as Plants.ts has it; undefined for none. */
const planted: { readonly module: string; readonly from: string; readonly to: string } | undefined =
  JSON.parse(process.env["CHAOS_PLANT"] ?? "null") ?? undefined;

export const load: LoadHook = async (url, context, next) => {
  const loaded = await next(url, context);
  if (url.endsWith(MODULE)) return changed(loaded, MADE, `${MADE} globalThis.chaosHears?.(this.#bytes);`);
  return planted !== undefined && url.endsWith(planted.module) ? changed(loaded, planted.from, planted.to) : loaded;
};
