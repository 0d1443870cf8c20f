/** What peers say of each other and of themselves, compared with the page that tells operators what to do about it. */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

/** A reason is a sentence about a peer, without its first letter in capitals and without an end. */
const REASON =
  /(?<=["`])(?:it|its|a member|the cluster|not every member|something is|the other members|every other member) [^"`;]*(?=["`])/g;

/** Every such sentence in a source text, comments aside. */
const reasonsIn = (source: string): ReadonlyArray<string> =>
  source.split("\n").flatMap((line) => (/^\s*(\/\/|\*|\/\*)/.test(line) ? [] : (line.match(REASON) ?? [])));

/** Whether a page has a sentence, with anything in place of the values it fills in. */
const has = (page: string, reason: string): boolean => {
  const [first = "", ...rest] = reason.split(/\$\{[^}]*\}/).map((part) => part.replace(/[.*+?^()[\]\\|]/g, "\\$&"));
  return new RegExp([first, ...rest].join("[^|]{1,24}")).test(page);
};

describe("docs/operations.md", () => {
  const page = readFileSync("docs/operations.md", "utf8").replaceAll(/\s+/g, " ");
  const sources = ["core/protocol", "core/commands/enrollPasskey"]
    .flatMap((folder) => readdirSync(folder).map((name) => `${folder}/${name}`))
    // What Mode.ts says is printed into docs/protocol.md.
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts") && !file.endsWith("/Mode.ts"));
  const reasons = [...new Set(sources.flatMap((file) => reasonsIn(readFileSync(file, "utf8"))))].toSorted();

  it("is held against the reasons there are", () => {
    expect(reasons).toContain("it does not answer");
    expect(reasons).toContain("its stored records do not hold");
    expect(reasons.length).toBeGreaterThan(20);
  });

  it.each(reasons)("says what to do when %s", (reason) => {
    expect(has(page, reason)).toBe(true);
  });

  it("would be found to lack one", () => {
    const [found = ""] = reasonsIn('  return `it ran ${seconds} s late`;\n  // "it is a comment"');
    expect(found).toBe("it ran ${seconds} s late");
    expect([has("| it ran 5 s late | look |", found), has(page, found)]).toEqual([true, false]);
  });
});
