import { describe, expect, it } from "vitest";
import { Choices, type Decider, type Unit } from "./Choices.ts";

const number = (unit: Unit): number => unit.between("n", 0, 0, 1_000_000_000);
const numbers = (unit: Unit): string => Array.from({ length: 3 }, () => number(unit)).join(" ");

describe("the choices of a seed", () => {
  it("differ between seeds, neighbouring or large, between streams and between units", () => {
    const seeds = [0, 1, 2, 3, 2 ** 31, 2 ** 32, 2 ** 32 + 1, 2 ** 33, 2 ** 48];
    const all = seeds.flatMap((seed) => {
      const choices = new Choices(seed);
      return ["link 1>2", "link 2>1", "caller 1"].flatMap((name) =>
        Array.from({ length: 20 }, () => numbers(choices.stream(name).next())),
      );
    });
    expect(new Set(all).size).toBe(all.length);
  });

  it("depend on the seed, the stream, the ordinal and the turn alone", () => {
    const left = new Choices(7);
    const right = new Choices(7);
    left.stream("caller 1").next();
    const unit = right.stream("caller 1").next();
    number(unit);
    number(right.stream("caller 2").next());
    expect(numbers(left.stream("caller 1").next())).toBe(numbers(right.stream("caller 1").next()));
    expect(left.stream("caller 1")).toBe(left.stream("caller 1"));
  });

  it("keep to their bounds, reach both of them, and spread evenly enough", () => {
    const { stream } = { stream: new Choices(1).stream("x") };
    const seen = new Map<number, number>();
    for (let count = 0; count < 5_000; count++) {
      const value = stream.next().between("n", 0, -2, 2);
      seen.set(value, (seen.get(value) ?? 0) + 1);
    }
    expect([...seen.keys()].toSorted((left, right) => left - right)).toEqual([-2, -1, 0, 1, 2]);
    for (const count of seen.values()) expect(Math.abs(count - 1_000)).toBeLessThan(120);
  });

  it("weigh names, and take the quiet one where none weighs anything", () => {
    const stream = new Choices(2).stream("x");
    const names = ["a", "b", "c"] as const;
    const drawn = Array.from({ length: 300 }, () => stream.next().named("which", "a", names, [0, 1, 2]));
    expect(drawn.filter((name) => name === "a")).toEqual([]);
    expect(drawn.filter((name) => name === "b").length).toBeGreaterThan(60);
    expect(stream.next().named("which", "b", names, [0, 0, 0])).toBe("b");
  });

  it("are certain where the chance is", () => {
    const stream = new Choices(3).stream("x");
    const drawn = (perMille: number) =>
      Array.from({ length: 1_000 }, () => stream.next().chance("happens", perMille)).filter(Boolean).length;
    expect([drawn(0), drawn(1_000)]).toEqual([0, 1_000]);
    expect(Math.abs(drawn(300) - 300)).toBeLessThan(60);
  });
});

describe("a decider", () => {
  it("is shown every draw with its lawful values and its quiet one, and has the last word", () => {
    const shown: Array<string> = [];
    const decider: Decider = {
      whole: ({ stream, ordinal }, label, drawn, quiet, floor, ceiling) => {
        shown.push(`${stream} ${ordinal} ${label} ${quiet} ${floor}..${ceiling} ${drawn >= 1 && drawn <= 9}`);
        return quiet;
      },
      flag: (_unit, label, drawn) => {
        shown.push(`${label} ${drawn}`);
        return false;
      },
      named: (_unit, label, _drawn, quiet, names) => {
        shown.push(`${label} ${quiet} ${names.length}`);
        return quiet;
      },
    };
    const unit = new Choices(1, decider).stream("link 1>2").next();
    expect(unit.between("takes", 5, 1, 9, 0, 100)).toBe(5);
    expect(unit.oneOf("loss", 3, [3, 9])).toBe(3);
    expect(unit.spread("waits", 7, [[1, 2]], 0, 8)).toBe(7);
    expect(unit.chance("lost", 1_000)).toBe(false);
    expect(unit.named("what", "b", ["a", "b"], [1, 0])).toBe("b");
    expect(shown).toEqual([
      "link 1>2 1 takes 5 0..100 true",
      "link 1>2 1 loss 3 3..9 true",
      "link 1>2 1 waits 7 0..8 true",
      "lost true",
      "what 1 2",
    ]);
  });
});
