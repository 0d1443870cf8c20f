/** What all commands that change approvers have in common, as a naive registry sees them. */
import type { Digest } from "../../../core/base/Digest.ts";
import type { Proposal } from "../../../core/protocol/Proposal.ts";
import { altered, effectsIn } from "../Effects.ts";
import type { Changing, Model } from "../Model.ts";
import { approverRegistry } from "./ApproverRegistry.ts";
import { approverSubject } from "./ApproverSubject.ts";
import { locksOfApprover } from "./Names.ts";

/** What a refusal for certain tells of an approver and its key. */
export const refusedAs: Model["refusedAs"] = (code) => {
  if (code === "KEY_ALREADY_REGISTERED") return "taken";
  return code === "PRECONDITION_FAILED" ? "stale" : "no";
};

const FOREIGN = "e".repeat(64) as Digest;
const AHEAD_MILLIS = 20_000;
/** With more pairs it could not be written. */
const MOST_PAIRS = 32;

const doing =
  (change: Parameters<typeof altered>[1]) =>
  (proposal: Proposal): Proposal =>
    altered(proposal, change);

export const ofApprover: Pick<Changing, "registry" | "changeOf" | "locksOf" | "nameOf" | "lies" | "restamped"> = {
  registry: approverRegistry,
  changeOf: (proposal) => {
    const effects = effectsIn(proposal);
    const { ref, newRevision } = effects;
    return { subject: approverSubject, ref, revision: newRevision, row: effects };
  },
  locksOf: locksOfApprover,
  nameOf: (proposal) => effectsIn(proposal).id,
  lies: [
    doing(() => ({ id: "mallory" })),
    doing(() => ({ metadata: [["team", "mallory"]] })),
    doing(({ metadata }) => ({ metadata: [...metadata.slice(0, MOST_PAIRS - 1), ["more", "1"]] })),
    doing(({ createdAt }) => ({ createdAt: createdAt - 1 })),
    doing(({ updatedAt }) => ({ updatedAt: updatedAt + 1 })),
    doing(() => ({ ref: `mallory@sha256:${"0".repeat(64)}` })),
    doing(() => ({ keyIdentity: FOREIGN })),
    doing(({ newRevision }) => ({ newRevision: newRevision + 1 })),
    (proposal) => {
      const proposedAt = proposal.proposedAt + AHEAD_MILLIS;
      return altered({ ...proposal, proposedAt }, () => ({ createdAt: proposedAt, updatedAt: proposedAt }));
    },
    doing(({ baseRevision, newRevision }) => ({ baseRevision: (baseRevision ?? 0) + 1, newRevision: newRevision + 1 })),
  ],
  restamped: (proposal, proposedAt) =>
    altered({ ...proposal, proposedAt }, ({ updatedAt }) => ({
      createdAt: proposedAt,
      updatedAt: Math.max(updatedAt, proposedAt),
    })),
};
