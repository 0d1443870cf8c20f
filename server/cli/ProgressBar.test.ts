import { expect, it } from "vitest";
import { barText, progressBar } from "./ProgressBar.ts";

it("fills with what is done, and never beyond", () => {
  expect(barText("receiving", 0, 2e6)).toBe(`receiving [${".".repeat(30)}] 0 % of 2.0 MB`);
  expect(barText("receiving", 1e6, 2e6)).toBe(`receiving [${"#".repeat(15)}${".".repeat(15)}] 50 % of 2.0 MB`);
  expect(barText("receiving", 3e6, 2e6)).toBe(`receiving [${"#".repeat(30)}] 100 % of 2.0 MB`);
  expect(barText("receiving", 1_250_000, undefined)).toBe("receiving 1.3 MB");
});

it("writes on a terminal alone", () => {
  const shown = (isTTY: boolean): string => {
    let written = "";
    const write = (text: string): boolean => {
      written += text;
      return true;
    };
    const bar = progressBar("receiving", 10, Object.assign(Object.create(process.stderr), { isTTY, write }));
    bar.tell(5);
    bar.end();
    return written;
  };
  expect(shown(false)).toBe("");
  expect(shown(true)).toContain("50 %");
});
