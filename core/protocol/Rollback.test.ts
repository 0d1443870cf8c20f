import { describe, expect, it } from "vitest";
import { crypto, founded } from "../../properties/cluster/Cluster.ts";
import { announcedBy, forgedBy } from "../../properties/cluster/Forging.ts";
import { register } from "../../properties/cluster/Restoring.ts";
import { heard, openStep } from "../../properties/cluster/OpenStep.ts";
import { slotKey } from "./Tables.ts";
import type { MessageOf } from "../Message.ts";
import type { Step } from "./Step.ts";
import { freshRecovery } from "./TakingOver.ts";
import type { Restoration, SignedRestoration } from "./Restoration.ts";
import { isOwnRestore, quarantineIfBehind, quarantineIfForgotten, quarantineIfRestoredSince } from "./Rollback.ts";
import { batchHash, type SignedStatement } from "./Statement.ts";

const cluster = founded();
register(cluster, "alice", 7);
const { proposalId = "" } = cluster.row(2, "slots", slotKey(1, 1)) ?? {};
const receiptOf = (peerId: number): SignedStatement => {
  const receipt = cluster.row(2, "certificates", proposalId)?.receipts[peerId - 1];
  if (receipt === undefined) throw new Error("alice is registered");
  return receipt;
};
const own = receiptOf(2);
const forgotten = forgedBy(cluster, 2, own, {}, { batchNo: 1_000 });

/** A step of peer 2 in its third incarnation. */
const inThirdIncarnation = (): Step => {
  const step = openStep(cluster, 2);
  step.draft("signed").chain = { ...step.state.signed.chain, incarnation: 3 };
  return step;
};

/** The same while it is being restored. */
const recovering = (): Step => {
  const step = inThirdIncarnation();
  step.draft("rejoining").recovery = freshRecovery("the test");
  return step;
};

const ofIncarnation = (incarnation: number, more: Partial<SignedStatement["header"]> = {}): SignedStatement =>
  forgedBy(cluster, 2, own, {}, { incarnation, ...more });

/** Whether a peer is in quarantine after it was shown this. */
const isOut = (step: Step): boolean => step.state.fitness.quarantine !== undefined;

describe("statements that a peer is shown", () => {
  it("put it in quarantine with one of its own that it does not remember, and are not acted on", () => {
    const step = openStep(cluster, 2);
    expect(quarantineIfForgotten(step, [receiptOf(1), own, forgotten])).toBe(true);
    expect(isOut(step)).toBe(true);
  });

  it("say nothing of it where they are in its chain, or others'", () => {
    const step = openStep(cluster, 2);
    expect(quarantineIfForgotten(step, [own, receiptOf(1), forgedBy(cluster, 3, own)])).toBe(false);
    expect(isOut(step)).toBe(false);
  });

  it.each<readonly [string, SignedStatement]>([
    ["was made for another topology", forgedBy(cluster, 2, own, { topologyDigest: batchHash(crypto, own.header) })],
    ["is not in the batch that it names", { ...forgotten, statement: { ...forgotten.statement, seq: 2 } }],
  ])("say nothing more of it after one that %s", (_why, bad) => {
    const step = openStep(cluster, 2);
    expect(quarantineIfForgotten(step, [bad, forgotten])).toBe(false);
    expect(isOut(step)).toBe(false);
  });

  it("hide none of its own behind one of another member that does not hold", () => {
    const step = openStep(cluster, 2);
    expect(quarantineIfForgotten(step, [{ ...receiptOf(1), index: 1 }, forgotten])).toBe(true);
  });

  it("are not acted on by a peer that is in quarantine already", () => {
    const step = openStep(cluster, 2);
    step.quarantine("the test");
    expect(quarantineIfForgotten(step, [])).toBe(true);
  });

  it("are not acted on by a peer that is to begin another incarnation upon one of them", () => {
    const step = recovering();
    expect(quarantineIfForgotten(step, [own])).toBe(false);
    expect(quarantineIfForgotten(step, [ofIncarnation(3)])).toBe(true);
    expect(isOut(step)).toBe(false);
  });
});

describe("a header that a peer is shown", () => {
  it.each<readonly [string, SignedStatement]>([
    ["of another number than any in its chain", ofIncarnation(3, { batchNo: 1_000 })],
    ["of a number in its chain", ofIncarnation(3)],
    ["of a later incarnation", ofIncarnation(4, { batchNo: 1_000 })],
    ["of a later incarnation with a number in its chain", ofIncarnation(4)],
  ])("puts it in quarantine where it signed it and does not remember: %s", (_which, seen) => {
    const step = inThirdIncarnation();
    quarantineIfBehind(step, seen);
    expect(isOut(step)).toBe(true);
  });

  it.each<readonly [string, SignedStatement | undefined]>([
    ["there is none", undefined],
    ["it is in its chain", own],
    ["it names another member", forgedBy(cluster, 2, own, {}, { incarnation: 3, peerId: 3 })],
    ["it is of an earlier incarnation", ofIncarnation(2)],
    ["another signed it", forgedBy(cluster, 3, own, {}, { incarnation: 3, peerId: 2 })],
    ["it has the signature of another one of its own", { ...ofIncarnation(3), signature: forgotten.signature }],
    ["it has the signature of one in its chain", { ...ofIncarnation(3, own.header), signature: own.signature }],
  ])("says nothing of it where %s", (_why, seen) => {
    const step = inThirdIncarnation();
    quarantineIfBehind(step, seen);
    expect(isOut(step)).toBe(false);
  });

  it("makes it announce an incarnation above the highest of those while it is being restored", () => {
    const step = recovering();
    for (const incarnation of [2, 5, 4]) quarantineIfBehind(step, ofIncarnation(incarnation));
    expect(step.state.rejoining.recovery?.superseded).toBe(5);
    expect(isOut(step)).toBe(false);
  });
});

const announced = (incarnation: number, change: Partial<Restoration> = {}): SignedRestoration =>
  announcedBy(cluster, 2, incarnation, change);

describe("a member's answer about itself", () => {
  /** The third member's, as it is, but for what it says of the second. */
  const isOutBy = (change: Partial<MessageOf<"Ready">>): boolean => {
    let ready: MessageOf<"Ready"> | undefined;
    const asked = founded();
    asked.tamper = (from, _to, message) => {
      if (message._tag === "Ready" && from === 3) ready = message;
      return message;
    };
    register(asked, "alice", 7);
    if (ready === undefined) throw new Error("the writer has asked");
    return heard(openStep(cluster, 2), 3, { ...ready, ...change }).state.fitness.quarantine !== undefined;
  };

  it("puts a member in quarantine that asks and goes on, where it knows of a later incarnation or a forgotten batch", () => {
    expect(isOutBy({})).toBe(false);
    expect(isOutBy({ recorded: announced(4) })).toBe(true);
    expect(isOutBy({ seen: forgotten })).toBe(true);
    expect(isOutBy({ recorded: announcedBy(cluster, 1, 4), seen: receiptOf(1) })).toBe(false);
  });
});

describe("the incarnation of a peer that a member has on record", () => {
  const knows = (step: Step, recorded: SignedRestoration | undefined): boolean => {
    quarantineIfRestoredSince(step, recorded);
    return isOwnRestore(step.state, recorded);
  };

  const otherId = batchHash(crypto, forgotten.header);

  it("is known where both have none, or the same", () => {
    expect(knows(openStep(cluster, 2), undefined)).toBe(true);
    const step = inThirdIncarnation();
    step.draft("rejoining").restored = announced(3);
    expect(knows(step, announced(3))).toBe(true);
    expect(isOut(step)).toBe(false);
  });

  it.each<readonly [string, SignedRestoration]>([
    ["a later one", announced(4)],
    ["another one of the same number", announced(3, { recoveryId: otherId })],
    ["its own in a later one", announced(4, { recoveryId: batchHash(crypto, receiptOf(1).header) })],
  ])(
    "puts it in quarantine where it is %s, and makes it announce a higher one while it is being restored",
    (_w, incarnation) => {
      const step = inThirdIncarnation();
      step.draft("rejoining").restored = announced(3, { recoveryId: batchHash(crypto, receiptOf(1).header) });
      expect(knows(step, incarnation)).toBe(false);
      expect(isOut(step)).toBe(true);
      const restoring = recovering();
      expect(knows(restoring, incarnation)).toBe(false);
      expect(isOut(restoring)).toBe(false);
      expect(restoring.state.rejoining.recovery?.superseded).toBe(incarnation.restoration.incarnation);
    },
  );

  it.each<readonly [string, SignedRestoration | undefined]>([
    ["it has none on record", undefined],
    ["it is an earlier one", announced(2)],
    ["it is another member's", announcedBy(cluster, 3, 4)],
    ["another member signed it", announcedBy(cluster, 3, 4, { peerId: 2 })],
    ["it was announced to another topology", announced(4, { topologyDigest: otherId })],
  ])("is not known, and proves nothing, where %s", (_why, incarnation) => {
    const step = inThirdIncarnation();
    step.draft("rejoining").restored = announced(3, { recoveryId: otherId });
    expect(knows(step, incarnation)).toBe(false);
    expect(isOut(step)).toBe(false);
  });
});
