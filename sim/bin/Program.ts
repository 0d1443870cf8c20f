/** How `custody` is called where this runs, so that a printed command can be run as it stands. */
import { basename, dirname, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { checkoutOf } from "./Checkout.ts";

/** Where a process was started, and from what; all paths are absolute. */
export interface Started {
  /** The script that Node was given. */
  readonly script: string;
  /** A file of this program in `sim/bin/`, or the bundle of all. */
  readonly source: string;
  readonly folder: string;
}

export interface Program {
  /** What stands before the words of a command. */
  readonly name: string;
  /** A file as the command finds it, quoted for a shell. */
  readonly file: (file: string) => string;
}

/** A text as one word of a POSIX shell. */
export const quoted = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

const BINARIES = ["node_modules", ".bin"].join(sep);

/** The program as somebody in that folder starts it: from a checkout, with the package installed, or as a script. */
export const programOf = ({ script, source, folder }: Started): Program => {
  const asGiven = { file: quoted };
  const root = checkoutOf(source);
  if (root !== undefined) {
    // npm runs a script in the folder of its package, wherever it was called.
    return folder === root
      ? { name: "npm run -s custody --", ...asGiven }
      : {
          name: `npm --prefix ${quoted(root)} run -s custody --`,
          file: (file) => quoted(resolve(folder, file)),
        };
  }
  if (basename(script) !== "custody") return { name: `node ${quoted(relative(folder, script))}`, ...asGiven };
  return { name: dirname(script).endsWith(BINARIES) ? "npx custody" : "custody", ...asGiven };
};

/** This program, here. */
export const program: Program = programOf({
  script: process.argv[1] ?? "custody",
  source: fileURLToPath(import.meta.url),
  folder: process.cwd(),
});
