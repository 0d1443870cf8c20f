/** The commands that a page of the documentation shows, in its order: in fences, in indented code, and within sentences. */
import { spawnSync } from "node:child_process";

export interface PageCommand {
  /** On one line where the page breaks it, without the page's remarks. */
  readonly text: string;
  readonly line: number;
}

/** What a command within a sentence begins with; other code there names things. */
const INLINE = /^(?:custody|npm|npx|age|openssl|curl) [^`]/;

/** Whether a shell takes this for a whole command. */
const isWhole = (text: string): boolean =>
  !text.endsWith("\\") && spawnSync("sh", ["-n"], { input: `${text}\n` }).status === 0;

/** Without a remark at the end of a line. */
const bare = (line: string): string => line.replace(/ +# .*$/, "").trimEnd();

/** The commands of a block of lines. */
const commandsIn = (block: ReadonlyArray<string>, line: number): ReadonlyArray<PageCommand> => {
  const found: Array<PageCommand> = [];
  let begun: Array<string> = [];
  for (const [index, each] of block.entries()) {
    if (begun.length === 0 && each.trim() === "") continue;
    begun.push(bare(each));
    const text = begun.join("\n");
    if (!isWhole(text) && index < block.length - 1) continue;
    found.push({ text: text.replaceAll(/\\\n */g, ""), line: line + index + 1 - begun.length });
    begun = [];
  }
  return found;
};

const fence = /^```(\w*)$/;
const indented = /^ {4}(?! )/;

/** All of them; one that is repeated word for word within sentences comes once. */
export const commandsOf = (page: string): ReadonlyArray<PageCommand> => {
  const lines = page.split("\n");
  const found: Array<PageCommand> = [];
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? "";
    const language = fence.exec(line)?.[1];
    if (language !== undefined) {
      const end = lines.indexOf("```", at + 1);
      if (language === "sh") found.push(...commandsIn(lines.slice(at + 1, end), at + 2));
      at = end;
    } else if (indented.test(line) && lines[at - 1] === "") {
      const rest = lines.slice(at).findIndex((each) => !each.startsWith("    "));
      const block = lines.slice(at, rest === -1 ? undefined : at + rest).map((each) => each.slice(4));
      // Code of another language has names with colons.
      if (!/^[\w-]+:/.test(block[0] ?? "")) found.push(...commandsIn(block, at + 1));
      at += block.length - 1;
    } else {
      for (const [, code = ""] of line.matchAll(/`([^`]+)`/g))
        if (INLINE.test(code) && !found.some(({ text }) => text === code)) found.push({ text: code, line: at + 1 });
    }
  }
  return found;
};
