import { describe, expect, it } from "vitest";
import type { Digest } from "../base/Digest.ts";
import { type RowView, type Rows } from "./Tables.ts";
import { slotKey } from "./Tables.ts";
import { decisionOf } from "./Decision.ts";

const ID = "01".repeat(32) as Digest;
const OTHER = "02".repeat(32) as Digest;
const place = { epoch: 1, seq: 5 };

/** A disk on which the slot is bound, and perhaps an abort remembered apart from its slot. */
const disk = (slot: Partial<Rows["slots"]>, stray = false): RowView => ({
  get: (table, key) => {
    const row = { proposalId: ID, outcome: "APPLIED", ack: undefined, writerReceipt: undefined, ...slot };
    if (table === "slots" && key === slotKey(1, 5)) return row as never;
    return (stray && table === "strays" && key === ID ? { ack: undefined } : undefined) as never;
  },
  scan: () => [],
});

describe("what has become of a proposal", () => {
  it.each(["APPLIED", "ABORTED"] as const)("is what its slot says: %s", (outcome) => {
    expect(decisionOf(disk({ outcome }), ID, place)).toMatchObject({ outcome, ...place, isStray: false });
  });

  it.each(["PREPARED", "REFUSED"] as const)("is open while its slot says %s", (outcome) => {
    expect(decisionOf(disk({ outcome }), ID, place)).toBeUndefined();
  });

  it("is open where its slot is another's or nobody's, but that its abort may be remembered apart from it", () => {
    expect(decisionOf(disk({}), ID, { epoch: 1, seq: 6 })).toBeUndefined();
    expect(decisionOf(disk({ proposalId: OTHER }), ID, place)).toBeUndefined();
    expect(decisionOf(disk({ proposalId: OTHER }, true), ID, place)).toEqual({
      outcome: "ABORTED",
      ...place,
      isStray: true,
      ack: undefined,
      writerReceipt: undefined,
    });
  });
});
