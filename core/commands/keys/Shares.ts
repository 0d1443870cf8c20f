/** This peer's own shares: where each belongs, and how it is opened for one step. */
import { Secret } from "../../threshold/Secret.ts";
import type { SharePlace } from "../../threshold/Suite.ts";
import type { Share, ShareIndex } from "../../threshold/ThresholdScheme.ts";
import type { Step } from "../../protocol/Step.ts";
import type { Membership, PeerId } from "../../protocol/Topology.ts";
import { InvariantViolation } from "../../base/Invariant.ts";
import type { Generation } from "./KeyRecord.ts";
import { generationKey, keyRows } from "./Tables.ts";

type Made = Pick<Generation, "keyId" | "generation" | "publicKey" | "group" | "transcript">;

/** Where a member's shares lie on the polynomials. */
export const shareIndexOf = ({ topology }: Membership, peerId: PeerId): ShareIndex => {
  const member = topology.members.find((each) => each.peerId === peerId);
  if (member === undefined) throw new InvariantViolation("S19", `peer ${peerId} is no member`);
  return member.shareIndex;
};

/** The place of this peer's share of a generation. */
export const sharePlaceOf = (step: Step, { keyId, generation, publicKey, group, transcript }: Made): SharePlace => {
  const index = shareIndexOf(step.membership, step.self);
  return {
    clusterId: step.membership.topology.clusterId,
    peerId: step.self,
    keyId,
    generation,
    transcript,
    verifyingShare: group.verifyingShares.find((each) => each.index === index)?.element ?? publicKey,
  };
};

/** Encrypts a share for the rest of its life; `label` is unique among the boxes of this step. */
export const shareBox = (step: Step, made: Made, secret: Secret, label: string): Uint8Array => {
  const { crypto, entropy, shareVault } = step.context;
  if (shareVault === undefined) throw new InvariantViolation("S19", "a sealed peer was asked to store a share");
  return shareVault.seal(sharePlaceOf(step, made), secret, new Secret(crypto.derive(entropy, `share box ${label}`)));
};

/** This peer's share of a generation; undefined where it has none that belongs to it, or is sealed. */
export const openShare = (step: Step, generation: Generation): Share | undefined => {
  const row = keyRows(step.view).get("shares", generationKey(generation.keyId, generation.generation));
  const secret = row && step.context.shareVault?.open(sharePlaceOf(step, generation), row.box);
  return secret && { index: shareIndexOf(step.membership, step.self), secret };
};
