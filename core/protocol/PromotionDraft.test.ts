import { describe, expect, it } from "vitest";
import { crypto } from "../../properties/cluster/Crypto.ts";
import { draftOf } from "../../properties/cluster/Promoting.ts";
import { Limits } from "../base/Limits.ts";
import { encode } from "../codec/CborWriter.ts";
import { messageCodec } from "../Message.ts";
import { isCluster, topologyOf } from "./PromotionDraft.ts";

const { draft, transferId } = draftOf("PINNED");

describe("a draft", () => {
  it("makes a topology that names it, and another one with anything else in it", () => {
    const topology = topologyOf(crypto, draft);
    expect(topology).toMatchObject({ transferId, firstSlot: draft.firstSlot, prevDigest: draft.oldDigest });
    expect(topologyOf(crypto, { ...draft, approvers: draft.approvers + 1 }).transferId).not.toBe(transferId);
  });

  it("is of a cluster with more than one member and a threshold among them", () => {
    const of = (threshold: number, members = draft.members): boolean => isCluster({ threshold, members });
    expect([1, 2, 3, 4].map((threshold) => of(threshold))).toEqual([false, true, true, false]);
    expect(of(2, draft.members.slice(0, 1))).toBe(false);
    expect(of(2, [...draft.members.slice(0, 1), ...draft.members.slice(0, 1)])).toBe(false);
  });

  it("is refused in as many words as fit", () => {
    const { identityKey } = draft.members[0] ?? expect.fail("it has members");
    const refused = (bytes: number) => ({
      _tag: "Promotion.Refused" as const,
      identityKey,
      transferId,
      fault: "x".repeat(bytes),
    });
    expect(encode(messageCodec, refused(Limits.promotionFaultBytes)).length).toBeGreaterThan(0);
    expect(() => encode(messageCodec, refused(Limits.promotionFaultBytes + 1))).toThrow();
  });
});
