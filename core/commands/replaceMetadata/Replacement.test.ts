import { NEWEST } from "../../codec/Versioned.ts";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { Either } from "effect";
import { describe, expect, it } from "vitest";
import { founded } from "../../../properties/cluster/Cluster.ts";
import { openStep } from "../../../properties/cluster/OpenStep.ts";
import type { Digest } from "../../base/Digest.ts";
import type { Standing } from "../../protocol/Command.ts";
import type { RowView, Rows } from "../../Tables.ts";
import { metadataLock } from "../approvers/Locks.ts";
import { replaceMetadata, type ReplaceMetadataEffects, replaceMetadataEffects } from "./ReplaceMetadata.ts";
import { isReplacement, metadataPath, type Replacement, replacementOf } from "./Replacement.ts";

const REF = `alice@sha256:${"ab".repeat(32)}`;
const body = utf8ToBytes('{"metadata":{"team":"b"}}');
const call = (change: { path?: string; method?: string; ifMatch?: string | undefined; rawBody?: Uint8Array } = {}) => ({
  method: "PUT",
  path: metadataPath(REF),
  ifMatch: '"3"',
  rawBody: body,
  ...change,
});
const codeOf = (change: Parameters<typeof call>[0]): string =>
  Either.match(replacementOf(call(change)), { onLeft: ({ code }) => code, onRight: ({ ref }) => ref });

const row: Rows["approvers"] = {
  id: "alice",
  ref: REF,
  descriptor: "{}",
  keyIdentity: "11".repeat(32) as Digest,
  metadata: [["team", "a"]],
  revision: 3,
  createdAt: 1_000,
  updatedAt: 5_000,
};
// Only approvers are looked at.
const view: RowView = {
  get: <T extends keyof Rows>(_table: T, key: string) => (key === REF ? (row as Rows[T]) : undefined),
  scan: () => [],
};
const replacement: Replacement = {
  kind: "METADATA",
  ref: REF,
  locks: [metadataLock(REF)],
  deadline: Number.POSITIVE_INFINITY,
  baseRevision: 3,
  metadata: [["team", "b"]],
};

describe("a replacement's request", () => {
  it("is read from path, If-Match and body", () => {
    expect(replacementOf(call())).toEqual(Either.right(replacement));
  });

  it("may have @ and : raw or encoded in its path, and is decoded once", () => {
    const paths = [REF, REF.replace("@", "%40"), encodeURIComponent(REF), REF.replace("a", "%61")];
    for (const ref of paths) expect(codeOf({ path: `/v1/custody/approvers/${ref}/metadata` }), ref).toBe(REF);
    const twice = encodeURIComponent(encodeURIComponent(REF));
    expect(codeOf({ path: `/v1/custody/approvers/${twice}/metadata` })).toBe("INVALID_REF");
  });

  it.each([
    ["a bare id", "alice"],
    ["a short hash", REF.slice(0, -1)],
    ["an upper-case hash", REF.toUpperCase()],
    ["a broken escape", `${REF}%`],
    ["an encoded slash", `${REF}%2F`],
    ["half a character", "%C3"],
  ])("is refused for %s", (_what, ref) => {
    expect(codeOf({ path: `/v1/custody/approvers/${ref}/metadata` })).toBe("INVALID_REF");
  });

  it("is judged ref first, then body, then If-Match", () => {
    const bad = { rawBody: utf8ToBytes("{}"), ifMatch: undefined };
    expect(codeOf({ ...bad, path: "/v1/custody/approvers/x/metadata" })).toBe("INVALID_REF");
    expect(codeOf(bad)).toBe("INVALID_REQUEST_BODY");
    expect(codeOf({ ifMatch: undefined })).toBe("PRECONDITION_REQUIRED");
    expect(codeOf({ ifMatch: "*" })).toBe("PRECONDITION_FAILED");
  });

  it("is no other request", () => {
    expect(isReplacement(call())).toBe(true);
    const others = [
      { method: "POST" },
      { method: "put" },
      { path: "/v1/custody/approvers//metadata" },
      { path: `/v1/custody/approvers/${REF}/x/metadata` },
      { path: `/v1/custody/approvers/${REF}/metadata/` },
      { path: `/v1/custody/approvers/${REF}` },
      { path: `/v2/custody/approvers/${REF}/metadata` },
    ];
    expect(others.map((each) => isReplacement(call(each)))).toEqual(others.map(() => false));
  });
});

describe("a replacement's standing", () => {
  const { context, membership } = openStep(founded(1), 1);
  const standingOn = (rows: RowView, asked: Replacement): Standing =>
    replaceMetadata.check(
      {
        context: { ...context, view: rows },
        membership,
        isCurrent: () => true,
        isLocked: () => false,
        slice: ({ empty }) => empty,
      },
      asked,
    );
  const effectsAt = (standing: Standing, at: number): ReplaceMetadataEffects | undefined => {
    if (standing._tag !== "Possible") throw new Error(standing._tag);
    return replaceMetadataEffects.decode(standing.effectsAt({ proposedAt: at, version: NEWEST }));
  };

  it("is possible on the current revision, and changes metadata, revision and time only", () => {
    expect(effectsAt(standingOn(view, replacement), 7_000)).toEqual({
      version: NEWEST,
      approver: {
        id: row.id,
        ref: REF,
        descriptor: row.descriptor,
        keyIdentity: row.keyIdentity,
        metadata: [["team", "b"]],
        revision: 4,
        createdAt: 1_000,
        updatedAt: 7_000,
      },
      baseRevision: 3,
    });
  });

  it("never takes the time of the last update back", () => {
    const standing = standingOn(view, replacement);
    const updatedAt = [4_999, 5_000, 5_001].map((at) => effectsAt(standing, at)?.approver.updatedAt);
    expect(updatedAt).toEqual([5_000, 5_000, 5_001]);
  });

  it("is that on the very row: what was made of another one says nothing of it", () => {
    const later: RowView = { ...view, get: <T extends keyof Rows>() => ({ ...row, createdAt: 2_000 }) as Rows[T] };
    const createdIn = [view, later, view].map(
      (each) => effectsAt(standingOn(each, replacement), 7_000)?.approver.createdAt,
    );
    expect(createdIn).toEqual([1_000, 2_000, 1_000]);
  });

  it("is impossible on another revision: for good where that one was passed", () => {
    for (const [baseRevision, isFinal] of [
      [2, true],
      [4, false],
    ] as const) {
      const standing = standingOn(view, { ...replacement, baseRevision });
      expect(standing).toMatchObject({
        _tag: "Impossible",
        isFinal,
        rejection: { code: "PRECONDITION_FAILED", ref: REF },
      });
    }
  });

  it("is impossible where the approver is unknown, as long as it is", () => {
    const ref = REF.replace("a", "b");
    const standing = standingOn(view, { ...replacement, ref });
    expect(standing).toMatchObject({
      _tag: "Impossible",
      isFinal: false,
      rejection: { code: "APPROVER_NOT_FOUND", ref },
    });
  });
});
