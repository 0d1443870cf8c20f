import { describe, expect, it } from "vitest";
import { approverIn } from "../../properties/cluster/AlteredEffects.ts";
import { crypto } from "../../properties/cluster/Cluster.ts";
import { heard, type WholeStep, wholeStep } from "../../properties/cluster/OpenStep.ts";
import type { Digest } from "../base/Digest.ts";
import { CAPACITIES } from "../base/Capacities.ts";
import type { Transfer } from "./RecoveryState.ts";
import type { RefusedProposal } from "./Undecided.ts";
import { replaceApprover } from "../commands/approvers/Root.ts";
import { type RowView, SELF, slotKey } from "./Tables.ts";
import { onRecoverTimer } from "./Recovery.ts";
import { nextSpan } from "./SnapshotSpan.ts";
import { onSnapshotOffer } from "./TakingOver.ts";
import type { PeerId } from "./Topology.ts";
import {
  AT,
  OTHER,
  alices,
  cluster,
  ended,
  moved,
  offer,
  receipt,
  recovering,
  sent,
  transfer,
  underWay,
} from "../../properties/cluster/BeingRestored.ts";

describe("an offered page", () => {
  it("is installed, and the next one asked for after it; with the last the registry is added up", () => {
    const step = recovering();
    onSnapshotOffer(step, 1, { ...offer, upTo: slotKey(1, 1) });
    expect(step.state.rejoining.recovery?.transfer).toMatchObject({ after: slotKey(1, 1), applied: 1, sum: undefined });
    expect(sent(step)).toMatchObject([{ to: 1, _tag: "SnapshotRequest", after: slotKey(1, 1) }]);
    const last = recovering(moved({ movedAt: 0 }));
    onSnapshotOffer(last, 1, offer);
    expect(last.state.rejoining.recovery?.transfer).toMatchObject({
      applied: 1,
      movedAt: AT,
      sum: { after: "", count: 0 },
    });
    expect(sent(last)).toEqual([]);
    expect(last.state.timers.get("recover")).toBe(AT + 1);
  });

  it("that ends a pass in which something was taken away begins another one", () => {
    const step = recovering(moved({ undone: true, applied: 3 }));
    onSnapshotOffer(step, 1, offer);
    expect(step.state.rejoining.recovery?.transfer).toMatchObject({
      after: "",
      undone: false,
      isAgain: true,
      applied: 0,
      sum: undefined,
    });
    expect([sent(step), step.state.timers.get("recover")]).toEqual([[], AT + 1]);
    // The rows of the step before are committed by now: what is here is said, and not asked for again.
    onRecoverTimer(step);
    expect(step.state.rejoining.recovery?.transfer?.askedAt).toBe(AT);
    const here = nextSpan(step, "");
    expect(here?.upTo).toBe(slotKey(1, 1));
    expect(sent(step)).toMatchObject([{ to: 1, _tag: "SnapshotRequest", after: "", here }]);
  });

  it("that takes something away in that other pass is a lie: the next member is asked", () => {
    const step = recovering(moved({ isAgain: true }));
    onSnapshotOffer(step, 1, { ...offer, items: [] });
    expect(step.state.rejoining.recovery).toMatchObject({ transfer: undefined, distrusted: new Set([1]) });
    expect(step.state.rejoining.recovery?.waitsFor).toBe("peer 1 leaves out what it offered before");
    const whole = recovering(moved({ isAgain: true }));
    onSnapshotOffer(whole, 1, offer);
    expect(whole.state.rejoining.recovery?.transfer).toMatchObject({ applied: 1, sum: { count: 0 } });
  });

  it("of a member that is being restored itself, though it said that it was not, is not installed: the next is asked", () => {
    const step = recovering();
    const own = { recoveryId: OTHER, incarnations: [], refused: [], strays: [] };
    onSnapshotOffer(step, 1, { ...offer, own });
    expect(step.state.rejoining.recovery).toMatchObject({ transfer: undefined, distrusted: new Set([1]) });
    expect(ended(step).writes).toEqual([]);
  });

  const sum = { after: "", set: crypto.emptySet, count: 0, revisions: 0, isSound: true };
  it.each<readonly [string, PeerId, Partial<typeof offer>, (step: WholeStep) => void]>([
    ["from another member than the one that was asked", 3, {}, () => undefined],
    ["after another slot", 1, { after: slotKey(1, 1), items: [] }, () => undefined],
    ["for another restore", 1, { recoveryId: OTHER }, () => undefined],
    ["of another round", 1, { nonce: OTHER }, () => undefined],
    [
      "while the registry is added up",
      1,
      {},
      (step) => void (step.draft("rejoining").recovery = { ...underWay, transfer: { ...transfer, sum } }),
    ],
    [
      "where nobody was asked",
      1,
      {},
      (step) => void (step.draft("rejoining").recovery = { ...underWay, transfer: undefined }),
    ],
    ["once it is a member again", 1, {}, (step) => void (step.draft("rejoining").recovery = undefined)],
    ["while it is sealed", 1, {}, (step) => void (step.draft("fitness").unsealed = false)],
    ["before all have the restore on record", 1, {}, (step) => void step.edit("rejoining", "unproven").add(3)],
  ])("is not looked at where it comes %s", (_how, from, change, become) => {
    const step = recovering();
    become(step);
    const before = step.state.rejoining.recovery;
    const { state, writes } = heard(step, from, { ...offer, ...change });
    expect(state.rejoining.recovery).toBe(before);
    expect(writes).toEqual([]);
  });

  it.each<readonly [string, Partial<typeof offer.cutoff>]>([
    ["topology", { topologyDigest: OTHER }],
    ["root", { root: OTHER }],
    ["number of approvers", { count: 2 }],
  ])("of another %s than the member had is not installed, and the next one is asked", (_what, change) => {
    const step = recovering();
    onSnapshotOffer(step, 1, { ...offer, cutoff: { ...offer.cutoff, ...change } });
    expect(step.state.rejoining.recovery).toMatchObject({ transfer: undefined, distrusted: new Set([1]) });
    expect(step.state.rejoining.recovery?.waitsFor).toContain("another registry");
    expect(ended(step).writes).toEqual([]);
  });
});

describe("a page in which something does not hold", () => {
  it("is not installed, and the next member is asked", () => {
    const step = recovering();
    onSnapshotOffer(step, 1, { ...offer, items: offer.items.map((item) => ({ ...item, proposalId: OTHER })) });
    expect(step.state.rejoining.recovery).toMatchObject({ transfer: undefined, distrusted: new Set([1]) });
    expect(step.state.rejoining.recovery?.waitsFor).toContain("what does not hold");
    expect(ended(step).writes).toEqual([]);
  });
});

describe("the registry that was taken over", () => {
  const sum = { after: "", set: crypto.emptySet, count: 0, revisions: 0, isSound: true };
  const added = (change: Partial<Transfer> = {}, become: (step: WholeStep) => void = () => undefined): WholeStep => {
    const step = recovering(moved({ applied: 1, sum, ...change }));
    become(step);
    onRecoverTimer(step);
    return step;
  };

  it("makes the peer a member again where it comes to what was offered", () => {
    const { state, writes } = ended(added());
    expect([state.rejoining.recovery, state.registry.approvers]).toEqual([undefined, 1]);
    expect(crypto.setDigest(state.registry.set)).toBe(transfer.root);
    expect(writes).toContainEqual(
      expect.objectContaining({
        table: "restore",
        key: SELF,
        row: { ...state.rejoining.restored, recovering: false, incarnations: [1, state.signed.chain.incarnation, 1] },
      }),
    );
  });

  it("says how far the slots go, whatever was taken away behind it", () => {
    expect(
      added({ decided: 7 }, (step) => void (step.draft("undecided").decidedSeq = 400)).state.undecided.decidedSeq,
    ).toBe(7);
  });

  it.each<readonly [string, Partial<Transfer>]>([
    ["root", { root: OTHER }],
    ["number of approvers", { count: 2 }],
    ["number of changes", { applied: 2 }],
  ])("is not believed where it comes to another %s", (_what, change) => {
    const { state } = added(change);
    expect(state.rejoining.recovery).toMatchObject({ transfer: undefined, distrusted: new Set([1]) });
    expect(state.rejoining.recovery?.waitsFor).toContain("does not come to its root");
  });

  it("is added up a part at a time", () => {
    const proposal = offer.items[0]?.certificate?.proposal;
    const row = proposal && cluster.row(2, "approvers", approverIn(proposal).ref);
    if (row === undefined) throw new Error("alice is registered");
    const rows = Array.from({ length: 65 }, (_, at) => ({ key: `${1_000 + at}`, row: { ...row, revision: at + 1 } }));
    const set = rows.reduce((all, each) => replaceApprover(crypto, all, undefined, each.row), crypto.emptySet);
    const applied = (65 * 66) / 2;
    const start = recovering(moved({ root: crypto.setDigest(set), count: 65, applied, sum }));
    const { view } = start.context;
    const scan: RowView["scan"] = (table, after, limit) =>
      ((table as string) === "approvers" ? rows : []).filter(({ key }) => key > after).slice(0, limit) as never;
    const step = wholeStep(start.state, {
      ...start.context,
      view: { get: (table, key) => view.get(table, key), scan },
    });
    onRecoverTimer(step);
    expect(step.state.rejoining.recovery?.transfer?.sum).toMatchObject({
      after: "approvers/1063",
      count: 64,
      revisions: 2_080,
    });
    expect(step.state.timers.get("recover")).toBe(AT + 1);
    onRecoverTimer(step);
    expect([step.state.rejoining.recovery, step.state.registry.approvers]).toEqual([undefined, 65]);
  });

  it("knows of no slots that nobody votes on yet: a writer may have lied about them", () => {
    const far = (step: WholeStep): void => void (step.draft("undecided").highSeq = 1_000);
    expect(added({ decided: 1 }, far).state.undecided.highSeq).toBe(CAPACITIES.slotWindow);
    const atWriter = added({ decided: 1 }, (step) => {
      far(step);
      step.draft("cluster").membership = { ...step.membership, writer: 2 };
    });
    expect(atWriter.state.undecided.highSeq).toBe(CAPACITIES.slotWindow);
  });

  it("ends refusals of what was decided elsewhere; the others stay, and bind no slot", () => {
    const refused = (id: Digest, seq: number): RefusedProposal => ({
      id,
      proposal: { epoch: 1, seq },
      bindsSlot: true,
      writerReceipt: receipt,
      votes: new Map(),
      preparedAt: 0,
      askedAt: 0,
    });
    const step = added({}, (each) => {
      each.edit("undecided", "refused").set(alices, refused(alices, 1)).set(OTHER, refused(OTHER, 2));
    });
    expect([...step.state.undecided.refused.values()]).toEqual([{ ...refused(OTHER, 2), bindsSlot: false }]);
    const { writes } = ended(step);
    expect(writes.filter(({ table }) => table === "refusals")).toEqual([
      { op: "remove", table: "refusals", key: alices },
    ]);
    expect(step.state.timers.has("resolve")).toBe(true);
  });
});
