/** How a prompt for a secret is left, on a terminal of its own. */
import { spawn } from "node:child_process";
import { afterAll, beforeAll, expect, it } from "vitest";
import { program } from "./cli/CustodyProcess.ts";
import { type FakeService, fakeService, jsonReply } from "./cli/FakeService.ts";
import { surroundings } from "./cli/Running.ts";

let service: FakeService;
beforeAll(async () => {
  service = await fakeService(() =>
    jsonReply(200, { state: "SEALED", unsealing: { have: 0, need: 2, attempt: "1" }, rekey: undefined }),
  );
});
afterAll(() => service.close());

/** Runs `custody unseal` on a terminal, and presses a key once it asks; gives its code and what was to be seen. */
const leftBy = (key: string) =>
  new Promise<{ readonly code: number | null; readonly text: string }>((resolve) => {
    const env = { ...surroundings(), CUSTODY_URL: service.url };
    // Of util-linux: it gives the command a terminal, and ends with its code.
    const child = spawn("script", ["-qec", `"${process.execPath}" "${program}" unseal`, "/dev/null"], { env });
    let text = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      const before = text;
      text += chunk;
      if (!before.includes("Unseal share") && text.includes("Unseal share")) child.stdin.write(key);
    });
    child.on("close", (code) => resolve({ code, text }));
  });

it.skipIf(process.platform !== "linux").each([
  ["Ctrl-C, which is an interruption", "\u0003", 130, false],
  ["the end of the input, which gives up", "\u0004", 2, true],
])(
  "is left by %s",
  async (_what, key, code, says) => {
    const left = await leftBy(key);
    expect([left.code, left.text.includes("unsealing was given up at the prompt")]).toEqual([code, says]);
  },
  60_000,
);
