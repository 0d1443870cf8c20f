/** Holds the documentation and the files together: citations, paths, links, words, commands, sizes. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, normalize } from "node:path";
import { describe, expect, it } from "vitest";

const WORDS = 25_000;
/** The longest paragraph, or point of a list. */
const PARAGRAPH = 120;
const LINES = 400;

/** Words that the glossary replaces, and by what. Each is found where it has that meaning, and not in plain English. */
const banned: ReadonlyArray<readonly [RegExp, string]> = [
  [/\b(?:an?|the|one|this|that|each|every|same|whole|next) turn\b|\bturn's\b/i, "step"],
  [/\brooms\b|\b(?:an?|the|one|this|that|each|every|own|other) room\b(?! (?:for|left))/i, "package"],
  [/\bwalls\b|\bwall\b(?![ -](?:clock|time))/i, "boundary"],
  [
    /\b(?:an?|the|this|its|their|own|old|new|earlier|later|other|another|same|which|last|of) (?:life|lives)\b/i,
    "incarnation",
  ],
  [/\boutb(?:id|ids|idding)\b/i, "superseded"],
  [/\blate cop(?:y|ies)\b/i, "repeated copy, or what is below the low watermark"],
  [/\bunread(?:iness|inesses)\b/i, "not-ready reason"],
  [/\bPlace\b|\b(?:an?|the|this|its) place (?:has|holds|knows|says)\b/, "evaluation context"],
];

/** The banned words of this prose, with what to say instead. Code in it keeps its names. */
const bannedIn = (text: string): ReadonlyArray<string> => {
  const prose = text.replaceAll(/^```[^]*?^```$|`[^`\n]*`/gm, "");
  return banned.flatMap(([word, instead]) =>
    (word.exec(prose) ?? []).slice(0, 1).map((found) => `${found}: ${instead}`),
  );
};

const filesIn = (folder: string, ending: string): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(ending))
    .map((name) => join(folder, name));

const pages = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", ...filesIn("docs", ".md")];
const textOf = (file: string): string => readFileSync(file, "utf8");

/** As `wc -w` counts. */
const wordsIn = (text: string): number => text.split(/\s+/).filter(Boolean).length;

/** Files of this repository that a page names in code, from its top; a name with a hole in it is a pattern. */
const pathsIn = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/`((?:core|runtime|sim|server|properties|docs|deploy)\/[A-Za-z0-9_./-]*)`/g)].map(
    ([, path = ""]) => path,
  );

/** The anchor of a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");

const anchorsIn = (text: string): ReadonlySet<string> =>
  new Set([...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) => anchorOf(heading)));

/** Links to other pages of this repository that lead nowhere. */
const brokenLinks = (page: string): ReadonlyArray<string> =>
  [...textOf(page).matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link = ""]) => {
    if (/^[a-z]+:/.test(link)) return [];
    const [file = "", anchor] = link.split("#");
    const target = file === "" ? page : normalize(join(dirname(page), file));
    if (!existsSync(target)) return [link];
    return anchor === undefined || !target.endsWith(".md") || anchorsIn(textOf(target)).has(anchor) ? [] : [link];
  });

const scriptsIn = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/npm run (?:-s )?([a-z][a-z:]*)/g)].map(([, name = ""]) => name);

/** Paragraphs and points of lists that are too long; tables and code are no prose. */
const longParagraphs = (text: string): ReadonlyArray<string> =>
  text
    .replaceAll(/^```[^]*?^```$/gm, "")
    .split(/\n\n|\n(?= *(?:[-|]|\d+\. ))/)
    .filter((part) => !part.startsWith("|") && wordsIn(part) > PARAGRAPH);

/** The folders that the map covers. */
const tops = ["core", "runtime", "sim", "server"];
const SOURCES = [".ts", ".mjs", ".js", ".css", ".html", ".svg"];

/** The rows of the map: by folder, the names in code of what is in it, where `*` stands for anything. */
const rowsOf = (map: string): ReadonlyMap<string, ReadonlyArray<string>> =>
  new Map(
    map.split(/^(?=- `)/m).flatMap((row) => {
      const [folder = "", ...names] = [...row.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);
      return folder.endsWith("/") ? [[folder.slice(0, -1), names.flatMap((each) => each.split(" "))] as const] : [];
    }),
  );

/** Names of files in the map: without an ending, and without tests, which stand beside what they test. */
const namesOf = (files: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...new Set(files.filter((file) => !file.endsWith(".test.ts")).map((file) => basename(file).replace(/\..*$/, ""))),
];

const isNamed = (pattern: string, name: string): boolean =>
  new RegExp(`^${pattern.replaceAll("*", "\\w*")}$`).test(name);

/** A text with each comment of several lines in one. */
const unbroken = (text: string): string => text.replaceAll(/\s*\n\s*(?:\*(?!\/)|\/\/)?\s*/g, " ");

/** The file of a page that is named from the top, from `docs/`, or from anywhere with dots before it. */
const fileOfPage = (name: string): string | undefined =>
  [name, join("docs", name)].find((file) => file.endsWith(".md") && existsSync(file));

const NUMBER = String.raw`\d+(?:\.\d+)*[a-z]?\b`;

/** The numbers of a page's headings, and of the points below them: 2.2 and 2.2.6. */
const numbersIn = (page: string): ReadonlySet<string> => {
  const sections = textOf(page).split(/^#{2,} /m);
  return new Set(
    sections.flatMap((section) => {
      const [heading] = section.match(new RegExp(`^${NUMBER}`)) ?? [];
      if (heading === undefined) return [];
      return [heading, ...[...section.matchAll(/^(\d+)\. /gm)].map(([, point]) => `${heading}.${point}`)];
    }),
  );
};

/** How the numbers of a page are cited: "contract 2.2.6", "protocol.md 4f, 4i". */
const numbered = [
  ["contract", numbersIn("docs/contract.md")],
  ["protocol.md", numbersIn("docs/protocol.md")],
] as const;

/** Citations of things that do not exist: pages, sections of them, words in them, decisions. */
const wrongCitations = (source: string): ReadonlyArray<string> => {
  // Another check follows links.
  const text = unbroken(source.replaceAll(/\]\([^)\s]*\)/g, "]"));
  const pagesNamed = [...text.matchAll(/(?:\.\.\/)*\b([\w/-]+\.md)\b(?:,? "([^"`]+)")?/g)];
  const decisions = [...text.matchAll(/\bdecision (\d{4})/g)];
  const sections = numbered.flatMap(([page, known]) =>
    [...text.matchAll(new RegExp(`\\b${page} (${NUMBER}(?:(?:, | and )${NUMBER})*)`, "gi"))].flatMap(([, list = ""]) =>
      list.split(/, | and /).flatMap((number) => (known.has(number) ? [] : [`${page} ${number}`])),
    ),
  );
  return [
    ...pagesNamed.flatMap(([, name = "", words = ""]) => {
      const file = fileOfPage(name);
      return file !== undefined && unbroken(textOf(file)).includes(words) ? [] : [`${name} ${words}`.trim()];
    }),
    ...decisions.flatMap(([cited, number = ""]) =>
      readdirSync("docs/decisions").some((name) => name.startsWith(number)) ? [] : [cited],
    ),
    ...sections,
  ];
};

const code = ["core", "runtime", "sim", "server", "properties"].flatMap((top) =>
  [".ts", ".js", ".mjs"].flatMap((ending) => filesIn(top, ending)),
);
const self = "properties/Tidy.test.ts";

describe("a comment", () => {
  it("cites pages, sections and decisions that there are", () => {
    const texts = [...code, ...pages]
      .filter((file) => file !== self)
      .map((file) => [file, wrongCitations(textOf(file))] as const);
    expect(texts.filter(([, wrong]) => wrong.length > 0)).toEqual([]);
    expect(numbered.map(([, known]) => known.size > 15)).toEqual([true, true]);
  });

  it("would be found wrong", () => {
    expect(wrongCitations("(nowhere.md, docs/nowhere.md)")).toEqual(["nowhere.md", "docs/nowhere.md"]);
    const planted = "(contract 2.2.6, protocol.md\n * 4f, 4z; decision 0015) (Contract 2.2 and 99.1) (decision 9999)";
    expect(wrongCitations(planted)).toEqual(["decision 9999", "contract 99.1", "protocol.md 4z"]);
    expect(wrongCitations('(protocol.md, "Two clocks") (protocol.md, "Two moons")')).toEqual(["protocol.md Two moons"]);
  });
});

describe("the documentation", () => {
  it("is short enough to be read", () => {
    const words = pages.map((page) => wordsIn(textOf(page))).reduce((sum, each) => sum + each, 0);
    expect(words).toBeLessThanOrEqual(WORDS);
    expect(words).toBeGreaterThan(WORDS / 2);
  });

  it.each(pages)("speaks the words of the glossary, in paragraphs that are short: %s", (page) => {
    expect(bannedIn(textOf(page))).toEqual([]);
    expect(longParagraphs(textOf(page))).toEqual([]);
  });

  it.each(code)("is spoken in comments too: %s", (file) => {
    const comments = textOf(file).match(/^\s*(?:\/\/|\/?\*).*$/gm) ?? [];
    expect(bannedIn(comments.join("\n"))).toEqual([]);
  });

  it("has the table of messages complete", () => {
    const [head = "", modes = ""] = textOf("docs/protocol.md").split("<!-- modes:begin -->");
    const namesIn = (text: string) =>
      [...text.matchAll(/^\| ?`([A-Z][\w.]+)` ?\|/gm)].map(([, name = ""]) => name).toSorted();
    expect(namesIn(modes)).toContain("Session.Mirror");
    expect(namesIn(head)).toEqual(namesIn(modes));
  });

  it.each(pages)("names files that there are, and links that lead somewhere: %s", (page) => {
    expect(pathsIn(textOf(page)).filter((path) => !existsSync(path))).toEqual([]);
    expect(brokenLinks(page)).toEqual([]);
  });

  it("gives every decision a number of its own, which its title tells", () => {
    const files = filesIn("docs/decisions", ".md").toSorted();
    const numbers = files.map((file) => basename(file).slice(0, 4));
    expect(files.length).toBeGreaterThan(5);
    expect(numbers.filter((number, index) => number === numbers[index - 1])).toEqual([]);
    expect(files.filter((file, index) => !textOf(file).startsWith(`# ${numbers[index]}: `))).toEqual([]);
  });

  it("names scripts that there are", () => {
    const { scripts }: { readonly scripts: object } = JSON.parse(textOf("package.json"));
    const named = new Set(pages.flatMap((page) => scriptsIn(textOf(page))));
    expect(named.size).toBeGreaterThan(5);
    expect([...named].filter((name) => !(name in scripts))).toEqual([]);
  });

  it("has every file of the product in its map, and no other", () => {
    const rows = rowsOf(textOf("docs/architecture.md").split("\n## Map\n")[1] ?? "");
    const files = tops.flatMap((top) => SOURCES.flatMap((ending) => filesIn(top, ending)));
    const folders = [...new Set([...files.map((file) => dirname(file)), ...rows.keys()])];
    const wrong = folders.flatMap((folder) => {
      if (!tops.some((top) => folder === top || folder.startsWith(`${top}/`))) return [];
      const there = namesOf(files.filter((file) => dirname(file) === folder));
      const named = rows.get(folder) ?? [];
      const missing = there.filter((name) => !named.some((each) => isNamed(each, name)));
      const gone = named.filter((each) => !there.some((name) => isNamed(each, name)));
      return [
        ...(missing.length > 0 ? [`the row of ${folder}/ lacks ${missing.join(" ")}`] : []),
        ...(gone.length > 0 ? [`the row of ${folder}/ has ${gone.join(" ")}, and the folder has not`] : []),
      ];
    });
    expect(wrong).toEqual([]);
  });

  it("counts the lines of the evening's reading truly, to a hundred", () => {
    const map = textOf("docs/architecture.md").split("## Map")[1] ?? "";
    const [, said = ""] = /it is an evening, ([\d,]+) lines/.exec(map) ?? [];
    const rows = ["core/", "core/protocol/"].map((folder) => {
      const from = map.indexOf(`- \`${folder}\``);
      const row = map.slice(from, map.indexOf("\n- `", from));
      const bold = [...row.matchAll(/\*\*`([^`]+)`\*\*/g)].flatMap(([, names = ""]) => names.split(" "));
      return bold.map((name) => `${folder}${name}.ts`);
    });
    const files = rows.flat();
    const lines = files.reduce((sum, file) => sum + textOf(file).split("\n").length - 1, 0);
    expect(files.length).toBeGreaterThan(20);
    expect(Math.abs(Number(said.replace(",", "")) - lines)).toBeLessThanOrEqual(100);
  });

  it("would be found wrong", () => {
    const wrong = [
      "One turn",
      "rooms",
      "the wall",
      "its life",
      "outbid",
      "Late copies",
      "unreadiness",
      "the place knows",
    ];
    expect(wrong.map((text) => bannedIn(`${text}.`).length)).toEqual(wrong.map(() => 1));
    expect(bannedIn("In turn, `a turn` has room for one; by wall time it takes the place of another.")).toEqual([]);
    expect(longParagraphs(`Short.\n\n- ${"word ".repeat(PARAGRAPH)}\n- short`)).toHaveLength(1);
    const rows = rowsOf("- `core/`: one `One Two`, many `S*`\n- `sim/`: `Three`");
    expect([...rows]).toEqual([
      ["core", ["One", "Two", "S*"]],
      ["sim", ["Three"]],
    ]);
    expect([isNamed("S*", "S31"), isNamed("S*", "L1"), isNamed("One", "OneTwo")]).toEqual([true, false, false]);
    expect(pathsIn("see `core/Nowhere.ts`")).toEqual(["core/Nowhere.ts"]);
    expect(scriptsIn("`npm run nothing`")).toEqual(["nothing"]);
    expect(anchorsIn("## A word, and `code`").has("a-word-and-code")).toBe(true);
    expect(brokenLinks("docs/architecture.md")).toEqual([]);
  });
});

describe("a file", () => {
  it(`of the product or its tests has at most ${LINES} lines`, () => {
    const long = [...tops, "properties"]
      .flatMap((top) => filesIn(top, ".ts"))
      .filter((file) => textOf(file).split("\n").length - 1 > LINES);
    expect(long).toEqual([]);
  });
});
