/** The command that registers a public key as one approver version (contract 4.1). */
import { Either } from "effect";
import { memoized } from "../../base/Memo.ts";
import { record, type TypeOf } from "../../codec/Codec.ts";
import { kept } from "../../codec/Versioned.ts";
import type { Command, Standing } from "../../protocol/Command.ts";
import type { RowView } from "../../protocol/Tables.ts";
import { type Approver, approverCodec } from "../approvers/Approver.ts";
import {
  existingApprover,
  insertApprover,
  installApprover,
  isNamedByContent,
  lineageOfApprover,
  removeApprover,
} from "../approvers/ApproverRows.ts";
import { refLock, registrationLocks, whatHoldsUpRegistration } from "../approvers/Locks.ts";
import { REGISTER_PERMISSION } from "../approvers/Permissions.ts";
import { approverRows } from "../approvers/Tables.ts";
import { coded } from "../../codec/Coded.ts";
import { keyConflict, REGISTER_PATH, type Registration, registrationOf } from "./Registration.ts";

const effectsCodec = kept(record({ approver: approverCodec }));
export type RegisterKeyEffects = TypeOf<typeof effectsCodec>;
export const registerKeyEffects = coded(effectsCodec);

const approverIn = (effects: Uint8Array): Approver => registerKeyEffects.certified(effects).approver;

const effectsOf = memoized((registration: Registration, proposedAt: number, version: number): Uint8Array => {
  const { id, ref, descriptor, keyIdentity, metadata } = registration;
  const times = { createdAt: proposedAt, updatedAt: proposedAt };
  return registerKeyEffects.encode({
    version,
    approver: { id, ref, descriptor, keyIdentity, metadata, revision: 1, ...times },
  });
});

/** An identical version exists already, another id owns the key, or it can be done. */
const standing = (all: RowView, registration: Registration): Standing => {
  const view = approverRows(all);
  const { ref, id, keyIdentity } = registration;
  if (view.get("approvers", ref) !== undefined) return { _tag: "Done", name: ref };
  const owner = view.get("keys", keyIdentity);
  if (owner !== undefined && owner.id !== id) return { _tag: "Impossible", rejection: keyConflict(ref), isFinal: true };
  return { _tag: "Possible", effectsAt: ({ proposedAt, version }) => effectsOf(registration, proposedAt, version) };
};

export const registerKey: Command<Registration> = {
  kind: "REGISTER",
  since: 1,
  permissionsOf: () => [REGISTER_PERMISSION],
  needsRows: false,
  retry: { _tag: "FindsItsResult" },
  speaking: [
    "INVALID_REQUEST_BODY",
    "INVALID_METADATA",
    "INVALID_PUBLIC_KEY",
    "UNSUPPORTED_ALGORITHM",
    "KEY_ALREADY_REGISTERED",
  ],
  recognizes: ({ method, path }) => method === "POST" && path === REGISTER_PATH,
  targetOf: (means, call) => Either.getOrUndefined(registrationOf(means, call)),
  parse: ({ context }, call) => registrationOf(context, call),
  admit: ({ context }, call) => registrationOf(context, call),

  check: ({ context }, registration) => standing(context.view, registration),
  coalescesWith: ({ undecided: { locks } }, { ref }) => locks.get(refLock(ref)),
  heldUpBy: ({ undecided: { locks } }, { ref }) => whatHoldsUpRegistration(locks, ref),

  locksOf: (effects) => registrationLocks(approverIn(effects)),
  lineageOf: (effects) => lineageOfApprover(approverIn(effects)),
  isSound: (crypto, effects) => {
    const approver = registerKeyEffects.decode(effects)?.approver;
    return approver !== undefined && isNamedByContent(crypto, approver);
  },
  apply: (step, _id, effects) => insertApprover(step, approverIn(effects)),
  install: (step, _id, effects) => installApprover(step, approverIn(effects)),
  undo: (step, _id, effects) => removeApprover(step, approverIn(effects)),
  audit: (effects) => {
    const { ref, revision } = approverIn(effects);
    return { event: "APPROVER_REGISTERED", approverRef: ref, metadataRevision: revision };
  },

  isMetBy: ({ ref }, effects) => approverIn(effects).ref === ref,
  mayBeThere: () => true,
  confirmed: (effects, isFresh) => ({
    _tag: "Registered",
    created: isFresh,
    approver: approverIn(effects),
    observations: undefined,
  }),
  existing: existingApprover,
  mayStand: ({ self, state, context }, { ref }, entryPeer) => {
    if (ref === undefined) return false;
    const holder = state.undecided.locks.get(refLock(ref));
    if (holder !== undefined) return !state.undecided.aborting.has(holder);
    return entryPeer !== self && approverRows(context.view).get("approvers", ref) !== undefined;
  },
  named: (_step, target) => target,
  noteRefused: () => undefined,
  reservedFor: () => undefined,
};
