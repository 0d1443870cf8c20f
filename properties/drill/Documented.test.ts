/** Every command that README.md and docs/ show is run by the drill (`npm run drill`), or has a reason why not. */
import { describe, expect, it } from "vitest";
import { type Page, uncoveredIn } from "./Documented.ts";
import { commandsOf } from "./PageCommands.ts";
import { pages, pageTexts } from "./Pages.ts";

it("is run, or has a reason why not", () => {
  const texts = pageTexts(".");
  expect([...texts].flatMap(([, text]) => commandsOf(text)).length).toBeGreaterThan(80);
  expect(uncoveredIn(texts, pages)).toEqual([]);
  expect(pages.map(({ file }) => file).filter((file) => !texts.has(file))).toEqual([]);
});

describe("a page", () => {
  const text = [
    "Say `custody sing --loud`, `custody sing` or `npm start`, and `custody sing --loud` again.",
    "",
    "```sh",
    "a=1; for each in $a; do  # a remark",
    "  echo $each",
    "done",
    "curl -sS \\",
    "  http://127.0.0.1 # another",
    "```",
    "```yaml",
    "none: of it",
    "```",
    "",
    "    custody dance",
    "",
    "    webauthn:",
    "      enabled: true",
  ].join("\n");

  it("shows commands in fences, in indented code and within sentences, each once and without remarks", () => {
    expect(commandsOf(text)).toEqual([
      { text: "custody sing --loud", line: 1 },
      { text: "custody sing", line: 1 },
      { text: "npm start", line: 1 },
      { text: "a=1; for each in $a; do\n  echo $each\ndone", line: 4 },
      { text: "curl -sS http://127.0.0.1", line: 7 },
      { text: "custody dance", line: 14 },
    ]);
  });

  const entries = [{ of: "custody sing --loud" }, { of: "a=1" }, { of: "curl" }, { of: "custody dance" }];
  const wrong = (page: Omit<Page<never>, "file">): ReadonlyArray<string> =>
    uncoveredIn(new Map([["a page", text]]), [{ file: "a page", ...page }]);

  it("is covered when something runs each, a mere name by whatever begins with it", () => {
    expect(wrong({ entries: [...entries, { of: "npm start" }] })).toEqual([]);
  });

  it("is not while a command has no run, or comes in another order, or a run has no command", () => {
    expect(wrong({ entries })).toEqual(["a page:1: nothing runs `npm start`"]);
    expect(wrong({ entries: [{ of: "npm start" }, ...entries.slice(1)] })).toEqual([
      "a page:1: nothing runs `custody sing --loud`",
      "a page:1: nothing runs `custody sing`",
    ]);
    expect(wrong({ entries: [{ of: "npm start" }, ...entries, { of: "curl" }] })).toEqual([
      "a page has no command left for the entry `curl`",
    ]);
  });
});
