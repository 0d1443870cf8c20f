import { describe, expect, it } from "vitest";
import { storeOpenError } from "./StoreOpenError.ts";

/** As better-sqlite3 and Node say it, wrapped as the SQL client does. */
const thrown = (message: string): Error => new Error("failed to open", { cause: new Error(message) });

describe("why a database could not be opened", () => {
  it.each([
    "Could not locate the bindings file. Tried:\n \u2192 /opt/custody/node_modules/better-sqlite3/build/better_sqlite3.node",
    "The module was compiled against a different Node.js version using NODE_MODULE_VERSION 115.",
  ])("is not the disk where npm has not built the library: %s", (message) => {
    const fault = storeOpenError("/var/lib/custody/custody.db", thrown(message));
    expect(fault.reason).toBe("no-binding");
    expect(fault.message).toContain("npm rebuild better-sqlite3");
    expect(fault.message).not.toContain("node_modules");
  });

  it("is the disk where nothing else is known", () => {
    expect(storeOpenError("/var/lib/custody/custody.db", thrown("input/output error")).reason).toBe("unreadable");
  });
});
