/** Proposals like those of a test cluster, with other effects. */
import type { Approver } from "../../core/commands/approvers/Approver.ts";
import { type Effects, effectsOf, withEffects } from "../../core/commands/Effects.ts";
import type { Completion, Response } from "../../core/commands/enrollPasskey/Completion.ts";
import type { Digest } from "../../core/base/Digest.ts";
import type { Proposal } from "../../core/protocol/Proposal.ts";

const effectsIn = (proposal: Proposal): Effects => {
  const effects = effectsOf(proposal);
  if (effects === undefined) throw new Error(`these are no effects of the kind ${proposal.kind}`);
  return effects;
};

/** The approver as a proposal leaves it. */
export const approverIn = (proposal: Proposal): Approver => effectsIn(proposal).approver;

/** A proposal of the same command that leaves its approver otherwise. */
export const altered = (proposal: Proposal, change: Partial<Approver>): Proposal => {
  const effects = effectsIn(proposal);
  return withEffects(proposal, { ...effects, approver: { ...effects.approver, ...change } });
};

/** The replacement, upon that revision, that leaves the same approver but for `change`. */
export const asReplacement = (proposal: Proposal, baseRevision: number, change: Partial<Approver> = {}): Proposal =>
  withEffects(proposal, {
    kind: "METADATA",
    version: proposal.version,
    approver: { ...approverIn(proposal), ...change },
    baseRevision,
  });

/** The finish by that response which leaves the same approver. */
export const asFinish = (
  proposal: Proposal,
  { registrationId, responseDigest }: Response,
  change: Partial<Omit<Completion, "approver" | "version">> = {},
): Proposal =>
  withEffects(proposal, {
    kind: "FINISH",
    version: proposal.version,
    approver: approverIn(proposal),
    registrationId,
    responseDigest,
    observations: { signCount: 0, backupState: false, transports: [], aaguid: "" },
    credentialIdentity: "c1".repeat(32) as Digest,
    ...change,
  });
