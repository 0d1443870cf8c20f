import { describe, expect, it } from "vitest";
import { helpLines } from "./HelpLines.ts";

const names = Array.from({ length: 8 }, (_, index) => `name-${index}`);

describe("help", () => {
  it("has a line for each command of a list, with the first statement of its description", () => {
    const library =
      "COMMANDS\n\n  - status [--json]   Say how it is.\n\n  - seal [--url URL]   Seal one (or more): it forgets. Twice.\n\nEnd.";
    expect(helpLines(library, [])).toBe(
      `COMMANDS\n\n  - ${"status".padEnd(24)}  Say how it is\n  - ${"seal".padEnd(24)}  Seal one\n\nEnd.`,
    );
    expect(helpLines("  - metadata   Change it; or not.", [])).toBe(`  - ${"metadata".padEnd(24)}  Change it`);
  });

  it("names a short choice in a usage, and of a long one only that it is one", () => {
    expect(helpLines(`$ run [--crypto ${names.slice(1).join(" | ")}] [--json]`, ["run"])).toBe(
      `$ custody run [--crypto ${names.slice(1).join(" | ")}] [--json]`,
    );
    expect(helpLines(`$ run [--bug ${names.join(" | ")}] [--json]`, ["run"])).toBe(
      "$ custody run [--bug NAME] [--json]",
    );
  });

  it("leaves the entry of the option its names, and text as it is", () => {
    const entry = `--bug ${names.join(" | ")}\n\n  Plant this bug.  Twice.`;
    expect(helpLines(entry, [])).toBe(entry);
  });

  it.each([
    ["$ custody", [], "$ custody"],
    ["$ get [--json] <ref>", ["approvers", "get"], "$ custody approvers get [--json] <ref>"],
    ["$ get <ref>", ["approvers", "get", "alice"], "$ custody approvers get <ref>"],
    ["$ status", ["status"], "$ custody status"],
    ["$ approvers\n\nCOMMANDS\n", ["approvers"], "$ custody approvers COMMAND\n\nCOMMANDS\n"],
    ["$ backup [--to FILE]\n\nCOMMANDS\n", ["backup"], "$ custody backup [COMMAND] [--to FILE]\n\nCOMMANDS\n"],
    ["  - backup [--to FILE] [--json] verify [--json] <file>", [], "  - backup verify"],
    ["$ custody\n\n\u001b[0;1mCOMMANDS\u001b[0m\n", [], "$ custody COMMAND\n\n\u001b[0;1mCOMMANDS\u001b[0m\n"],
  ])("has the whole command in the usage %j", (usage, words, whole) => {
    expect(helpLines(usage, words)).toBe(whole);
  });

  it("names a command of a group within a group once", () => {
    expect(helpLines("  - approvers approvers metadata set [--json] <ref>", [])).toBe("  - approvers metadata set");
    expect(helpLines("  - metadata set <ref>", [])).toBe("  - metadata set");
  });

  it("shows as optional what may be there any number of times", () => {
    expect(helpLines("$ put --id ID [--tag T...] [--json]", ["put"])).toBe(
      "$ custody put --id ID [--tag T]... [--json]",
    );
    expect(helpLines("$ put --tag T...", ["put"])).toBe("$ custody put --tag T...");
  });

  it.each(["A user-defined piece of text.", "An integer.", "A true or false value.", "One of the following: a, b"])(
    "leaves out of an entry that it is %j",
    (kind) => {
      expect(helpLines(`--id ID\n\n  ${kind}\n\n  The id.\n\n`, [])).toBe("--id ID\n\n  The id.\n\n");
    },
  );

  it("says once how often something may be there", () => {
    expect(helpLines("--tag T...\n\n  Tags.\n\n  This option may be repeated zero or more times.\n\n", [])).toBe(
      "--tag T...\n\n  Tags.\n\n",
    );
    expect(helpLines("  This argument must be repeated at least 1 times.", [])).toBe("  There must be at least one.");
  });
});
