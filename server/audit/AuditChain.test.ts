import { expect, it } from "vitest";
import type { Digest } from "../../core/base/Digest.ts";
import { auditChain, auditCrypto, auditEvents } from "../../properties/AuditChains.ts";
import { auditEvent } from "./AuditEvent.ts";
import { AuditChain, type ChainPlace } from "./AuditChain.ts";

const rows = auditChain(6);
const events = rows.map(auditEvent);
const at = (seq: number) => events[seq - 1];
const placeOf = (seq: number): ChainPlace => ({ seq, hash: rows[seq - 1]?.hash });

/** The first fault of a chain, or the chain. */
const taken = (values: ReadonlyArray<unknown>, after?: ChainPlace): AuditChain | string => {
  const chain = new AuditChain(auditCrypto, after);
  for (const value of values) {
    const fault = chain.take(value);
    if (fault !== undefined) return fault;
  }
  return chain;
};

it("is whole from the first event on, with the keys it was sealed with", () => {
  expect(taken(events)).toMatchObject({ peerId: 1, events: 6, repeated: 0, integrityKeyVersions: [1, 2] });
  expect(taken(events)).toMatchObject({ last: placeOf(6) });
});

it("is whole from a place on, if that is where it goes on", () => {
  expect(taken(events.slice(3), placeOf(3))).toMatchObject({ events: 3, last: placeOf(6) });
  expect(taken(events.slice(3), { seq: 3, hash: undefined })).toMatchObject({ events: 3 });
  const wrong = { seq: 3, hash: "f".repeat(64) as Digest };
  expect(taken(events.slice(3), wrong)).toBe(
    "sequence 4: it does not follow sequence 3, but an event with another hash",
  );
  expect(taken(events.slice(3))).toBe("sequence 1: it is missing; sequence 4 comes next");
});

it("has an event again, unchanged, from whoever delivers at least once", () => {
  const again = [1, 2, 3, 2, 3, 4, 5, 5, 6].map(at);
  expect(taken(again)).toMatchObject({ events: 6, repeated: 3, last: placeOf(6) });
});

it("names the event that is missing, out of order, changed, or of another chain", () => {
  expect(taken([1, 2, 4].map(at))).toBe("sequence 3: it is missing; sequence 4 comes next");
  expect(taken([1, 3, 2].map(at))).toBe("sequence 2: it is missing; sequence 3 comes next");
  expect(taken([at(4), at(2)], placeOf(3))).toBe("sequence 2: it comes after sequence 4");
  const edited = { ...at(2), data: { ...at(2)?.data, outcome: "ABORTED" } };
  expect(taken([at(1), edited])).toBe("sequence 2: it was changed: its content has another hash");
  expect(taken([at(1), {}])).toMatch(/^the event after sequence 1: /);
  expect(taken([at(1), auditEvents(6, 2)[1]])).toBe("sequence 2: it is of peer 2, and those before it of peer 1");
  // Of eight events the fourth is sealed with the first key, so these chains part there.
  expect(taken([...events.slice(0, 4), auditEvents(8)[4]])).toBe(
    "sequence 5: it does not follow sequence 4, but an event with another hash",
  );
});

it("names the event that is there with two contents", () => {
  const rest = auditChain(2)[1];
  expect(rest === undefined ? "" : taken([at(1), at(2), auditEvent(rest)])).toBe(
    "sequence 2: it is there twice, with different content",
  );
});
