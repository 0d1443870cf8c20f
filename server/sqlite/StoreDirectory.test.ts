import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Effect } from "effect";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { databaseFile, holdDirectory, prepareDirectory } from "./StoreDirectory.ts";

let parent: string;
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), "custody-directory-"));
});
afterEach(() => rmSync(parent, { recursive: true }));

const refusal = (directory: string) => Effect.runSync(Effect.flip(prepareDirectory(directory)));

describe("the data directory", () => {
  it("is made for its owner alone when only its last part is missing", () => {
    const directory = join(parent, "data");
    Effect.runSync(prepareDirectory(directory));
    Effect.runSync(prepareDirectory(directory));
    expect(statSync(directory).mode & 0o777).toBe(0o700);
  });

  it("is refused when its parent is missing or it is a file", () => {
    expect(refusal(join(parent, "missing", "data"))).toMatchObject({ reason: "no-directory" });
    writeFileSync(join(parent, "file"), "");
    expect(refusal(join(parent, "file")).message).toBe(
      `${join(parent, "file")} is not a directory that can be used; create it or its parent, or correct the data directory`,
    );
  });

  it.each([
    ["", 0o750, "700"],
    ["custody.db", 0o640, "600"],
    ["custody.db-wal", 0o604, "600"],
  ])("is refused while other users may read %s, with the command that ends that", (name, mode, wanted) => {
    const directory = join(parent, "data");
    Effect.runSync(prepareDirectory(directory));
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    expect(statSync(databaseFile(directory)).mode & 0o777).toBe(0o600);
    const path = join(directory, name);
    if (name === "custody.db-wal") writeFileSync(path, "");
    chmodSync(path, mode);
    expect(refusal(directory)).toMatchObject({ reason: "open", file: path, detail: `chmod ${wanted} ${path}` });
  });

  it("is refused when only the log of a database is left", () => {
    mkdirSync(join(parent, "data"), { mode: 0o700 });
    const directory = join(parent, "data");
    writeFileSync(`${databaseFile(directory)}-wal`, "", { mode: 0o600 });
    Effect.runSync(prepareDirectory(directory));
    writeFileSync(`${databaseFile(directory)}-wal`, "x");
    expect(refusal(directory)).toMatchObject({ reason: "corrupt", file: databaseFile(directory) });
    writeFileSync(databaseFile(directory), "");
    expect(refusal(directory)).toMatchObject({ reason: "corrupt" });
  });

  it("is held once at a time, and free again afterwards", () => {
    const second = Effect.gen(function* () {
      yield* holdDirectory(parent);
      return yield* Effect.flip(Effect.scoped(holdDirectory(parent)));
    });
    const error = Effect.runSync(Effect.scoped(second));
    expect(error.message).toBe(
      `${parent} is in use by another process; stop that process, or give this peer a data directory of its own`,
    );
    Effect.runSync(Effect.scoped(holdDirectory(parent)));
  });

  it("is not held when the lock file is something else", () => {
    writeFileSync(join(parent, "custody.lock"), "not a database, and longer than the header of one ".repeat(30));
    const error = Effect.runSync(Effect.flip(Effect.scoped(holdDirectory(parent))));
    expect(error).toMatchObject({ reason: "not-a-database", file: join(parent, "custody.lock") });
  });
});
