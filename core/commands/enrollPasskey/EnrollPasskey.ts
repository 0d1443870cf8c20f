/** The command that completes an enrollment with the approver proved by a verified response (contract 4.1). */
import { clockInDoubt } from "../../auth/Authorization.ts";
import { memoized } from "../../base/Memo.ts";
import type { Command, Means, Standing } from "../../protocol/Command.ts";
import type { Call } from "../../protocol/Forward.ts";
import type { EvaluationContext } from "../../protocol/EvaluationContext.ts";
import type { Proposal } from "../../protocol/Proposal.ts";
import { underWay } from "../../protocol/UnderWay.ts";
import type { PeerState } from "../../protocol/PeerState.ts";
import { type Rejection, rejection } from "../../base/Rejection.ts";
import type { RowView } from "../../protocol/Tables.ts";
import type { Step } from "../../protocol/Step.ts";
import { sessionStanding } from "./SessionStanding.ts";
import {
  existingApprover,
  insertApprover,
  installApprover,
  isNamedByContent,
  lineageOfApprover,
  removeApprover,
} from "../approvers/ApproverRows.ts";
import { refLock, sessionLock, whatHoldsUpRegistration } from "../approvers/Locks.ts";
import { approverRows } from "../approvers/Tables.ts";
import { keyConflict } from "../registerKey/Registration.ts";
import { completionOf, completions, FINISH, type Response } from "./Completion.ts";
import { assertConsumable, consume, unconsume } from "./Consumption.ts";
import { type Finish, finishLocks, finishOf, type FinishTarget, isFinish, responseIn } from "./Finish.ts";
import { passkeyRows } from "./Tables.ts";
import { judgeFinish, noteConflict } from "./FinishAttempts.ts";

/** Its effects on the registry, at the time the writer proposes it. */
const effectsOf = memoized((finish: Finish, proposedAt: number, version: number): Uint8Array => {
  const { id, ref, descriptor, keyIdentity, metadata, response, observations, credentialIdentity } = finish;
  const times = { createdAt: proposedAt, updatedAt: proposedAt };
  return completions.encode({
    version,
    approver: { id, ref, descriptor, keyIdentity, metadata, revision: 1, ...times },
    registrationId: response.registrationId,
    responseDigest: response.responseDigest,
    observations,
    credentialIdentity,
  });
});

const credentialConflict = rejection(
  "CREDENTIAL_ALREADY_REGISTERED",
  "This credential is registered already.",
  "Use the existing approver, or create another credential.",
);

/** Done by this very response, or impossible for the session, the credential or the key; else possible. */
const standing = (evaluation: EvaluationContext, finish: Finish): Standing => {
  const { view } = evaluation.context;
  const session = sessionStanding(evaluation, finish.response);
  if (session._tag === "Refused")
    return { _tag: "Impossible", rejection: session.rejection, isFinal: session.rejection !== clockInDoubt };
  const done = session._tag === "Completed" ? session.completion.approver.ref : undefined;
  if (done !== undefined && approverRows(view).get("approvers", done) !== undefined)
    return { _tag: "Done", name: done };
  if (passkeyRows(view).get("credentials", finish.credentialIdentity) !== undefined)
    return { _tag: "Impossible", rejection: credentialConflict, isFinal: true };
  const owner = approverRows(view).get("keys", finish.keyIdentity);
  if (owner !== undefined && owner.id !== finish.id)
    return { _tag: "Impossible", rejection: keyConflict(finish.ref), isFinal: true };
  return { _tag: "Possible", effectsAt: ({ proposedAt, version }) => effectsOf(finish, proposedAt, version) };
};

const targetOf = ({ crypto }: Means, call: Call): FinishTarget | undefined => {
  // Naming its approver would take a verified response; its session tells enough.
  const response = responseIn(crypto, call);
  return response && { kind: FINISH, ref: undefined, response };
};

/** Whether a proposal comes from this very response. */
const isOfResponse = (proposal: Proposal | undefined, { responseDigest }: Response): boolean =>
  proposal?.kind === FINISH && completions.certified(proposal.effects).responseDigest === responseDigest;

/** The approver reserved here for this very response: then no answer to any copy may say that nothing was done. */
const reservedRef = (state: PeerState, response: Response): string | undefined => {
  const open = underWay(state, sessionLock(response.registrationId));
  return open !== undefined && isOfResponse(open, response)
    ? completions.certified(open.effects).approver.ref
    : undefined;
};

/** Whether any finish is prepared or being delivered here. */
const isAnyReserved = ({ undecided: { preparations, outbox } }: PeerState): boolean => {
  for (const { proposal } of preparations.values()) if (proposal.kind === FINISH) return true;
  for (const { proposal } of outbox.values()) if (proposal.kind === FINISH) return true;
  return false;
};

/** Whether this very response completed its session here. */
const isCompletedBy = (view: RowView, { registrationId, responseDigest }: Response): boolean =>
  completionOf(view, registrationId)?.responseDigest === responseDigest;

export const enrollPasskey: Command<Finish, FinishTarget> = {
  kind: FINISH,
  // The invitation in it replaces a permission.
  since: 1,
  permissionsOf: () => [],
  needsRows: true,
  retry: { _tag: "FindsItsResult" },
  speaking: [
    "WEBAUTHN_DISABLED",
    "INVALID_REQUEST_BODY",
    "INVALID_CEREMONY",
    "REGISTRATION_NOT_FOUND",
    "REGISTRATION_EXPIRED",
    "REGISTRATION_COMPLETED",
    "CREDENTIAL_ALREADY_REGISTERED",
    "KEY_ALREADY_REGISTERED",
  ],
  recognizes: isFinish,
  targetOf,
  parse: finishOf,
  admit: judgeFinish,

  check: standing,
  coalescesWith: (state, { ref, response }) =>
    // Another response to the same session is another request: it waits for the outcome of this one.
    isOfResponse(underWay(state, refLock(ref)), response) ? state.undecided.locks.get(refLock(ref)) : undefined,
  heldUpBy: ({ undecided: { locks } }, { ref }) => whatHoldsUpRegistration(locks, ref),

  locksOf: (effects) => {
    const { approver, credentialIdentity, registrationId } = completions.certified(effects);
    return finishLocks({ ref: approver.ref, keyIdentity: approver.keyIdentity, credentialIdentity, registrationId });
  },
  lineageOf: (effects) => lineageOfApprover(completions.certified(effects).approver),
  isSound: (crypto, effects) => {
    const approver = completions.decode(effects)?.approver;
    return approver !== undefined && isNamedByContent(crypto, approver);
  },
  apply: (step, id, effects) => {
    const completion = completions.certified(effects);
    insertApprover(step, completion.approver);
    assertConsumable(step, id, completion);
    consume(step, id, completion);
  },
  install: (step, id, effects) => {
    const completion = completions.certified(effects);
    const isSeen = installApprover(step, completion.approver);
    consume(step, id, completion);
    return isSeen;
  },
  undo: (step, id, effects) => {
    const completion = completions.certified(effects);
    removeApprover(step, completion.approver);
    unconsume(step, id, completion);
  },
  audit: (effects) => {
    const { ref, revision } = completions.certified(effects).approver;
    return { event: "APPROVER_REGISTERED", approverRef: ref, metadataRevision: revision };
  },

  isMetBy: ({ ref, response }, effects) => {
    const { approver, responseDigest } = completions.certified(effects);
    return approver.ref === ref && responseDigest === response.responseDigest;
  },
  mayBeThere: (view, { response }) => isCompletedBy(view, response),
  confirmed: (effects, isFresh) => {
    const { approver, observations } = completions.certified(effects);
    return { _tag: "Registered", created: isFresh, approver, observations };
  },
  existing: existingApprover,
  mayStand: ({ self, state, context }, { response }, entryPeer) =>
    reservedRef(state, response) !== undefined || (entryPeer !== self && isCompletedBy(context.view, response)),
  named: ({ state }, target) =>
    target.ref === undefined ? { ...target, ref: reservedRef(state, target.response) } : target,
  noteRefused: (step, { response }, refusal) => noteConflict(step, response, refusal),
  reservedFor: (step, call, refusal) => reservedFor(step, call, refusal),
};

/** A refused copy of a finish says nothing about an earlier copy, which the members may yet complete. */
const reservedFor = (step: Step, call: Call, { code }: Rejection): ReturnType<Command["reservedFor"]> => {
  // Its body was not read.
  if (code === "TOO_MANY_ATTEMPTS") return isAnyReserved(step.state) ? { kind: FINISH, ref: undefined } : undefined;
  const target = targetOf(step.context, call);
  const ref = target && reservedRef(step.state, target.response);
  return target && ref !== undefined ? { ...target, ref } : undefined;
};
