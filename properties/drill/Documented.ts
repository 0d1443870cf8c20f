/** What becomes of the commands that a page shows: each is run as it stands there, otherwise, or not, and why. */
import { type PageCommand, commandsOf } from "./PageCommands.ts";
import type { Reason } from "./Reasons.ts";

/** One command of a page, in the page's order. */
export interface Entry<W> {
  /** How it begins. */
  readonly of: string;
  /** What is run in its place, and why that is enough. */
  readonly as?: { readonly run: (command: string, world: W) => string; readonly because: string };
  /** Why it is not run at all. */
  readonly not?: Reason;
  /** A program without which it is not run. */
  readonly needs?: string;
  readonly before?: (world: W) => Promise<void> | void;
  /** All of standard input. */
  readonly input?: (world: W) => string;
  /** The exit code; 0 unless something else is documented. */
  readonly code?: number;
  /** What it must print, on whichever output. */
  readonly prints?: RegExp;
  /** What it must print when it is run once more. */
  readonly again?: RegExp;
  /** It goes on while others run: what it says once they may. */
  readonly beside?: RegExp;
  /** What comes of it: with what it printed, and the command as it was run. */
  readonly after?: (world: W, printed: string, command: string) => Promise<void> | void;
}

export interface Page<W> {
  readonly file: string;
  readonly entries: ReadonlyArray<Entry<W>>;
}

/** A command that is only named, perhaps with an option whose value is left out. */
const NAME =
  /^(?:custody(?: [a-z][a-z-]*)+(?: --[a-z-]+)?|npm (?:ci|start|test)|npm run [a-z:]+|npm rebuild [a-z0-9-]+)$/;

export const isName = (text: string): boolean => NAME.test(text);

interface Matched<W> {
  readonly command: PageCommand;
  readonly entry: Entry<W>;
}

/** Each entry with the command it is for; commands that no entry is for; entries that no command is left for. */
export const matched = <W>({ entries }: Pick<Page<W>, "entries">, text: string) => {
  const commands = commandsOf(text);
  const pairs: Array<Matched<W>> = [];
  const unused: Array<string> = [];
  let next = 0;
  for (const entry of entries) {
    // Names come where they are first spoken of, not where they would be run.
    const isNamed = isName(entry.of) && commands.some(({ text: each }) => each === entry.of);
    const from = isNamed ? 0 : next;
    const at = commands.findIndex(
      (command, index) =>
        index >= from &&
        (isNamed ? command.text === entry.of : command.text.startsWith(entry.of)) &&
        !pairs.some((pair) => pair.command === command),
    );
    const command = commands[at];
    if (command === undefined) unused.push(entry.of);
    else {
      pairs.push({ command, entry });
      if (!isNamed) next = at + 1;
    }
  }
  const uncovered = commands.filter((command) => !pairs.some((pair) => pair.command === command));
  return { pairs, unused, uncovered };
};

/** What is wrong with pages and entries, taken together: a command without a run, an entry without a command. */
export const uncoveredIn = (
  texts: ReadonlyMap<string, string>,
  pages: ReadonlyArray<Page<never>>,
): ReadonlyArray<string> => {
  const begins = pages.flatMap(({ entries }) =>
    entries.flatMap(({ of }) => of.replace("npm run -s custody -- ", "custody ").split(" && ")),
  );
  // A name is covered by whatever runs that command with arguments, on any page.
  const isElsewhere = (name: string): boolean => begins.some((of) => of === name || of.startsWith(`${name} `));
  return [...texts].flatMap(([file, text]) => {
    const page = pages.find((each) => each.file === file) ?? { file, entries: [] };
    const { unused, uncovered } = matched(page, text);
    return [
      ...uncovered
        .filter((command) => !(isName(command.text) && isElsewhere(command.text)))
        .map((command) => `${file}:${command.line}: nothing runs \`${command.text}\``),
      ...unused.map((of) => `${file} has no command left for the entry \`${of}\``),
    ];
  });
};
