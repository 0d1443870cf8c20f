/**
 * Help as it is read. The library names a command by its last word alone, says of each value that it is text, and
 * lists every command with its whole usage and description, of which nobody finds one: a line for each is enough, and
 * the command's own help has the rest.
 */

/** A usage shows up to so many names of a choice; for more it says NAME, and the option's own entry lists them. */
const MOST_CHOICES = 7;

const manyChoices = new RegExp(`[a-z][\\w-]*(?: \\| [a-z][\\w-]*){${MOST_CHOICES},}`, "g");
const usageLine = /^\s*(?:\$|-) /;
/** A command of a list: its words, its options and arguments, its description. */
const listed = /^(\s*- )([a-z][a-z-]*(?: [a-z][a-z-]*)*)(?: \S.*?)??(?: {2,}(\S.*))?$/;
/** As wide as the longest name, `approvers metadata clear`. */
const NAME_WIDTH = 24;
const between = /^( *- .*)\n\n(?= *- )/gm;
const inBrackets = / \([^)]*\)/g;
/** In a list of all commands the library repeats the first word of those within a group of a group. */
const twice = /^(\s*- )(\S+) \2 /;
const ownUsage = /^\$ (\S+)( )?/;
/** The options of a group that is a command too, before the name of one of its commands. */
const groupOptions = /^(\s*- [a-z-]+)(?: \[[^\]]*\])+(?= [a-z])/;
const commandsHeading = /^\S*COMMANDS\S*$/m;
/** Text in a paragraph of its own that repeats the line above it. */
const kindOfValue =
  /^ *(?:A user-defined piece of text\.|An integer\.|A true or false value\.|One of the following: .*)\n\n/gm;
/** Words that repeat the brackets and dots of the usage, or the description. */
const anyNumber = /^ *This (?:option|argument) may be repeated zero or more times\.\n\n/gm;
const atLeastOne = /This (?:option|argument) must be repeated at least 1 times\./g;
/** Each of any number of repetitions is optional. */
const repeatedOption = /\[(--[\w-]+ \S+)\.\.\.\]/g;

/** The words of the command that is asked about, up to the one that its usage names. */
const nameOf = (last: string, words: ReadonlyArray<string>): string => {
  const before = words.slice(0, Math.max(0, words.lastIndexOf(last)));
  return last === "custody" ? last : ["custody", ...before, last].join(" ");
};

const firstStatement = (description: string): string => {
  const bare = description.replace(inBrackets, "");
  const end = bare.search(/[.:;](?: |$)/);
  return end === -1 ? bare : bare.slice(0, end);
};

const usageOf = (line: string, words: ReadonlyArray<string>, isGroup: boolean): string =>
  line
    .replace(ownUsage, (_, last: string, more = "") => {
      const command = more === "" ? " COMMAND" : " [COMMAND]";
      return `$ ${nameOf(last, words)}${isGroup ? command : ""}${more}`;
    })
    .replace(groupOptions, "$1")
    .replace(twice, "$1$2 ")
    .replace(manyChoices, "NAME")
    .replace(repeatedOption, "[$1]...")
    .replace(listed, (_, start: string, name: string, description = "") =>
      `${start}${name.padEnd(NAME_WIDTH)}  ${firstStatement(description)}`.trimEnd(),
    );

/**
 * Help in which the usage is the whole command, no usage lists a long choice, and a list of commands has a line for
 * each: its name and what it does, up to the first full stop, colon or semicolon.
 *
 * @param help what the library would print, with the colors of a terminal or without
 * @param words the arguments before the first option: the command that is asked about
 */
export const helpLines = (help: string, words: ReadonlyArray<string>): string => {
  const isGroup = commandsHeading.test(help);
  return help
    .replace(kindOfValue, "")
    .replace(anyNumber, "")
    .replace(atLeastOne, "There must be at least one.")
    .split("\n")
    .map((line) => (usageLine.test(line) ? usageOf(line, words, isGroup) : line))
    .join("\n")
    .replace(between, "$1\n");
};
