import { Either } from "effect";
import { describe, expect, it } from "vitest";
import { helpText, parseOptions } from "./Options.ts";

const parse = (...args: ReadonlyArray<string>) => parseOptions(args, () => 42);

describe("the options of a chaos run", () => {
  it("have defaults, and a seed that was drawn", () => {
    expect(Either.getOrThrow(parse())).toMatchObject({ seed: 42, minutes: 5, callers: 8, json: false });
    expect(Either.getOrThrow(parse()).clusters).toEqual([
      { peers: 3, isAlone: false },
      { peers: 5, isAlone: false },
    ]);
    expect(Either.getOrThrow(parse("--peers", "3,1-5")).clusters).toEqual([
      { peers: 3, isAlone: false },
      { peers: 5, isAlone: true },
    ]);
    const given = parse("--seed", "0", "--minutes", "0.2", "--peers", "9", "--callers", "64", "--json", "--plan");
    expect(Either.getOrThrow(given)).toMatchObject({ seed: 0, minutes: 0.2, callers: 64, planOnly: true });
  });

  it.each([
    ["--seed", "-1"],
    ["--seed", "2147483649"],
    ["--seed", "1.5"],
    ["--minutes", "0.1"],
    ["--minutes", "601"],
    ["--minutes", "1e1"],
    ["--peers", "1"],
    ["--peers", "10"],
    ["--peers", "3,"],
    ["--peers", "1-1"],
    ["--peers", "2-3"],
    ["--peers", "1-10"],
    ["--plant", "nonsense"],
    ["--callers", "0"],
    ["--callers", "513"],
    ["--nonsense", "1"],
    ["stray", "word"],
  ])("refuse %s %s", (name, value) => {
    expect(Either.isLeft(parse(name, value))).toBe(true);
  });

  it("are all explained", () => {
    for (const name of ["seed", "minutes", "peers", "callers", "leak", "plant", "plan", "json", "help"])
      expect(helpText).toContain(`--${name}`);
  });
});
