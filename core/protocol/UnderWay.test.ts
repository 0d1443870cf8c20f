import { expect, it } from "vitest";
import { approverIn } from "../../properties/cluster/AlteredEffects.ts";
import { prepared } from "../../properties/cluster/Prepared.ts";
import { openStep } from "../../properties/cluster/OpenStep.ts";
import { metadataLock, refLock } from "../commands/approvers/Locks.ts";
import type { Digest } from "../base/Digest.ts";
import type { Delivery } from "./Undecided.ts";
import { underWay } from "./UnderWay.ts";

const OTHER = "ab".repeat(32) as Digest;
const { cluster, preparation } = prepared();
const { id, proposal } = preparation;
const lock = refLock(approverIn(proposal).ref);

it("what is prepared is under way, under its own locks alone", () => {
  const { state } = openStep(cluster, 1);
  expect(underWay(state, lock)).toEqual(proposal);
  expect(underWay(state, metadataLock("another"))).toBeUndefined();
});

it("so is what is applied, and not acknowledged by all", () => {
  const step = openStep(cluster, 1);
  step.edit("undecided", "preparations").clear();
  expect(underWay(step.state, lock)).toBeUndefined();
  const delivery = { acks: new Map(), dueAt: 0, isPrunable: false };
  const stranger: Delivery = { ...delivery, id: OTHER, seq: 1_000, proposal: { ...proposal, seq: 1_000 } };
  step
    .edit("undecided", "outbox")
    .set(1_000, stranger)
    .set(proposal.seq, { ...delivery, id, seq: proposal.seq, proposal });
  expect(underWay(step.state, lock)).toBe(proposal);
  expect(underWay(step.state, metadataLock("another"))).toBeUndefined();
});
