/** How a backup command may end, and how not. */
import { describe, expect, it } from "vitest";
import { endFault } from "./Backups.ts";

const failure = (kind: string, code?: string): string =>
  JSON.stringify({ error: { kind, message: "it is so", ...(code === undefined ? {} : { problem: { code } }) } });

describe("the end of a command that takes a backup", () => {
  it("is a file, or a reason and no file", () => {
    expect(endFault({ how: 0, stderr: "" }, "undisturbed", true)).toBeUndefined();
    expect(endFault({ how: 3, stderr: failure("unreachable") }, "peer killed", false)).toBeUndefined();
    expect(endFault({ how: 1, stderr: failure("refused", "SEALED") }, "undisturbed", false)).toBeUndefined();
    expect(endFault({ how: 0, stderr: "" }, "undisturbed", false)).toContain("made no file");
    expect(endFault({ how: 3, stderr: failure("unreachable") }, "peer killed", true)).toContain("its file is there");
    expect(endFault({ how: 70, stderr: "TypeError" }, "undisturbed", false)).toContain("ended with 70");
    expect(endFault({ how: 4, stderr: failure("unknown") }, "undisturbed", false)).toContain("ended with 4");
    expect(endFault({ how: "SIGABRT", stderr: "" }, "undisturbed", false)).toContain("SIGABRT");
  });

  it("is no refusal that is not true, and nothing of a peer that is not whole", () => {
    expect(endFault({ how: 1, stderr: failure("refused", "NO_SPACE") }, "undisturbed", false)).toContain("NO_SPACE");
    expect(
      endFault({ how: 1, stderr: failure("refused", "NO_SPACE") }, "copy finds the disk full", false),
    ).toBeUndefined();
    expect(endFault({ how: 1, stderr: failure("refused", "INTERNAL_ERROR") }, "copy fails", false)).toBeUndefined();
    for (const way of ["copy fails", "undisturbed"] as const)
      expect(endFault({ how: 1, stderr: failure("refused", "INTEGRITY_FAILURE") }, way, false)).toContain("INTEGRITY");
    expect(endFault({ how: 1, stderr: failure("refused") }, "slow reader", false)).toContain("no whole backup");
  });

  it("is a kill or a full disk only of those that were killed or full", () => {
    expect(endFault({ how: "SIGKILL", stderr: "" }, "reader killed", false)).toBeUndefined();
    expect(endFault({ how: "SIGKILL", stderr: "" }, "slow reader", false)).toContain("SIGKILL");
    expect(endFault({ how: 2, stderr: failure("usage") }, "reader's disk full", false)).toBeUndefined();
    expect(endFault({ how: 2, stderr: failure("usage") }, "undisturbed", false)).toContain("ended with 2");
  });
});
