import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { expect, it } from "vitest";
import { shellCommand, shellWord } from "./ShellWord.ts";

it("leaves plain words as they are", () => {
  expect(shellCommand(["/usr/bin/node", "--import", "file:///a/b.mjs"])).toBe("/usr/bin/node --import file:///a/b.mjs");
});

it("makes a shell see every text as the one word it is", () => {
  const texts = fc.sample(
    fc.string({ unit: fc.constantFrom(..." '\"$`\\!*?~#&|;<>()[]{}\n\tab-é") }).filter((text) => text !== ""),
    { seed: 1, numRuns: 200 },
  );
  const script = `printf '%s\\0' ${texts.map(shellWord).join(" ")}`;
  expect(execFileSync("sh", ["-c", script], { encoding: "utf8" }).split("\0").slice(0, -1)).toEqual(texts);
});
