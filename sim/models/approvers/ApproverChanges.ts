/** What all commands that change approvers have in common, as a naive registry sees them. */
import { altered, effectsIn } from "../../Effects.ts";
import type { Changing, Model } from "../Model.ts";
import { approverRegistry } from "./ApproverRegistry.ts";
import { approverSubject } from "./ApproverSubject.ts";

/** What a refusal for certain tells of an approver and its key. */
export const refusedAs: Model["refusedAs"] = (code) => {
  if (code === "KEY_ALREADY_REGISTERED") return "taken";
  return code === "PRECONDITION_FAILED" ? "stale" : "no";
};

export const ofApprover: Pick<Changing, "registry" | "changeOf" | "nameOf" | "restamped"> = {
  registry: approverRegistry,
  changeOf: (proposal) => {
    const effects = effectsIn(proposal);
    const { ref, newRevision } = effects;
    return { subject: approverSubject, ref, revision: newRevision, row: effects };
  },
  nameOf: (proposal) => effectsIn(proposal).id,
  restamped: (proposal, proposedAt) =>
    altered({ ...proposal, proposedAt }, ({ updatedAt }) => ({
      createdAt: proposedAt,
      updatedAt: Math.max(updatedAt, proposedAt),
    })),
};
