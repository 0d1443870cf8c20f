import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Effect } from "effect";
import { afterAll, describe, expect, it } from "vitest";
import { loadCollectorHeaders } from "./CollectorHeaders.ts";

const folder = mkdtempSync(join(tmpdir(), "custody-headers-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const path = join(folder, "headers");

const load = (text: string, mode = 0o600): Promise<unknown> => {
  writeFileSync(path, text);
  chmodSync(path, mode);
  return Effect.runPromise(
    Effect.match(loadCollectorHeaders(path), { onSuccess: (fields) => fields, onFailure: ({ message }) => message }),
  );
};

describe("the file of header fields", () => {
  it("holds one to a line", async () => {
    expect(await load("Authorization: Bearer a secret\nX-Scope-OrgID:custody\n")).toEqual({
      authorization: "Bearer a secret",
      "x-scope-orgid": "custody",
    });
    expect(await load("a: 1\r\nb: 2")).toEqual({ a: "1", b: "2" });
    expect(await load(Array.from({ length: 16 }, (_, at) => `a${at}: x`).join("\n"))).toHaveProperty("a15");
    expect(await load(`a: ${"x".repeat(4096)}`)).toHaveProperty("a");
  });

  it.each([
    ["", /must hold 1 to 16 lines/],
    [Array.from({ length: 17 }, (_, at) => `a${at}: x`).join("\n"), /must hold 1 to 16 lines/],
    ["a: fine\nhunter2", /has no header field in line 2; write it as Name: value/],
    ["hunter2:", /line 1/],
    ["a: hunter2 ", /line 1/],
    ["a: hünter2", /line 1/],
    ["a: hun\tter2", /line 1/],
    [`a: ${"x".repeat(4097)}`, /line 1/],
    ["a b: hunter2", /line 1/],
    ["Content-Type: hunter2", /names in line 1 a field that is set already/],
    ["transfer-encoding: hunter2", /set already/],
    ["a: hunter2\nA: hunter2", /names in line 2 a field of an earlier line/],
    [`a: ${"x".repeat(20_000)}`, /is larger than 16384 bytes/],
  ])("is refused as %j, without a word of it", async (text, fault) => {
    const message = String(await load(text));
    expect(message).toMatch(fault);
    expect(message).toMatch(/^telemetry\.headers-file: \//);
    expect(message).not.toMatch(/h[uü]n.?ter2/);
  });

  it("is refused when every user may read it, or when it is missing", async () => {
    expect(await load("a: hunter2", 0o604)).toMatch(/holds a secret and every user may open it/);
    rmSync(path);
    const missing = Effect.flip(loadCollectorHeaders(path));
    expect((await Effect.runPromise(missing)).message).toMatch(/does not exist/);
  });

  it("need not be there", async () => {
    expect(await Effect.runPromise(loadCollectorHeaders(undefined))).toEqual({});
  });
});
