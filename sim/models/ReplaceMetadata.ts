/** The model of the command that replaces an approver's metadata. */
import { type Replacement, toReplace } from "../requests/Commands.ts";
import { labelsOf } from "../requests/Labels.ts";
import { altered, effectsIn } from "./Effects.ts";
import { assertAllowed, unasked } from "../requests/Success.ts";
import { Violation } from "../base/Violation.ts";
import { ofApprover, refusedAs } from "./approvers/ApproverChanges.ts";
import { metadataOf } from "./approvers/ApproverSubject.ts";
import type { Model } from "./Model.ts";

export const replaceMetadata: Model<Replacement> = {
  kind: "METADATA",
  permission: { ...toReplace, isNeeded: true },
  deeds: () => [],
  rewritten: (commands, { ref, ifMatch, team }) => commands.replacement(ref, ifMatch, `${team}-rewritten`),
  // It led from the revision that the request named to the next, with its own metadata.
  assertMeant: (requestId, { kind, ref, ifMatch, team }, token, answer) => {
    if (answer._tag !== "Replaced") throw unasked(requestId, kind, answer);
    const { approver } = answer;
    const metadata = labelsOf(team);
    if (
      approver.ref !== ref ||
      ifMatch !== `"${approver.revision - 1}"` ||
      JSON.stringify(approver.metadata) !== JSON.stringify(metadata)
    )
      throw new Violation(
        "S14",
        `request ${requestId} gives ${ref} at ${ifMatch} the metadata ${JSON.stringify(metadata)}`,
        `it was answered with revision ${approver.revision} of ${approver.ref} and ${JSON.stringify(approver.metadata)}`,
      );
    assertAllowed(requestId, token);
  },
  meaning: ({ ref, ifMatch, team }, knownOf) => {
    const known = knownOf(ref);
    const base = Number(/^"(\d+)"$/.exec(ifMatch ?? "")?.[1]);
    return known && Number.isSafeInteger(base)
      ? { kind: "replace", key: known.key, id: known.id, metadata: metadataOf(team), base }
      : undefined;
  },
  refusedAs,
  changes: {
    ...ofApprover,
    auditOf: () => ({ event: "APPROVER_METADATA_REPLACED" }),
    askedOf: (commands, proposal) => {
      const { path, bodyDigest } = proposal.request;
      return commands.replacementOf(path, bodyDigest, `"${effectsIn(proposal).baseRevision}"`);
    },
    restamped: (proposal, proposedAt) =>
      altered({ ...proposal, proposedAt }, ({ updatedAt }) => ({ updatedAt: Math.max(updatedAt, proposedAt) })),
  },
};
