/** The changes of commands to approvers' rows, and with them to the registry root. */
import { approverRef } from "../../credential/ApproverRef.ts";
import { refDigest } from "../../credential/SignatureCredential.ts";
import type { Crypto } from "../../crypto/Crypto.ts";
import type { ApproverAnswer } from "./Answers.ts";
import { InvariantViolation } from "../../base/Invariant.ts";
import type { Existing, Lineage } from "../../protocol/Command.ts";
import type { RowView } from "../../protocol/Tables.ts";
import type { Step } from "../../protocol/Step.ts";
import type { Approver } from "./Approver.ts";
import { replaceApprover } from "./Root.ts";
import { reindex } from "./ApproverIndex.ts";
import { approverRows, approverTables } from "./Tables.ts";

/** Whether an approver's ref names its content: it ends in the digest of the descriptor (contract 2.2). */
export const isNamedByContent = (crypto: Crypto, { id, ref, descriptor }: Approver): boolean =>
  approverRef(id, refDigest(crypto.sha256OfText, descriptor)) === ref;

/** Revisions of one approver follow each other, and its key belongs to its id alone. */
export const lineageOfApprover = ({ ref, revision, keyIdentity, id }: Approver): Lineage => ({
  ref,
  revision,
  claim: keyIdentity,
  owner: id,
});

/** Stores a certified new approver and makes its id the owner of its key. */
export const insertApprover = (step: Step, approver: Approver): void => {
  const { crypto } = step.context;
  const { registry } = step.state;
  const rows = step.rows(approverTables);
  const { view } = rows;
  if (view.get("approvers", approver.ref) !== undefined)
    throw new InvariantViolation("S11", "a certified registration is of an approver that is stored here");
  rows.write({ op: "insert", table: "approvers", key: approver.ref, row: approver });
  reindex(step, undefined, approver);
  step.state.registry = {
    set: replaceApprover(crypto, registry.set, undefined, approver),
    approvers: registry.approvers + 1,
  };
  const owner = view.get("keys", approver.keyIdentity);
  if (owner !== undefined && owner.id !== approver.id)
    throw new InvariantViolation("S7", "a certified registration claims a key that another id owns here");
  if (owner === undefined)
    rows.write({ op: "insert", table: "keys", key: approver.keyIdentity, row: { id: approver.id } });
};

/** Stores the certified successor of an approver's revision. */
export const replaceRevision = (step: Step, approver: Approver, baseRevision: number): void => {
  const { crypto } = step.context;
  const { registry } = step.state;
  const rows = step.rows(approverTables);
  const before = rows.view.get("approvers", approver.ref);
  // No other change can have come between: this peer checked the revision when it took the lock that it still holds.
  if (before?.revision !== baseRevision)
    throw new InvariantViolation("S11", "a certified replacement builds on a revision that is not the one stored here");
  rows.write({ op: "replace", table: "approvers", key: approver.ref, row: approver });
  reindex(step, before, approver);
  step.state.registry = {
    set: replaceApprover(crypto, registry.set, before, approver),
    approvers: registry.approvers,
  };
};

/**
 * Takes an approver over from another member. The newest revision stands, whichever of its changes comes first.
 *
 * @returns whether this is the stored one now
 */
export const installApprover = (step: Step, approver: Approver): boolean => {
  const rows = step.rows(approverTables);
  const { view } = rows;
  const known = view.get("approvers", approver.ref);
  const isNew = known === undefined || known.revision < approver.revision;
  if (isNew) {
    // One step may install several revisions, after it removed an older one.
    reindex(step, rows.current("approvers", approver.ref), approver);
    rows.put("approvers", approver.ref, approver);
  }
  if (view.get("keys", approver.keyIdentity)?.id !== approver.id)
    rows.put("keys", approver.keyIdentity, { id: approver.id });
  return isNew;
};

/** Removes an approver that no other member has; the results of its other changes come with those again. */
export const removeApprover = (step: Step, { ref, keyIdentity, id }: Approver): void => {
  const rows = step.rows(approverTables);
  const { view } = rows;
  if (view.get("approvers", ref) !== undefined) {
    reindex(step, rows.current("approvers", ref), undefined);
    rows.write({ op: "remove", table: "approvers", key: ref });
  }
  if (view.get("keys", keyIdentity)?.id === id) rows.write({ op: "remove", table: "keys", key: keyIdentity });
};

/**
 * The answer to a caller whose approver is stored already, from this peer's own rows; `isOwn` where its own request has
 * registered it.
 */
export const existingApprover = (view: RowView, ref: string, isOwn: boolean): Existing | undefined => {
  const rows = approverRows(view);
  const approver = rows.get("approvers", ref);
  const observations = approver && rows.get("observations", ref);
  if (approver === undefined) return undefined;
  const answer: ApproverAnswer = {
    _tag: "Registered",
    created: isOwn && approver.revision === 1,
    approver,
    observations,
  };
  return { revision: approver.revision, answer };
};
