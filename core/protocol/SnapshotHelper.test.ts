import { describe, expect, it } from "vitest";
import { crypto, founded } from "../../properties/cluster/Cluster.ts";
import { announcedBy } from "../../properties/cluster/Forging.ts";
import { prepared } from "../../properties/cluster/Prepared.ts";
import { register } from "../../properties/cluster/Restoring.ts";
import { heard, openStep } from "../../properties/cluster/OpenStep.ts";
import type { Digest } from "../base/Digest.ts";
import { slotKey } from "./Tables.ts";
import { type RowView, type Rows } from "../Tables.ts";
import { Step } from "./Step.ts";
import type { MessageOf } from "../Message.ts";
import { nextSpan } from "./SnapshotSpan.ts";
import { freshRecovery } from "./TakingOver.ts";

const cluster = founded();
register(cluster, "alice", 7);
register(cluster, "bob", 8);
const [NONCE, OTHER] = ["ab", "cd"].map((each) => each.repeat(32) as Digest) as [Digest, Digest];
const restored = announcedBy(cluster, 3, 5);
const { recoveryId } = restored.restoration;

/** A step of the second member, which has the incarnation of the asking third on record, with some differences. */
const helping = (become: (step: Step) => void = () => undefined, of = cluster): Step => {
  const step = openStep(of, 2);
  step.edit("signed", "seen").set(3, { peerId: 3, incarnation: 5, newest: undefined, restored });
  become(step);
  return step;
};
const offers = (step: Step, change: Partial<MessageOf<"SnapshotRequest">> = {}): ReadonlyArray<unknown> => {
  return heard(step, 3, { _tag: "SnapshotRequest", recoveryId, nonce: NONCE, after: "", here: undefined, ...change })
    .thenSend;
};

/** The same step with other slots on its disk. */
const withSlots = ({ state, context }: Step, slots: ReadonlyArray<readonly [string, Rows["slots"]]>): Step => {
  const { view } = context;
  const scan: RowView["scan"] = (_table, after, limit) =>
    slots
      .filter(([key]) => key > after)
      .slice(0, limit)
      .map(([key, row]) => ({ key, row })) as never;
  return new Step(state, { ...context, view: { get: (table, key) => view.get(table, key), scan } });
};

describe("a member that is asked for what it has decided", () => {
  const itemAt = (seq: number) => {
    const { proposalId = OTHER } = cluster.row(2, "slots", slotKey(1, seq)) ?? {};
    const certificate = cluster.row(2, "certificates", proposalId);
    return { key: slotKey(1, seq), proposalId, certificate, writerReceipt: undefined };
  };

  it("gives its slots after the last one asked for, and what its registry comes to", () => {
    const step = helping();
    const { set } = step.state.registry;
    const cutoff = { topologyDigest: step.membership.digest, root: crypto.setDigest(set), count: 2 };
    const offer = { _tag: "SnapshotOffer", recoveryId, nonce: NONCE, cutoff, upTo: undefined };
    const sent = (after: string, items: ReadonlyArray<unknown>) => [
      { _tag: "Send", to: 3, message: { ...offer, after, items } },
    ];
    expect(itemAt(1).certificate).toBeDefined();
    expect(offers(step)).toEqual(sent("", [itemAt(1), itemAt(2)]));
    expect(offers(helping(), { after: slotKey(1, 1) })).toEqual(sent(slotKey(1, 1), [itemAt(2)]));
  });

  it("gives what was aborted with the writer's receipt, and nothing of what has not come to an end", () => {
    const writerReceipt = itemAt(1).certificate?.receipts[0];
    const row = (outcome: Rows["slots"]["outcome"]): Rows["slots"] => ({
      proposalId: OTHER,
      outcome,
      ack: undefined,
      writerReceipt,
    });
    const step = withSlots(helping(), [
      [slotKey(1, 1), row("ABORTED")],
      [slotKey(1, 2), row("REFUSED")],
    ]);
    const items = [{ key: slotKey(1, 1), proposalId: OTHER, certificate: undefined, writerReceipt }];
    expect(offers(step)).toMatchObject([{ message: { items } }]);
  });

  /** What the asking member has: another slot beside those of the cluster, in place of one, or only some of them. */
  const spanOf = (slots: ReadonlyArray<readonly [string, Rows["slots"]]>) => nextSpan(withSlots(helping(), slots), "");
  const slotAt = (seq: number): readonly [string, Rows["slots"]] => {
    const row = cluster.row(2, "slots", slotKey(1, seq));
    if (row === undefined) throw new Error(`slot ${seq} is bound`);
    return [slotKey(1, seq), row];
  };
  const [first, second] = [slotAt(1), slotAt(2)];

  it.each([
    ["all of its slots", [first, second]],
    ["the first of its slots", [first]],
  ] as const)("says so to who has %s, and gives none of them", (_what, slots) => {
    const here = spanOf(slots);
    const alike = here?.digest;
    expect(alike).toBeDefined();
    expect(offers(helping(), { here })).toMatchObject([{ message: { alike, upTo: slots.at(-1)?.[0], items: [] } }]);
  });

  const aborted = { ...second[1], outcome: "ABORTED" as const };
  it.each<readonly [string, ReadonlyArray<readonly [string, Rows["slots"]]>]>([
    ["another proposal", [first, [second[0], { ...second[1], proposalId: OTHER }]]],
    ["another outcome", [first, [second[0], aborted]]],
    ["one less", [second]],
    ["one more", [first, second, [slotKey(1, 3), aborted]]],
  ])("gives its slots to who has %s", (_what, slots) => {
    const here = spanOf(slots);
    expect(here).toBeDefined();
    expect(offers(helping(), { here })).toMatchObject([
      { message: { alike: undefined, items: [itemAt(1), itemAt(2)], upTo: undefined } },
    ]);
  });

  it("says that it is being restored itself where both have the same, too", () => {
    const step = openStep(cluster, 2);
    const [ofWriter, own] = [announcedBy(cluster, 1, 5), announcedBy(cluster, 2, 5)];
    step.edit("signed", "seen").set(1, { peerId: 1, incarnation: 5, newest: undefined, restored: ofWriter });
    step.draft("rejoining").restored = own;
    step.draft("rejoining").recovery = freshRecovery("the test");
    const here = spanOf([first, second]);
    const asked = { recoveryId: ofWriter.restoration.recoveryId, nonce: NONCE, after: "", here };
    expect(heard(step, 1, { _tag: "SnapshotRequest", ...asked }).thenSend).toMatchObject([
      { message: { alike: here?.digest, own: { recoveryId: own.restoration.recoveryId } } },
    ]);
  });

  it("compares 64 slots at a time, and none that are not all decided", () => {
    const slots = Array.from({ length: 65 }, (_, at) => [slotKey(1, at + 1), aborted] as const);
    expect(spanOf(slots)?.upTo).toBe(slotKey(1, 64));
    expect(spanOf([first, [second[0], { ...second[1], outcome: "REFUSED" }]])).toBeUndefined();
    expect(spanOf([])).toBeUndefined();
  });

  it.each([
    [15, undefined],
    [16, slotKey(1, 16)],
    [17, slotKey(1, 16)],
  ])("of %i slots gives 16 at a time, and says how far they go where there may be more", (count, upTo) => {
    const slots = Array.from(
      { length: count },
      (_, at) =>
        [
          slotKey(1, at + 1),
          { proposalId: OTHER, outcome: "ABORTED", ack: undefined, writerReceipt: undefined },
        ] as const,
    );
    const step = withSlots(helping(), slots);
    expect(offers(step)).toMatchObject([{ message: { upTo, items: { length: Math.min(count, 16) } } }]);
  });

  const other = {
    peerId: 3,
    incarnation: 6,
    newest: undefined,
    restored: announcedBy(cluster, 3, 6, { recoveryId: OTHER }),
  };

  it.each<readonly [string, (step: Step) => void]>([
    ["is sealed", (step) => void (step.draft("fitness").unsealed = false)],
    ["has not joined", (step) => void step.edit("rejoining", "unproven").add(1)],
    ["is being restored itself", (step) => void (step.draft("rejoining").recovery = freshRecovery("the test"))],
    ["has another incarnation of who asks on record", (step) => void step.edit("signed", "seen").set(3, other)],
    [
      "has its first incarnation on record",
      (step) => void step.edit("signed", "seen").set(3, { ...other, restored: undefined }),
    ],
  ])("gives nothing where it %s", (_who, become) => {
    expect(offers(helping(become))).toEqual([]);
  });

  it("gives nothing while something is undecided there: that could still change the root", () => {
    const { cluster: undecided } = prepared();
    expect(offers(helping(() => undefined, undecided))).toEqual([]);
    expect(offers(helping((step) => step.edit("undecided", "preparations").clear(), undecided))).toHaveLength(1);
  });

  it("gives nothing while rows of it are yet to be verified", () => {
    const { state, context } = helping();
    expect(offers(new Step(state, { ...context, isWhole: false }))).toEqual([]);
    expect(offers(new Step(state, context))).toHaveLength(1);
  });
});
