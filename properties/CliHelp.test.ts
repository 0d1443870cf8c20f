/** The help of every command there is, found by following what each lists. */
import { expect, it } from "vitest";
import { runInProcess } from "./cli/InProcess.ts";

const loadSim = async () => (await import("../sim/bin/simCommand.ts")).sim;

const helpOf = async (words: ReadonlyArray<string>): Promise<string> => {
  const { code, stdout } = await runInProcess([...words, "--help"], {}, loadSim);
  expect([words, code]).toEqual([words, 0]);
  return stdout;
};

/** The commands that a help lists below its heading, each by its words. */
const listedIn = (help: string): ReadonlyArray<ReadonlyArray<string>> => {
  const [, list = ""] = help.split("\nCOMMANDS\n");
  return [...list.matchAll(/^ {2}- ((?:[a-z-]+ ?)+?)(?= *(?:[<[]|--|$))/gm)].map(([, words = ""]) =>
    words.trim().split(" "),
  );
};

const listed = listedIn(await helpOf([]));
/** Every command, by its words. */
const commands: ReadonlyArray<{ readonly name: string; readonly words: ReadonlyArray<string> }> = [[], ...listed].map(
  (words) => ({ name: ["custody", ...words].join(" "), words }),
);

it("is there for every command, those of groups too", () => {
  const names = commands.map(({ name }) => name);
  expect(names).toEqual(
    expect.arrayContaining(["custody server", "custody approvers get", "custody sim run", "custody sim explore"]),
  );
  expect(names.length).toBeGreaterThan(18);
});

it.each(commands)("of $name has the whole command in its usage", async ({ name, words }) => {
  const help = await helpOf(words);
  const [usage = "", ...others] = help.split("\n").flatMap((line) => (line.startsWith("$ ") ? [line.slice(2)] : []));
  expect(others).toEqual([]);
  const isGroup = help.includes("\nCOMMANDS\n");
  expect(usage === name || usage.startsWith(`${name} `)).toBe(true);
  if (isGroup) expect(usage).toBe(`${name} COMMAND`);
  // What the library says of a value where nobody has said anything about it.
  expect(help).not.toMatch(/user-defined|An integer\.|A true or false value|\binteger\b|One of the following|1 times/);
  // Each entry has a description of its own.
  expect(help).not.toMatch(/^(?:--\S.*|<.*)\n\n(?:\s*This setting|--|<|\n)/m);
  for (const [, option = "", entry = ""] of help.matchAll(/^(--[a-z-]+)[^\n]*\n\n((?: {2}.*\n\n?)+)/gm)) {
    const isOptional = entry.includes("This setting is optional.");
    const shown = usage.indexOf(`${option}`);
    expect([option, usage[shown - 1]]).toEqual([option, isOptional ? "[" : " "]);
  }
});
