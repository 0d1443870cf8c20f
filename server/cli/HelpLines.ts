/**
 * Help as it fits a terminal. The library aligns descriptions behind the longest
 * usage of all commands, and a usage names every choice: with fifty schedules
 * that made lines of three thousand columns.
 */

/** So many names of a choice are shown in a usage; of more it says NAME, and the option's own entry lists them. */
const MOST_CHOICES = 7;

const manyChoices = new RegExp(`[a-z][\\w-]*(?: \\| [a-z][\\w-]*){${MOST_CHOICES},}`, "g");
const usageLine = /^\s*(?:\$|-) /;
const padded = /^(\s*- .*?\S) {2,}(?=\S)/;

/**
 * Help in which no usage lists a long choice, and the description of a command stands below its usage.
 *
 * @param help what the library would print, with the colors of a terminal or without
 */
export const helpLines = (help: string): string =>
  help
    .split("\n")
    .map((line) => (usageLine.test(line) ? line.replace(manyChoices, "NAME").replace(padded, "$1\n      ") : line))
    .join("\n");
