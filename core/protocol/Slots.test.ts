import { describe, expect, it } from "vitest";
import { prepared } from "../../properties/cluster/Prepared.ts";
import { register, stateOf } from "../../properties/cluster/Restoring.ts";
import { openStep } from "../../properties/cluster/OpenStep.ts";
import type { RowView } from "./Tables.ts";
import { continueSlots, highProofOf, noteSlot } from "./Slots.ts";
import { signerOf } from "./Statement.ts";

// Alice is prepared in the second slot, and bob registered in the first.
const { cluster, preparation } = prepared(3, (founded) => register(founded, "bob", 8));
const { view } = openStep(cluster, 2).context;
const {
  cluster: { membership },
} = stateOf(cluster, 2);
if (membership === undefined) throw new Error("the cluster is founded");

it("keeps the highest slot, with what showed it first", () => {
  const { writerReceipt, own } = preparation;
  const step = openStep(cluster, 3);
  noteSlot(step, 5, writerReceipt);
  for (const seq of [4, 5]) noteSlot(step, seq, own);
  expect(step.state.undecided).toMatchObject({ highSeq: 5 });
  expect(step.state.undecided.highProof).toBe(writerReceipt);
});

it("takes what shows the highest slot also where that was only known", () => {
  const step = openStep(cluster, 3);
  continueSlots(step, 1, 6);
  expect(step.state.undecided.highProof).toBeUndefined();
  noteSlot(step, 5, preparation.own);
  expect(step.state.undecided.highProof).toBeUndefined();
  noteSlot(step, 6, preparation.writerReceipt);
  expect(step.state.undecided).toMatchObject({ highSeq: 6, highProof: preparation.writerReceipt });
});

describe("the highest slot is shown", () => {
  it("by the writer's receipt for what is prepared in it", () => {
    expect(highProofOf(view, membership, 2)).toEqual(preparation.writerReceipt);
  });

  it.each([1, 2, 3])("by the writer's receipt in the certificate, where the writer is peer %i", (writer) => {
    const proof = highProofOf(view, { ...membership, writer }, 1);
    expect(proof && [signerOf(proof), proof.statement.seq]).toEqual([writer, 1]);
  });

  it("by nothing where there is none, nothing is known of it, or no topology is pinned", () => {
    expect(highProofOf(view, membership, 0)).toBeUndefined();
    expect(highProofOf(view, membership, 3)).toBeUndefined();
    expect(highProofOf(view, undefined, 1)).toBeUndefined();
    const onlySlots: RowView = {
      get: (table, key) => (table === "slots" ? view.get(table, key) : undefined),
      scan: () => [],
    };
    expect(highProofOf(onlySlots, membership, 2)).toBeUndefined();
  });
});
