/** The changes of a certified finish besides the approver, in the same transaction (contract 3.1). */
import type { Digest } from "../../base/Digest.ts";
import { InvariantViolation } from "../../base/Invariant.ts";
import type { Step } from "../../protocol/Step.ts";
import { enrollments } from "./EnrollmentState.ts";
import { enrollmentTables } from "./SessionTables.ts";
import type { Observations } from "../approvers/Approver.ts";
import { approverTables } from "../approvers/Tables.ts";
import type { Completion } from "./Completion.ts";
import { passkeyTables } from "./Tables.ts";
import { markOf } from "./SessionMark.ts";

/** The observations with the higher of two counters: no registration takes one back (contract 2.3). */
const merged = (stored: Observations | undefined, initial: Observations): Observations =>
  stored === undefined || stored.signCount <= initial.signCount ? initial : { ...initial, signCount: stored.signCount };

/** Asserts that credential and session are still free here: this peer held both locks since it checked. */
export const assertConsumable = (step: Step, id: Digest, completion: Completion): void => {
  const rows = step.rows(passkeyTables);
  const { view } = rows;
  const { approver, credentialIdentity, registrationId } = completion;
  const owner = view.get("credentials", credentialIdentity);
  if (owner !== undefined && owner.ref !== approver.ref)
    throw new InvariantViolation("S8", "a certified finish claims a credential that another approver has here");
  const earlier = view.get("completions", registrationId);
  if (earlier !== undefined && earlier.proposalId !== id)
    throw new InvariantViolation("S15", "a certified finish completes a session that another response has completed");
};

/** The credential's owner, its observations, and the session's one response, which is that of this proposal. */
export const consume = (step: Step, id: Digest, completion: Completion): void => {
  const rows = step.rows(passkeyTables);
  const { approver, credentialIdentity, observations, registrationId, responseDigest } = completion;
  const { ref } = approver;
  rows.put("credentials", credentialIdentity, { ref });
  const approvers = step.rows(approverTables);
  approvers.put("observations", ref, merged(approvers.view.get("observations", ref), observations));
  rows.put("completions", registrationId, { proposalId: id });
  const sessions = step.rows(enrollmentTables);
  const row = sessions.view.get("sessions", registrationId);
  // A member restored since it was opened may not have it.
  if (row === undefined) return;
  const done = { ...row, completed: { responseDigest, ref } };
  sessions.write({ op: "replace", table: "sessions", key: registrationId, row: done });
  step.editIn(enrollments, "sessions").set(registrationId, markOf(done));
};

/** Takes back the rows of an undone finish; its session stays void, for it pins a superseded incarnation. */
export const unconsume = (step: Step, id: Digest, completion: Completion): void => {
  const rows = step.rows(passkeyTables);
  const { view } = rows;
  const { approver, credentialIdentity, registrationId } = completion;
  const { ref } = approver;
  if (view.get("credentials", credentialIdentity)?.ref === ref)
    rows.write({ op: "remove", table: "credentials", key: credentialIdentity });
  const approvers = step.rows(approverTables);
  if (approvers.view.get("observations", ref) !== undefined)
    approvers.write({ op: "remove", table: "observations", key: ref });
  if (view.get("completions", registrationId)?.proposalId === id)
    rows.write({ op: "remove", table: "completions", key: registrationId });
  const sessions = step.rows(enrollmentTables);
  const row = sessions.view.get("sessions", registrationId);
  if (row?.completed?.ref !== ref) return;
  const open = { ...row, completed: undefined };
  sessions.write({ op: "replace", table: "sessions", key: row.session.registrationId, row: open });
  step.editIn(enrollments, "sessions").set(row.session.registrationId, markOf(open));
};
