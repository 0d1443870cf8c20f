import { describe, expect, it } from "vitest";
import { BodyBudget } from "./BodyBudget.ts";

const budget = () => new BodyBudget({ all: 100, ofActor: 30, ofAddress: 50 });
const holder = (actor: string | undefined, address: string) => ({ actor, address });

describe("bytes of bodies", () => {
  it("of one actor leave room for others, from wherever they come", () => {
    const own = budget();
    const first = own.open(holder("a", "1"));
    expect([first.take(20), first.take(10), first.take(1)]).toEqual([undefined, undefined, "actor"]);
    expect(own.open(holder("a", "2")).take(1)).toBe("actor");
    expect(own.open(holder("b", "1")).take(20)).toBeUndefined();
    expect(own.held).toBe(50);
    first.close();
    expect(own.held).toBe(20);
    expect(own.open(holder("a", "2")).take(30)).toBeUndefined();
  });

  it("of one address leave room for others, whoever sends them", () => {
    const own = budget();
    own.open(holder("a", "1")).take(25);
    own.open(holder("b", "1")).take(25);
    expect(own.open(holder("c", "1")).take(1)).toBe("address");
    expect(own.open(holder(undefined, "1")).take(1)).toBe("address");
    expect(own.open(holder("c", "2")).take(1)).toBeUndefined();
  });

  it("are bounded in all, and what does not fit takes nothing", () => {
    const own = budget();
    const accounts = [1, 2, 3, 4].map((each) => own.open(holder(`actor ${each}`, `${each}`)));
    expect(accounts.map((each) => each.take(30))).toEqual([undefined, undefined, undefined, "all"]);
    expect(accounts[3]?.take(10)).toBeUndefined();
    expect(own.held).toBe(100);
    for (const each of accounts) each.close();
    expect(own.held).toBe(0);
    for (const each of accounts) each.close();
    expect(own.held).toBe(0);
  });

  it("of callers without a name count by their address alone", () => {
    const own = budget();
    expect(own.open(holder(undefined, "1")).take(50)).toBeUndefined();
    expect(own.open(holder(undefined, "2")).take(50)).toBeUndefined();
  });
});
