import { Writable } from "node:stream";
import { Effect } from "effect";
import { describe, expect, it } from "vitest";
import { isUnread, jsonLine, writeTo } from "./Output.ts";

describe("a line of JSON", () => {
  it("means what was given, and has nothing that steers a terminal", () => {
    const given = { "\u001b]0;a\u0007": "\u009b31m\u007f", b: ["\u202e\u2028\u200b", "\u{e0001}", "é😀"], c: null };
    const line = jsonLine(given);
    expect(JSON.parse(line)).toEqual(given);
    expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    expect(line).toContain("é😀");
  });
});

describe("a result", () => {
  const failingWith = (code: string): Writable => {
    const error = Object.assign(new Error(code), { code });
    const sink = new Writable({ write: (_chunk, _encoding, done) => done(error) });
    return sink.on("error", () => undefined);
  };

  it("that cannot be written is a failure of the environment", async () => {
    const sink = failingWith("ENOSPC");
    const { kind, message } = await Effect.runPromise(Effect.flip(writeTo(sink, "signature")));
    expect(kind).toBe("usage");
    expect(message).toContain("standard output cannot be written (ENOSPC)");
    expect(isUnread(sink)).toBe(false);
  });

  it("is no failure where its reader went away, which stays known", async () => {
    const sink = failingWith("EPIPE");
    await Effect.runPromise(writeTo(sink, "one"));
    await Effect.runPromise(writeTo(sink, "two"));
    expect(isUnread(sink)).toBe(true);
  });
});
