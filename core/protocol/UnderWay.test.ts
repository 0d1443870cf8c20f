import { expect, it } from "vitest";
import { approverIn } from "../../properties/cluster/AlteredEffects.ts";
import { prepared } from "../../properties/cluster/Prepared.ts";
import { openStep } from "../../properties/cluster/OpenStep.ts";
import { metadataLock, refLock } from "../commands/approvers/Locks.ts";
import type { Digest } from "../base/Digest.ts";
import type { Delivery } from "./Undecided.ts";
import { holderOf, underWay } from "./UnderWay.ts";

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

it("what is being aborted is not under way, and holds its locks; before its receipt it is not known what does", () => {
  const step = openStep(cluster, 1);
  step.edit("undecided", "preparations").clear();
  expect(holderOf(step.state, lock)).toBeUndefined();
  const { writerReceipt, preparedAt, askedAt } = preparation;
  step
    .edit("undecided", "aborting")
    .set(id, { id, proposal, writerReceipt, votes: [], acks: new Map(), preparedAt, askedAt });
  expect(underWay(step.state, lock)).toBeUndefined();
  expect(holderOf(step.state, lock)).toBe(proposal);
  expect(holderOf(step.state, metadataLock("another"))).toBeUndefined();
});
