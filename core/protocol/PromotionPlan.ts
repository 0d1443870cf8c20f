/** What an operator asks for: the members of the next epoch, the source among them, and how many of them sign. */
import type { BodyFault } from "../base/Rejection.ts";
import { Limits } from "../base/Limits.ts";
import type { Draft, Promoted } from "./PromotionDraft.ts";
import type { Step } from "./Step.ts";

export interface PromotionPlan {
  /** In any order. */
  readonly members: ReadonlyArray<Promoted>;
  readonly threshold: number;
}

/** The same plan with its members in the order of a topology. */
export const inOrder = ({ members, threshold }: PromotionPlan): PromotionPlan => ({
  members: members.toSorted((left, right) => left.peerId - right.peerId),
  threshold,
});

/** Whether two plans make the same cluster; both in order. */
export const isSamePlan = (left: PromotionPlan, right: Pick<Draft, "members" | "threshold">): boolean =>
  left.threshold === right.threshold &&
  left.members.length === right.members.length &&
  left.members.every(
    ({ peerId, identityKey }, index) =>
      peerId === right.members[index]?.peerId && identityKey === right.members[index].identityKey,
  );

/** What is wrong with a plan by itself, for this peer as its source; pointers are into the plan. */
export const planFaults = (step: Step, { members, threshold }: PromotionPlan): ReadonlyArray<BodyFault> => {
  const faults: Array<BodyFault> = [];
  const fault = (pointer: string, code: string, detail: string): void => void faults.push({ pointer, code, detail });
  const { peer } = step.state.cluster;
  const own = members.find(({ peerId }) => peerId === peer?.peerId);
  if (members.length < 2 || members.length > Limits.members)
    fault("/members", "out_of_range", `A cluster has between 2 and ${Limits.members} members.`);
  if (own === undefined)
    fault(
      "/members",
      "missing",
      `This peer, ${peer?.peerId ?? 0}, has to be among the members: it holds the registry.`,
    );
  else if (own.identityKey !== peer?.identityKey)
    fault("/members", "mismatch", `The plan gives peer ${own.peerId}, which is this one, another identity key.`);
  members.forEach(({ peerId, identityKey }, index) => {
    const at = `/members/${index}`;
    if (peerId < 1) fault(`${at}/peerId`, "out_of_range", "A peer id is a number from 1.");
    const earlier = members.slice(0, index);
    if (earlier.some((each) => each.peerId === peerId))
      fault(`${at}/peerId`, "duplicate", "Each peer id is there once.");
    if (earlier.some((each) => each.identityKey === identityKey))
      fault(`${at}/identityKey`, "duplicate", "Each peer has an identity key of its own.");
    if (peerId !== own?.peerId && !step.context.settings.peers.includes(peerId))
      fault(`${at}/peerId`, "unreachable", `The configuration of this peer does not say where peer ${peerId} is.`);
  });
  if (threshold <= 1 || threshold > members.length)
    fault("/threshold", "out_of_range", "In a cluster 1 < threshold <= the number of members.");
  return faults;
};
