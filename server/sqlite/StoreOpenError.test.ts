import { SqlError } from "@effect/sql/SqlError";
import { describe, expect, it } from "vitest";
import { StoreOpenError, storeOpenError } from "./StoreOpenError.ts";

const file = "/data/peer-1/custody.db";
const fromSqlite = (code: string) =>
  storeOpenError(file, new SqlError({ message: "failed", cause: Object.assign(new Error("from SQLite"), { code }) }));

describe("StoreOpenError", () => {
  it.each([
    ["SQLITE_NOTADB", "not-a-database", "is not a SQLite database; restore it"],
    ["SQLITE_CORRUPT", "corrupt", "is damaged; restore it"],
    ["SQLITE_CORRUPT_INDEX", "corrupt", "is damaged; restore it"],
    ["SQLITE_READONLY", "not-writable", "give this user write permission"],
    ["SQLITE_READONLY_DIRECTORY", "not-writable", "give this user write permission"],
    ["SQLITE_CANTOPEN", "not-writable", "give this user write permission"],
    ["SQLITE_PERM", "not-writable", "give this user write permission"],
    ["SQLITE_FULL", "disk-full", "free space"],
    ["SQLITE_BUSY", "busy", "close that program"],
    ["SQLITE_IOERR_FSYNC", "unreadable", "check the disk"],
  ])("names what %s means, the file and the next step", (code, reason, step) => {
    const error = fromSqlite(code);
    expect(error.reason).toBe(reason);
    expect(error.message).toContain(file);
    expect(error.message).toContain(step);
    expect(error.message).toContain(code);
  });

  it("keeps an error that is one already", () => {
    const error = new StoreOpenError({ reason: "newer", file });
    expect(storeOpenError("/other", error)).toBe(error);
    expect(error.message).toBe(`${file} was written by a newer version of this program; start that version`);
  });

  it.each([
    "Could not locate the bindings file. Tried:\n \u2192 /opt/node_modules/better-sqlite3/build/better_sqlite3.node",
    "The module was compiled against a different Node.js version using NODE_MODULE_VERSION 115.",
  ])("blames no disk where npm has not built the library: %s", (message) => {
    const error = storeOpenError(file, new Error("failed to open", { cause: new Error(message) }));
    expect(error.reason).toBe("no-binding");
    expect(error.message).toContain("npm rebuild better-sqlite3");
    expect(error.message).not.toContain("node_modules");
  });

  it("gives any other fault as an unreadable file", () => {
    expect(storeOpenError(file, new Error("odd")).message).toBe(`${file} cannot be read; check the disk (odd)`);
    expect(storeOpenError(file, "odd").message).toBe(`${file} cannot be read; check the disk`);
  });
});
