/** What the drill takes for a fault of the package. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { edit, faultsOf } from "./Package.ts";

const folder = mkdtempSync(join(tmpdir(), "custody-package-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe("the package", () => {
  const files = ["package.json", "README.md", "LICENSE", "dist/a.js", "docs/client.ts", "deploy/custody.service"];
  const promised = { files: ["dist", "docs", "deploy/custody.service"] };

  it("holds what is promised", () => {
    expect(faultsOf(files, promised)).toEqual([]);
  });

  it.each(["dist/a.test.js", "dist/a.ts", "docs/peer.key", "dist/.env", "dist/x/custody.db"])(
    "may not hold %s",
    (file) => {
      expect(faultsOf([...files, file], promised)).toEqual([`${file} has no business in a package`]);
    },
  );

  it("holds nothing else, and lacks nothing", () => {
    expect(faultsOf([...files, "sim/a.js"], promised)).toEqual(["sim/a.js is in it, and no entry of files has it"]);
    expect(faultsOf(files, { files: [...promised.files, "CHANGELOG.md"] })).toEqual([
      "CHANGELOG.md is promised and not in it",
    ]);
  });
});

it("is edited only where the part is there once", () => {
  const file = join(folder, "a.js");
  writeFileSync(file, "one two two");
  edit(file, "one", "$&");
  expect(readFileSync(file, "utf8")).toBe("$& two two");
  for (const part of ["two", "three"]) expect(() => edit(file, part, "")).toThrow(/exactly once/);
});
