import { Either } from "effect";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Digest } from "../../core/base/Digest.ts";
import { auditCrypto, auditRow, hashed } from "../../properties/AuditChains.ts";
import { auditEvent, readAuditEvent } from "./AuditEvent.ts";

/** Any text of at most so many bytes. */
const text = (bytes: number) =>
  fc.string({ unit: "grapheme", maxLength: 40 }).filter((each) => Buffer.byteLength(each) <= bytes);
const whole = fc.oneof(fc.nat(), fc.maxSafeNat());
const digest = fc.stringMatching(/^[0-9a-f]{64}$/).map((hex) => hex as Digest);
const absent = <A>(some: fc.Arbitrary<A>) => fc.option(some, { nil: undefined });

const rows = fc.record({
  version: fc.constant(1),
  id: digest,
  peerId: whole,
  integrityKeyVersion: whole,
  seq: whole,
  prevHash: digest,
  timestamp: whole,
  event: text(64),
  actor: absent(fc.record({ iss: absent(text(1024)), sub: text(1024), jti: absent(text(1024)) })),
  approverRef: absent(text(256)),
  metadataRevision: absent(whole),
  keyId: fc.constant(undefined),
  generation: fc.constant(undefined),
  entryPeer: absent(whole),
  request: absent(fc.record({ method: text(16), path: text(2048), bodyDigest: absent(digest) })),
  outcome: text(64),
  requestId: absent(text(128)),
  detail: text(512),
  times: whole,
});

const throughJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const read = (value: unknown) => readAuditEvent(auditCrypto, value);

/** The paths to everything in a value that holds nothing else. */
const leaves = (value: unknown): ReadonlyArray<ReadonlyArray<string>> =>
  typeof value === "object" && value !== null
    ? Object.entries(value).flatMap(([key, inner]) => leaves(inner).map((path) => [key, ...path]))
    : [[]];

const changed = (value: unknown, [key, ...rest]: ReadonlyArray<string>, change: (leaf: unknown) => unknown): unknown =>
  key === undefined
    ? change(value)
    : Object.fromEntries(
        Object.entries(Object(value)).flatMap(([name, inner]) => {
          const put = name === key ? changed(inner, rest, change) : inner;
          return put === undefined ? [] : [[name, put]];
        }),
      );

/** Another value that passes for one of the same kind. */
const other = (leaf: unknown): unknown =>
  typeof leaf === "number" ? leaf + 1 : `${String(leaf).startsWith("0") ? "1" : "0"}${String(leaf).slice(1)}`;

const event = auditEvent(hashed(auditRow({ actor: { iss: "issuer", sub: "alice", jti: "t" }, requestId: "r" })));

describe("an audit event", () => {
  it("is CloudEvents 1.0 (section 3): source and id name it, and time is its time in RFC 3339", () => {
    expect(event).toMatchObject({
      specversion: "1.0",
      id: "1".repeat(64),
      source: "urn:custody:peer:1",
      type: "custody.audit.APPROVER_REGISTERED",
      subject: `alice@sha256:${"a".repeat(64)}`,
      time: "2023-11-14T22:13:20.000Z",
      datacontenttype: "application/json",
    });
  });

  it("gives the row back with its hash, whatever is in the row", () => {
    fc.assert(
      fc.property(rows, (row) => {
        const written = hashed(row);
        expect(read(throughJson(auditEvent(written)))).toEqual(Either.right(written));
      }),
      { numRuns: 200 },
    );
  });

  it.each(leaves(event).map((path) => [path.join("."), path] as const))(
    "is refused with %s changed, or taken out",
    (_name, path) => {
      expect(Either.isRight(read(event))).toBe(true);
      expect(Either.isLeft(read(changed(event, path, other)))).toBe(true);
      expect(Either.isLeft(read(changed(event, path, () => undefined)))).toBe(true);
    },
  );

  it("says that its content was changed, that its attributes were, or which member is of another form", () => {
    expect(read(changed(event, ["data", "outcome"], other))).toEqual(
      Either.left("it was changed: its content has another hash"),
    );
    expect(read({ ...event, subject: "bob" })).toEqual(
      Either.left("it was changed: its attributes contradict its data"),
    );
    expect(read(changed(event, ["data", "seq"], () => -1))).toEqual(
      Either.left("data.seq is not as this service writes it"),
    );
    expect(Either.isLeft(read({ ...event, more: 1 }))).toBe(true);
    expect(read(changed(event, ["data", "version"], () => 99))).toEqual(
      Either.left("it has version 99, which this program does not know; use a newer one"),
    );
    expect(read(changed(event, ["data", "event"], () => "x".repeat(65)))).toEqual(
      Either.left("it has a value that this service never writes"),
    );
    // Rows before version 3 name no key, and nothing that is put there is in their hash.
    for (const [name, value] of [
      ["keyId", "treasury"],
      ["generation", 7],
    ] as const)
      expect(read({ ...event, data: { ...event.data, context: { ...event.data.context, [name]: value } } })).toEqual(
        Either.left("it was changed: its attributes contradict its data"),
      );
    for (const value of [null, 1, [], "x", {}]) expect(Either.isLeft(read(value))).toBe(true);
  });
});
