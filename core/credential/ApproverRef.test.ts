import { Either } from "effect";
import { describe, expect, it } from "vitest";
import { isApproverId } from "./ApproverId.ts";
import { approverRef, parseApproverRef } from "./ApproverRef.ts";

const digest = "0123456789abcdef".repeat(4);
const codeOf = (text: string) => Either.getOrThrow(Either.flip(parseApproverRef(text))).code;

describe("an approver id", () => {
  it.each(["a", "Z", "0", "alice", "alice.key-1_b", "a".repeat(128), "9.-_"])("may be %s", (id) => {
    expect(isApproverId(id)).toBe(true);
  });

  it.each(["", ".a", "-a", "_a", "a b", "a@b", "a/b", "a:b", "a\n", "\na", "é", "a\u0000", "a".repeat(129), "ａ"])(
    "may not be %j",
    (id) => expect(isApproverId(id)).toBe(false),
  );
});

describe("a ref", () => {
  it.each(["a", "alice.key-1", "a".repeat(128)])("of %s is written and read back", (id) => {
    expect(approverRef(id, digest)).toBe(`${id}@sha256:${digest}`);
    expect(parseApproverRef(approverRef(id, digest))).toEqual(Either.right({ id, digestHex: digest }));
  });

  it.each([
    ["nothing", ""],
    ["a bare id", "alice"],
    ["a bare digest", digest],
    ["a shortened digest", `alice@sha256:${digest.slice(1)}`],
    ["a longer digest", `alice@sha256:${digest}0`],
    ["an upper-case digest", `alice@sha256:${digest.toUpperCase()}`],
    ["a digest with another character", `alice@sha256:${digest.slice(1)}g`],
    ["another hash", `alice@sha512:${digest}`],
    ["an upper-case hash name", `alice@SHA256:${digest}`],
    ["no id", `@sha256:${digest}`],
    ["an id that is none", `.alice@sha256:${digest}`],
    ["an id that is too long", `${"a".repeat(129)}@sha256:${digest}`],
    ["two separators", `alice@sha256:x@sha256:${digest}`],
    ["space before", ` alice@sha256:${digest}`],
    ["a line break after", `alice@sha256:${digest}\n`],
    ["an encoded separator", `alice%40sha256%3A${digest}`],
    ["a million characters", "a".repeat(1_000_000)],
  ])("is refused for %s", (_, text) => expect(codeOf(text)).toBe("INVALID_REF"));

  it("is refused without being quoted", () => {
    expect(JSON.stringify(Either.flip(parseApproverRef("s3cr3t")))).not.toContain("s3cr3t");
  });
});
