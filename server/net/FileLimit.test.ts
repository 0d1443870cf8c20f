import { describe, expect, it } from "vitest";
import { mostOpenFiles, softLimitIn } from "./FileLimit.ts";

const limits = (soft: string): string =>
  [
    "Limit                     Soft Limit           Hard Limit           Units     ",
    "Max processes             100                  100                  processes ",
    `Max open files            ${soft.padEnd(21)}524288               files     `,
  ].join("\n");

describe("the limit of open files", () => {
  it("is the soft one, or none", () => {
    expect(softLimitIn(limits("1024"))).toBe(1024);
    expect(softLimitIn(limits("unlimited"))).toBe(Number.POSITIVE_INFINITY);
    expect(softLimitIn("")).toBe(Number.POSITIVE_INFINITY);
  });

  it("of this process is more than a few", () => {
    expect(mostOpenFiles()).toBeGreaterThan(64);
  });
});
