import { describe, expect, it } from "vitest";
import { helpLines } from "./HelpLines.ts";

const names = Array.from({ length: 8 }, (_, index) => `name-${index}`);

describe("help", () => {
  it("puts a description below the usage that the library pads", () => {
    expect(helpLines("COMMANDS\n\n  - status [--json]                Say how it is.")).toBe(
      "COMMANDS\n\n  - status [--json]\n      Say how it is.",
    );
  });

  it("names a short choice in a usage, and of a long one only that it is one", () => {
    expect(helpLines(`$ run [--crypto ${names.slice(1).join(" | ")}] [--json]`)).toBe(
      `$ run [--crypto ${names.slice(1).join(" | ")}] [--json]`,
    );
    expect(helpLines(`$ run [--bug ${names.join(" | ")}] [--json]`)).toBe("$ run [--bug NAME] [--json]");
  });

  it("leaves the entry of the option its names, and text as it is", () => {
    const entry = `--bug ${names.join(" | ")}\n\n  Plant this bug.  Twice.`;
    expect(helpLines(entry)).toBe(entry);
  });
});
