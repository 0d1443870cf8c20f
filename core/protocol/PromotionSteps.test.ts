import { describe, expect, it } from "vitest";
import { type Cluster, codeOf, crypto } from "../../properties/cluster/Cluster.ts";
import {
  answeredWith,
  expectDone,
  lost,
  modesOf,
  planOf,
  promote,
  stageAt,
  withApprover,
} from "../../properties/cluster/Promoting.ts";
import { copyOf, stateOf } from "../../properties/cluster/Restoring.ts";
import type { Digest, PublicKey, Signature } from "../base/Digest.ts";
import type { Message } from "../Message.ts";
import { promotionStatus } from "./PromotionStatus.ts";

const OTHER = "ab".repeat(32) as PublicKey;
const faultsAt = (cluster: Cluster, peerId: number): ReadonlyArray<string> => [
  ...stateOf(cluster, peerId).cluster.founding.faults.values(),
];

const FORGED = "cd".repeat(64) as Signature;

/** Messages of this kind are changed on their way, or lost. */
const altering =
  <T extends Message["_tag"]>(
    tag: T,
    change: (message: Extract<Message, { _tag: T }>, to: number) => Message | undefined,
  ) =>
  (_from: number, to: number, message: Message): Message | undefined =>
    message._tag === tag ? change(message as Extract<Message, { _tag: T }>, to) : message;

describe("a source", () => {
  it("refuses changes by name from the moment it has pinned a draft, and serves reads", () => {
    const cluster = withApprover();
    cluster.tamper = lost("Promotion.Draft");
    promote(cluster);
    cluster.pass(500);
    cluster.register(2, "late", "bob", 2);
    cluster.pass(500);
    expect(cluster.answers.get("late")).toMatchObject({
      rejection: { members: [{ peerId: 2, reason: expect.stringContaining("it is being promoted") }] },
    });
    expect(promotionStatus(stateOf(cluster, 2))).toMatchObject({
      stage: "PINNED",
      accepted: [],
      waitsFor: "peers 1, 3 to accept",
    });
    cluster.tamper = (_from, _to, message) => message;
    cluster.pass(10_000);
    expectDone(cluster);
  });

  it("goes on after a restart at any step, and so does any target", () => {
    for (const stop of [
      "Promotion.Draft",
      "Promotion.Accepted",
      "Promotion.Decided",
      "SnapshotOffer",
      "Promotion.Installed",
    ] as const)
      for (const peerId of [1, 2, 3]) {
        const cluster = withApprover();
        cluster.tamper = lost(stop);
        promote(cluster);
        cluster.pass(3_000);
        expect(stageAt(cluster, 2)).not.toBe("DONE");
        cluster.start(peerId);
        cluster.tamper = (_from, _to, message) => message;
        cluster.pass(15_000);
        expectDone(cluster);
      }
  });

  it("decides with signatures that hold, each of its target, and with no others", () => {
    const cluster = withApprover();
    cluster.tamper = altering("Promotion.Accepted", (message) => ({ ...message, signature: FORGED }));
    promote(cluster);
    cluster.pass(2_000);
    expect(stageAt(cluster, 2)).toBe("PINNED");
    cluster.tamper = altering("Promotion.Accepted", (message) => ({
      ...message,
      transferId: OTHER as string as Digest,
    }));
    cluster.pass(2_000);
    expect(stageAt(cluster, 2)).toBe("PINNED");
    cluster.tamper = (from, _to, message) =>
      message._tag === "Promotion.Accepted" && from === 3 ? undefined : message;
    cluster.pass(2_000);
    expect(promotionStatus(stateOf(cluster, 2))).toMatchObject({
      stage: "PINNED",
      accepted: [1],
      waitsFor: "peer 3 to accept",
    });
    cluster.tamper = (_from, _to, message) => message;
    cluster.pass(10_000);
    expectDone(cluster);
  });

  it("names a target that refuses its draft, and asks it again", () => {
    const cluster = withApprover();
    cluster.tamper = altering("Promotion.Draft", (message) => ({ ...message, draft: { ...message.draft, source: 3 } }));
    promote(cluster);
    cluster.pass(1_000);
    // A draft of another id is refused under that id, which is not the source's.
    expect(promotionStatus(stateOf(cluster, 2))?.refused).toEqual([]);
    expect(cluster.row(1, "transfer", "self")).toBeUndefined();
    const told = altering("Promotion.Accepted", ({ identityKey, transferId }) => ({
      _tag: "Promotion.Refused",
      identityKey,
      transferId,
      fault: "the test",
    }));
    cluster.tamper = told;
    cluster.pass(1_000);
    expect(promotionStatus(stateOf(cluster, 2))?.refused).toEqual([
      { peerId: 1, reason: "the test" },
      { peerId: 3, reason: "the test" },
    ]);
    cluster.tamper = (_from, _to, message) => message;
    cluster.pass(10_000);
    expect(promotionStatus(stateOf(cluster, 2))?.refused).toEqual([]);
    expectDone(cluster);
  });

  it("signs nothing and takes no part before every target has said, under its own key, that it has the registry", () => {
    const cluster = withApprover();
    cluster.tamper = altering("Promotion.Installed", (message) => ({ ...message, identityKey: OTHER }));
    promote(cluster);
    cluster.pass(10_000);
    expect(modesOf(cluster)).toEqual(["active", "promoting", "active"]);
    const { batchNo } = stateOf(cluster, 2).signed.chain;
    cluster.register(1, "early", "bob", 2);
    cluster.pass(1_000);
    expect(cluster.answers.get("early")).toMatchObject({
      rejection: { members: [{ peerId: 2, reason: "it is promoting" }] },
    });
    cluster.tamper = (_from, to, message) =>
      message._tag === "Promotion.Installed" && to === 2 && _from === 3 ? undefined : message;
    cluster.pass(1_000);
    expect(promotionStatus(stateOf(cluster, 2))).toMatchObject({
      stage: "DECIDED",
      installed: [1],
      waitsFor: "peer 3 to take the registry",
    });
    expect(stateOf(cluster, 2).signed.chain.batchNo).toBe(batchNo);
    cluster.tamper = (_from, _to, message) => message;
    cluster.pass(2_000);
    expectDone(cluster);
    cluster.register(1, "then", "bob", 2);
    cluster.pass(1_000);
    expect(codeOf(cluster, "then")).toBe("Registered");
  });

  it("shows its stored quorum before and after", () => {
    const cluster = withApprover();
    expect(stateOf(cluster, 2).cluster.peer).toMatchObject({ threshold: 1, total: 1 });
    promote(cluster);
    cluster.pass(10_000);
    expect(stateOf(cluster, 2).cluster.peer).toMatchObject({ threshold: 2, total: 3 });
    expect(cluster.row(2, "peer", "self")).toMatchObject({ threshold: 2, total: 3 });
  });
});

describe("a target", () => {
  it("is bound to one draft for ever, and a repetition of it writes nothing", () => {
    const cluster = withApprover();
    const untouched = copyOf(cluster.tables.get(2));
    cluster.tamper = lost("Promotion.Accepted");
    promote(cluster);
    cluster.pass(1_000);
    const { transferId } = answeredWith(cluster) ?? expect.fail("it is pinned");
    const rows = cluster.committed.filter(({ peerId }) => peerId !== 2).length;
    cluster.pass(3_000);
    expect(cluster.committed.filter(({ peerId }) => peerId !== 2)).toHaveLength(rows);
    // The source has lost what it pinned, and is asked again: that is another transfer.
    cluster.tables.set(2, untouched);
    cluster.start(2);
    cluster.pass(100);
    promote(cluster, "again");
    cluster.settle();
    expect(cluster.answers.get("again")).toMatchObject({
      rejection: {
        code: "PROMOTION_REFUSED",
        members: [
          { peerId: 1, reason: `it is bound to the promotion ${transferId}, for ever` },
          { peerId: 3, reason: `it is bound to the promotion ${transferId}, for ever` },
        ],
      },
    });
  });

  it.each<readonly [string, (message: Extract<Message, { _tag: "Promotion.Draft" }>) => Message]>([
    [
      "that its sender's instance did not sign",
      (message) => ({ ...message, previous: { ...message.previous, signatures: [FORGED] } }),
    ],
    [
      "of another cluster",
      (message) => ({ ...message, draft: { ...message.draft, clusterId: OTHER as string as Digest } }),
    ],
    ["that skips an epoch", (message) => ({ ...message, draft: { ...message.draft, epoch: 3 } })],
    [
      "without its source",
      (message) => ({
        ...message,
        draft: { ...message.draft, members: message.draft.members.filter(({ peerId }) => peerId !== 2) },
      }),
    ],
    [
      "with its members in disorder",
      (message) => ({ ...message, draft: { ...message.draft, members: message.draft.members.toReversed() } }),
    ],
  ])("refuses a draft %s", (_what, change) => {
    const cluster = withApprover();
    const faults: Array<string> = [];
    cluster.tamper = (from, to, message) => {
      if (message._tag === "Promotion.Refused") faults.push(message.fault);
      return altering("Promotion.Draft", change)(from, to, message);
    };
    promote(cluster);
    cluster.pass(1_000);
    expect(faults.length).toBeGreaterThan(0);
    expect(cluster.row(1, "transfer", "self")).toBeUndefined();
    expect(cluster.row(1, "genesis", "self")).toBeUndefined();
    cluster.tamper = (_from, _to, message) => message;
    cluster.pass(10_000);
    expectDone(cluster);
  });

  it("believes a decision that every member has signed, and no other", () => {
    const cluster = withApprover();
    cluster.tamper = altering("Promotion.Decided", (message) => ({
      ...message,
      pinned: { ...message.pinned, signatures: message.pinned.signatures.with(0, FORGED) },
    }));
    promote(cluster);
    cluster.pass(2_000);
    expect(modesOf(cluster)).toEqual(["founding", "promoting", "founding"]);
    cluster.tamper = altering("Promotion.Decided", (message) => ({
      ...message,
      draft: { ...message.draft, root: OTHER as string as Digest },
    }));
    cluster.pass(2_000);
    expect(modesOf(cluster)).toEqual(["founding", "promoting", "founding"]);
    cluster.tamper = (_from, _to, message) => message;
    cluster.pass(10_000);
    expectDone(cluster);
  });

  it("takes no other registry than the one of the draft, whatever its source offers", () => {
    const cluster = withApprover();
    cluster.tamper = altering("Ready", (message) =>
      message.mode === "promoting" ? { ...message, registryRoot: OTHER as string as Digest } : message,
    );
    promote(cluster);
    cluster.pass(10_000);
    expect(modesOf(cluster)).toEqual(["recovering", "promoting", "recovering"]);
    expect(stateOf(cluster, 1).rejoining.recovery?.waitsFor).toContain("not the one that was promised");
    cluster.tamper = altering("SnapshotOffer", (message) => ({
      ...message,
      items: message.items.map((item) => ({
        ...item,
        certificate: item.certificate && {
          ...item.certificate,
          proposal: { ...item.certificate.proposal, seq: item.certificate.proposal.seq + 1 },
        },
      })),
    }));
    cluster.pass(5_000);
    expect(modesOf(cluster)).toEqual(["recovering", "promoting", "recovering"]);
    cluster.tamper = (_from, _to, message) => message;
    cluster.pass(10_000);
    expectDone(cluster);
  });

  it("takes no other registry from a source that calls itself a member like any other", () => {
    const cluster = withApprover();
    const root = crypto.setDigest(crypto.emptySet);
    cluster.tamper = (_from, _to, message) => {
      if (message._tag === "Ready" && message.mode === "promoting")
        return { ...message, mode: "active", registryRoot: root, approvers: 0 };
      if (message._tag !== "SnapshotOffer") return message;
      return { ...message, cutoff: { ...message.cutoff, root, count: 0 }, items: [] };
    };
    promote(cluster);
    cluster.pass(2_000);
    expect(modesOf(cluster)).toEqual(["recovering", "promoting", "recovering"]);
    expect(cluster.row(1, "readable", "self")).toBeUndefined();
    cluster.tamper = (_from, _to, message) => message;
    cluster.pass(10_000);
    expectDone(cluster);
  });

  it("that lost its disk after it had accepted comes in with the decision, and after the end too", () => {
    const cluster = withApprover();
    const blank = copyOf(cluster.tables.get(3));
    promote(cluster);
    cluster.pass(10_000);
    expectDone(cluster);
    cluster.tables.set(3, copyOf(blank));
    cluster.start(3);
    cluster.pass(15_000);
    expectDone(cluster);
    cluster.register(3, "then", "bob", 2);
    cluster.pass(1_000);
    expect(codeOf(cluster, "then")).toBe("Registered");
  });

  it("that is initialized again before the decision says why it refuses the draft", () => {
    const cluster = withApprover();
    cluster.tamper = lost("Promotion.Draft");
    promote(cluster);
    cluster.pass(1_000);
    const peer = cluster.row(3, "peer", "self") ?? expect.fail("it is initialized");
    Object.assign(stateOf(cluster, 3).cluster, { peer: { ...peer, identityKey: OTHER } });
    cluster.tamper = (_from, _to, message) => message;
    cluster.pass(1_000);
    expect(faultsAt(cluster, 3)).toContainEqual(
      "peer 2 offers a promotion: the plan gives it another id or another identity key",
    );
  });

  it("that is initialized again is told that the cluster has another in its place", () => {
    const cluster = withApprover();
    cluster.tamper = altering("Promotion.Decided", (message, to) =>
      to === 3
        ? { ...message, pinned: { ...message.pinned, signatures: message.pinned.signatures.toReversed() } }
        : message,
    );
    promote(cluster);
    cluster.pass(2_000);
    const peer = cluster.row(3, "peer", "self") ?? expect.fail("it is initialized");
    Object.assign(stateOf(cluster, 3).cluster, { peer: { ...peer, identityKey: OTHER } });
    expect(faultsAt(cluster, 3)).toEqual([]);
    cluster.tamper = (_from, _to, message) => message;
    cluster.pass(2_000);
    expect(faultsAt(cluster, 3)).toContainEqual(
      "peer 2 shows a cluster that was founded with another key for peer 3: this one was wiped, or initialized again",
    );
  });

  it("shows no registry before it has one", () => {
    const cluster = withApprover();
    expect(stateOf(cluster, 1).cluster.promotion.awaits).toBe(2);
    expect(promotionStatus(stateOf(cluster, 1))).toBeUndefined();
    cluster.tamper = lost("Promotion.Decided");
    promote(cluster, "promote", planOf());
    cluster.pass(1_000);
    expect(promotionStatus(stateOf(cluster, 1))).toMatchObject({
      role: "target",
      stage: "ACCEPTED",
      waitsFor: "peer 2 to decide",
    });
    cluster.tamper = lost("SnapshotOffer");
    cluster.pass(1_000);
    expect(promotionStatus(stateOf(cluster, 1))).toMatchObject({ stage: "INSTALLING" });
    cluster.tamper = (_from, _to, message) => message;
    cluster.pass(15_000);
    expect(promotionStatus(stateOf(cluster, 1))).toMatchObject({ stage: "INSTALLED", waitsFor: "" });
  });
});
