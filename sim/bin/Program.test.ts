import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";
import { programOf, quoted } from "./Program.ts";

it.each<readonly [string, string, string, string, string]>([
  ["in a checkout", "/a/server/bin/custody.ts", "/a/sim/bin/Program.ts", "/a", "npm run -s custody --"],
  [
    "outside of the checkout",
    "/a b/server/bin/custody.ts",
    "/a b/sim/bin/Program.ts",
    "/c",
    "npm --prefix '/a b' run -s custody --",
  ],
  [
    "bundled in a checkout",
    "/a/node_modules/.cache/custody/command/custody.js",
    "/a/node_modules/.cache/custody/command/custody.js",
    "/a",
    "npm run -s custody --",
  ],
  [
    "where a package has it",
    "/p/node_modules/.bin/custody",
    "/p/node_modules/custody/dist/sim/bin/Program.js",
    "/p",
    "npx custody",
  ],
  ["on the path", "/usr/bin/custody", "/usr/lib/node_modules/custody/dist/sim/bin/Program.js", "/p", "custody"],
  ["built", "/a/dist/server/bin/custody.js", "/a/dist/sim/bin/Program.js", "/a/dist", "node server/bin/custody.js"],
])("is called as it can be %s", (_where, script, source, folder, name) => {
  expect(programOf({ script, source, folder }).name).toBe(name);
});

it("names a file as the command finds it, as one word of a shell", () => {
  const script = "/a/server/bin/custody.ts";
  const source = "/a/sim/bin/Program.ts";
  expect(programOf({ script, source, folder: "/a" }).file("tapes/S4.tape")).toBe("tapes/S4.tape");
  expect(programOf({ script, source, folder: "/c" }).file("tapes/S4.tape")).toBe("/c/tapes/S4.tape");
  for (const text of ["it's; here $HOME", "plain.tape", "two words"])
    expect(execFileSync("sh", ["-c", `printf %s ${quoted(text)}`], { encoding: "utf8" })).toBe(text);
});
