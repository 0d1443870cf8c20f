/**
 * The form of a transcript: blocks of commands, each followed by a line `----` and its results, as in etcd's
 * `rafttest`. Lines that begin with `#` are prose.
 */

export interface Block {
  readonly prose: ReadonlyArray<string>;
  readonly commands: ReadonlyArray<string>;
}

const RULE = "----";

const isProse = (line: string): boolean => line.startsWith("#");

/** The blocks of a transcript without their results. */
export const blocksIn = (text: string): ReadonlyArray<Block> =>
  text
    .split(/\n\s*\n/)
    .map((part) => part.split("\n").filter((line) => line.trim() !== ""))
    .filter((lines) => lines.length > 0)
    .map((lines) => {
      const rule = lines.indexOf(RULE);
      const said = rule < 0 ? lines : lines.slice(0, rule);
      return { prose: said.filter(isProse), commands: said.filter((line) => !isProse(line)) };
    });

/**
 * The transcript with the present results of each block.
 *
 * @param run carries out the commands of one block and returns their results
 */
export const performed = (text: string, run: (commands: ReadonlyArray<string>) => ReadonlyArray<string>): string =>
  blocksIn(text)
    .map(({ prose, commands }) => {
      const told = run(commands);
      const answer = commands.length === 0 ? [] : [...commands, RULE, ...(told.length === 0 ? ["ok"] : told)];
      return [...prose, ...answer].join("\n");
    })
    .join("\n\n")
    .concat("\n");
