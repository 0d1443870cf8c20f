/** What the drill takes for a page that does not do what it says. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { Entry } from "./Documented.ts";
import { runPage, Sandbox, type World } from "./Sandbox.ts";

const folder = mkdtempSync(join(tmpdir(), "custody-sandbox-"));
afterAll(() => rmSync(folder, { recursive: true }));

const run = async (commands: ReadonlyArray<string>, entries: ReadonlyArray<Entry<World>>) => {
  const file = join(folder, "page");
  writeFileSync(file, ["```sh", ...commands, "```", ""].join("\n"));
  const own = mkdtempSync(join(folder, "own-"));
  const sandbox = new Sandbox({ folder: own, env: { GIVEN: "1" }, instead: [["/there", own]] }, join(own, "memory"));
  const said: Array<string> = [];
  try {
    await runPage({ file, entries }, { sandbox }, (line) => void said.push(line.replace(`${file}:`, "")));
  } finally {
    await sandbox.close();
  }
  return said.slice(0, -1);
};

describe("a page", () => {
  it("is run as one session, in its own folder, with what stands for what is not here", async () => {
    const commands = ["a=$GIVEN; export b=2", 'echo "$a$b" > /there/file', "cat file"];
    const entries = [{ of: "a=" }, { of: "echo" }, { of: "cat", prints: /^12\n$/ }];
    expect(await run(commands, entries)).toEqual([]);
  });

  it("may do something once only, end with another code, and go on beside what follows", async () => {
    const commands = [`echo more >> count; wc -l < count`, "false", "sh -c 'echo up; exec sleep 60'", "echo $0"];
    const printed: Array<string> = [];
    await run(commands, [
      { of: "echo more", prints: /^ *1$/m, again: /^ *2$/m },
      { of: "false", code: 1 },
      { of: "sh -c", beside: /up/ },
      { of: "echo $0", after: (_world, out, command) => void printed.push(out, command) },
    ]);
    expect(printed).toEqual(["sh\n", "echo $0"]);
  });

  it("tells what was not run, or otherwise, and why", async () => {
    const said = await run(
      ["systemctl stop", "sleep 1000", "no-such-program-anywhere"],
      [
        { of: "systemctl", not: "services" },
        { of: "sleep", as: { run: () => "sleep 0", because: "sooner" } },
        { of: "no-such", needs: "no-such-program-anywhere" },
      ],
    );
    expect(said).toEqual([
      "2: not run, it changes the users or services of the machine: systemctl stop",
      "3: run otherwise, sooner: sleep 1000",
      "4: not run, no-such-program-anywhere is not installed: no-such-program-anywhere",
    ]);
  });

  it.each([
    { entry: { of: "echo" }, command: "echo no; exit 3", says: /page:2: `echo no; exit 3` ended with 3: no/ },
    { entry: { of: "echo", prints: /yes/ }, command: "echo no", says: /does not print \/yes\/: no/ },
    { entry: { of: "echo", again: /yes/ }, command: "echo no", says: /does not print \/yes\/: no/ },
    { entry: { of: "echo", beside: /yes/ }, command: "echo no", says: /page:2: [^]* ended: no/ },
    { entry: { of: "cat" }, command: "echo no", says: /has no command left for cat/ },
  ])("fails where it does not do what it says: $says", async ({ entry, command, says }) => {
    await expect(run([command], [entry])).rejects.toThrow(says);
  });
});
