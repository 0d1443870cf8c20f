/** Which checkout this program runs in. */
import { dirname, join, sep } from "node:path";

/** Where programs bundled from the sources are, seen from the checkout; `server/bin/bundle.mjs` writes them. */
const BUNDLES = join(sep, "node_modules", ".cache", "custody", sep);

/**
 * The root of the checkout whose sources run: as they are, or bundled just now. Undefined where the program was built
 * or installed.
 *
 * @param file the absolute path of a file of this program: one in `sim/bin/`, or the bundle
 */
export const checkoutOf = (file: string): string | undefined => {
  const at = file.lastIndexOf(BUNDLES);
  if (at >= 0) return file.slice(0, at);
  return file.endsWith(".ts") ? dirname(dirname(dirname(file))) : undefined;
};
