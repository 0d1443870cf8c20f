/** The help of every command, found by following the commands that each lists. */
import { readdirSync, readFileSync } from "node:fs";
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
  return [...list.matchAll(/^ {2}- ((?:[a-z-]+ ?)+?)(?= {2}|$)/gm)].map(([, words = ""]) => words.trim().split(" "));
};

const listed = listedIn(await helpOf([]));
/** Every command, by its words. */
const commands: ReadonlyArray<{ readonly name: string; readonly words: ReadonlyArray<string> }> = [[], ...listed].map(
  (words) => ({ name: ["custody", ...words].join(" "), words }),
);

it("is there for every command, those of groups too", () => {
  const names = commands.map(({ name }) => name);
  expect(names).toEqual(
    expect.arrayContaining([
      "custody server",
      "custody approvers get",
      "custody approvers metadata set",
      "custody sim run",
      "custody sim explore",
    ]),
  );
  expect(names.length).toBeGreaterThan(18);
});

it("completes the words of every command, whichever is asked beside", async () => {
  const all = await runInProcess(["--completions", "bash"], {}, loadSim);
  expect(await runInProcess(["status", "--completions", "bash"], {}, loadSim)).toEqual(all);
  expect(all.stdout).toContain("approvers");
});

it.each(commands)("of $name has the whole command in its usage", async ({ name, words }) => {
  const help = await helpOf(words);
  const [usage = "", ...others] = help.split("\n").flatMap((line) => (line.startsWith("$ ") ? [line.slice(2)] : []));
  expect(others).toEqual([]);
  const isGroup = help.includes("\nCOMMANDS\n");
  expect(usage === name || usage.startsWith(`${name} `)).toBe(true);
  if (isGroup) expect(usage.replace(/ \[COMMAND\] .*/, " COMMAND")).toBe(`${name} COMMAND`);
  // The library's own words for a value without a description.
  expect(help).not.toMatch(/user-defined|An integer\.|A true or false value|\binteger\b|One of the following|1 times/);
  // Each entry has a description of its own.
  expect(help).not.toMatch(/^(?:--\S.*|<.*)\n\n(?:\s*This setting|--|<|\n)/m);
  for (const [, option = "", entry = ""] of help.matchAll(/^(--[a-z-]+)[^\n]*\n\n((?: {2}.*\n\n?)+)/gm)) {
    const isOptional = entry.includes("This setting is optional.");
    const shown = usage.indexOf(`${option}`);
    expect([option, usage[shown - 1]]).toEqual([option, isOptional ? "[" : " "]);
  }
});

const docs = readdirSync("docs").flatMap((name) => (name.endsWith(".md") ? [`docs/${name}`] : []));
const pages = ["README.md", "CONTRIBUTING.md", ...docs].map((file) => readFileSync(file, "utf8"));

/** The commands that pages show in code: the words of each, and its options. */
const shownIn = (page: string): ReadonlyArray<{ readonly words: ReadonlyArray<string>; readonly options: string[] }> =>
  [...page.matchAll(/^```[^]*?^```$|^ {4}.*$|`[^`\n]+`/gm)]
    .flatMap(([code]) =>
      code
        .replaceAll("\\\n", " ")
        .replaceAll("npm run sim --", "custody sim run")
        .split(/[\n`|;]/),
    )
    .flatMap((line) => [...line.matchAll(/(?:^|[ (])custody (?:-- )?(.*)$/g)].map(([, rest = ""]) => rest.split(" ")))
    .map((args) => {
      const end = args.findIndex((arg) => !/^[a-z-]+$/.test(arg) || arg.startsWith("-"));
      return {
        words: end === -1 ? args : args.slice(0, end),
        options: args.flatMap((arg) => /^\[?(--[a-z-]+)/.exec(arg)?.[1] ?? []),
      };
    });

it("is there for every command that a page shows, with every option", async () => {
  const shown = pages.flatMap(shownIn);
  expect(shown.length).toBeGreaterThan(25);
  for (const { words, options } of shown) {
    expect(commands.map(({ name }) => name)).toContain(["custody", ...words].join(" "));
    const help = await helpOf(words);
    expect([words, options.filter((option) => option !== "--help" && !help.includes(option))]).toEqual([words, []]);
  }
});

it("would be found to lack one", () => {
  expect(shownIn("say `custody approvers sing --loud` and\n\n    npm run sim -- --seed 7\n")).toEqual([
    { words: ["approvers", "sing"], options: ["--loud"] },
    { words: ["sim", "run"], options: ["--seed"] },
  ]);
});
