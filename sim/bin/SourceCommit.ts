/** Which source this program was made of, as far as that can be known. */
import { execFileSync } from "node:child_process";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { checkoutOf } from "./Checkout.ts";

const UNKNOWN = "unknown";
const MARK_CHARACTERS = 12;

/** The commit of the checkout this file is in, with `-dirty` where files differ from it; `unknown` outside of one. */
export const sourceCommit = (): string => {
  const file = fileURLToPath(import.meta.url);
  const here = checkoutOf(file) ?? dirname(file);
  // Installed as a dependency, it is in somebody else's checkout.
  if (here.includes("node_modules")) return UNKNOWN;
  try {
    const args = ["describe", "--always", "--dirty", "--exclude=*", `--abbrev=${MARK_CHARACTERS}`];
    return execFileSync("git", args, { cwd: here, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  } catch {
    return UNKNOWN;
  }
};
