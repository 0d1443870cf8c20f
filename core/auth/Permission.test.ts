import { describe, expect, it } from "vitest";
import { Grants, isPermissionEntry, permits } from "./Permission.ts";

const register = "service.approvers.register";

describe("permits", () => {
  it.each<[ReadonlyArray<string>, string]>([
    [[register], register],
    [["service.approvers.*"], register],
    [["service.*.register"], register],
    [["*.*.*"], register],
    [["other", register], register],
    [["service.key.prod-*.sign"], "service.key.prod-eu-1.sign"],
    [["service.key.*.sign"], "service.key.prod-eu-1.sign"],
    [["-service.approvers.read", register], register],
    [["-service.approvers", register], register],
    [["-service.approvers.register.all", register], register],
    [["-service.approvers.reg-*", register], register],
    [["single"], "single"],
    [["*"], "single"],
    [["a_b.c-d"], "a_b.c-d"],
  ])("%j allows %s", (granted, wanted) => {
    expect(permits(granted, wanted)).toBe(true);
  });

  it.each<[string, ReadonlyArray<string>, string]>([
    ["nothing is granted", [], register],
    ["another name is granted", ["service.approvers.read"], register],
    ["the case differs", ["Service.approvers.register"], register],
    ["the last letter differs", ["service.approvers.registes"], register],
    ["a last letter is missing", ["service.approvers.registe"], register],
    ["a letter is too many", ["service.approvers.registers"], register],
    ["* stands for one segment, not several", ["service.*"], register],
    ["* stands for one segment, not none", ["service.approvers.register.*"], register],
    ["* alone is one segment", ["*"], register],
    ["a name does not cover what is below it", ["service.approvers"], register],
    ["a name does not cover what is above it", ["service.approvers.register.all"], register],
    ["prefix-* needs something after the hyphen", ["service.key.prod-*.sign"], "service.key.prod-.sign"],
    ["prefix-* needs the hyphen", ["service.key.prod-*.sign"], "service.key.production.sign"],
    ["prefix-* ends within its segment", ["service.key.prod-*"], "service.key.prod-1.sign"],
    ["a denial wins when it comes last", [register, `-${register}`], register],
    ["a denial wins when it comes first", [`-${register}`, register], register],
    ["a denial wins with a wildcard", [register, "-service.*.register"], register],
    ["a denial wins over a wildcard", ["service.approvers.*", `-${register}`], register],
    ["a denial wins with a prefix", ["service.key.*.sign", "-service.key.prod-*.sign"], "service.key.prod-1.sign"],
    ["a denial alone grants nothing", ["-service.approvers.read"], register],
    ["** is malformed", ["service.**"], register],
    ["reg* is malformed, the prefix ends with a hyphen", ["service.approvers.reg*"], register],
    ["*ter is malformed", ["service.approvers.*ter"], register],
    ["prefix-*x is malformed", ["service.key.prod-*x.sign"], "service.key.prod-1x.sign"],
    ["an empty segment is malformed", ["service..register"], "service..register"],
    ["a leading dot is malformed", [".service"], ".service"],
    ["a trailing dot is malformed", ["service."], "service."],
    ["the empty text is malformed", [""], ""],
    ["a space is malformed", [`${register} `], register],
    ["a newline is malformed", [`${register}\n`], register],
    ["a regular expression is only text", ["service.approvers.(register)"], register],
    ["a plus is malformed", [`+${register}`], register],
    ["a malformed denial forbids everything", [register, "-service.**"], register],
    ["a double denial is malformed and forbids everything", [register, "--service.key.a.sign"], register],
    ["a lone hyphen is a malformed denial", [register, "-"], register],
    ["what is wanted holds a wildcard", ["service.approvers.*"], "service.approvers.*"],
    ["what is wanted is itself a denial", [`-${register}`], `-${register}`],
    ["what is wanted hides a segment", ["service.key.*.sign"], "service.key.a.b.sign"],
    ["what is wanted holds a newline", [register], `${register}\n`],
  ])("nothing is allowed: %s", (_name, granted, wanted) => {
    expect(permits(granted, wanted)).toBe(false);
  });

  it.each([
    [register, true],
    [`-${register}`, true],
    ["service.key.prod-*.sign", true],
    ["*", true],
    ["service.**", false],
    ["-", false],
    ["", false],
  ])("%j is a well-formed entry: %s", (entry, expected) => {
    expect(isPermissionEntry(entry)).toBe(expected);
  });

  it("takes time linear in the length of hostile entries", () => {
    const hostile = `${"a-".repeat(50_000)}!`;
    expect(permits([hostile, register], register)).toBe(true);
  });
});

describe("where words may stand for which a name is permitted", () => {
  const words = ["a", "a-1", "a-1-x", "a-2", "a_1", "b", "b-1", "c", "c-9"];
  it.each<ReadonlyArray<string>>([
    [],
    ["service.key.*.sign"],
    ["service.key.a-*.sign"],
    ["service.key.b.sign", "service.key.a-*.sign"],
    ["*.key.c.*", "service.*.a.sign", "service.key.a.sign.more", "service.key.b.verify"],
    ["service.key.*.sign", "-service.key.b.sign"],
    ["service.key.*.sign", "-service.key.a-*.sign", "-service.key.a-1-*.*"],
    ["service.key.a-*.sign", "service.key.c.sign", "-service.key.a-1-*.sign", "-service.key.c.*"],
    ["service.key.*.sign", "-*.*.*.*"],
    ["service.key.*.sign", "-service..key"],
    ["service..key", "service.key.a-1.sign"],
  ])("passes over no such word, and over all that are in one go: %j", (...granted) => {
    const grants = new Grants(granted);
    const sought = grants.words("service.key.*.sign");
    const found: Array<string> = [];
    let asked = 0;
    for (let at = sought.seek(""); at !== undefined; asked += 1) {
      const from = at;
      const word = words.find((each) => each >= from);
      if (word === undefined) break;
      if (grants.permit(`service.key.${word}.sign`)) found.push(word);
      at = sought.seek(`${word}\u0000`);
      if (at !== undefined) expect(at > word).toBe(true);
    }
    expect(found).toEqual(words.filter((word) => grants.permit(`service.key.${word}.sign`)));
    expect(asked).toBeLessThanOrEqual(found.length + granted.length);
  });
});
