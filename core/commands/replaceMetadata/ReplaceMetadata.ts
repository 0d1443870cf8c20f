/** Replaces an approver's metadata: everything but metadata, revision and updatedAt stays (contract 4.1.2). */
import { Either } from "effect";
import { memoized } from "../../base/Memo.ts";
import { record, type TypeOf, uint } from "../../codec/Codec.ts";
import { kept } from "../../codec/Versioned.ts";
import type { Command, EffectsAt, Standing } from "../../protocol/Command.ts";
import { underWay } from "../../protocol/UnderWay.ts";
import { type Rejection, rejection } from "../../base/Rejection.ts";
import type { RowView } from "../../protocol/Tables.ts";
import { type Approver, approverCodec } from "../approvers/Approver.ts";
import {
  existingApprover,
  installApprover,
  isNamedByContent,
  lineageOfApprover,
  removeApprover,
  replaceRevision,
} from "../approvers/ApproverRows.ts";
import { metadataLock } from "../approvers/Locks.ts";
import { METADATA_PERMISSION } from "../approvers/Permissions.ts";
import { approverRows } from "../approvers/Tables.ts";
import { coded } from "../../codec/Coded.ts";
import { staleRevision } from "./Precondition.ts";
import { isReplacement, type Replacement, replacementOf } from "./Replacement.ts";

const effectsCodec = kept(
  record({
    /** The approver's metadata from now on. */
    approver: approverCodec,
    /** The revision that the change builds on. */
    baseRevision: uint,
  }),
);
export type ReplaceMetadataEffects = TypeOf<typeof effectsCodec>;
export const replaceMetadataEffects = coded(effectsCodec);

/** Contract 10.4. */
const READ_FIRST =
  "Read the approver before you repeat the request: the next revision with your metadata means that it was done; at the same revision, repeat it.";

const approverIn = (effects: Uint8Array): Approver => replaceMetadataEffects.certified(effects).approver;

/** The approver after the replacement. */
const effectsOn = memoized((replacement: Replacement, from: Approver, updatedAt: number) => {
  const { metadata, baseRevision } = replacement;
  return { approver: { ...from, metadata, revision: baseRevision + 1, updatedAt }, baseRevision };
});

const bytesOf = memoized((effects: Omit<ReplaceMetadataEffects, "version">, version: number) =>
  replaceMetadataEffects.encode({ version, ...effects }),
);

const notFound = (ref: string): Rejection =>
  rejection(
    "APPROVER_NOT_FOUND",
    "No approver of this ref is registered.",
    "Check the ref; every version has a ref of its own.",
    { ref },
  );

/** Possible exactly while the revision it names is the current one. */
const standing = (view: RowView, replacement: Replacement): Standing => {
  const { ref, baseRevision } = replacement;
  const from = approverRows(view).get("approvers", ref);
  if (from === undefined) return { _tag: "Impossible", rejection: notFound(ref), isFinal: false };
  if (from.revision !== baseRevision)
    // Revisions never go back, so a superseded one never comes again.
    return { _tag: "Impossible", rejection: staleRevision(ref), isFinal: baseRevision < from.revision };
  // The new time is never before that of the previous revision.
  const effectsAt: EffectsAt = ({ proposedAt, version }) =>
    bytesOf(effectsOn(replacement, from, Math.max(proposedAt, from.updatedAt)), version);
  return { _tag: "Possible", effectsAt };
};

export const replaceMetadata: Command<Replacement, Replacement> = {
  kind: "METADATA",
  since: 1,
  permissionsOf: () => [METADATA_PERMISSION],
  needsRows: false,
  retry: { _tag: "FindsItsBaseGone", hint: READ_FIRST },
  speaking: [
    "INVALID_REF",
    "INVALID_REQUEST_BODY",
    "INVALID_METADATA",
    "APPROVER_NOT_FOUND",
    "PRECONDITION_REQUIRED",
    "PRECONDITION_FAILED",
  ],
  recognizes: isReplacement,
  targetOf: (_means, call) => Either.getOrUndefined(replacementOf(call)),
  parse: (_evaluation, call) => replacementOf(call),
  admit: (_step, call) => replacementOf(call),

  check: ({ context }, replacement) => standing(context.view, replacement),
  // Another replacement on the same revision makes this one impossible.
  coalescesWith: () => undefined,
  heldUpBy: ({ undecided: { locks } }, { ref }) => (locks.has(metadataLock(ref)) ? "another change" : undefined),

  locksOf: (effects) => [metadataLock(approverIn(effects).ref)],
  lineageOf: (effects) => lineageOfApprover(approverIn(effects)),
  isSound: (crypto, effects) => {
    const approver = replaceMetadataEffects.decode(effects)?.approver;
    return approver !== undefined && isNamedByContent(crypto, approver);
  },
  apply: (step, _id, effects) => {
    const { approver, baseRevision } = replaceMetadataEffects.certified(effects);
    replaceRevision(step, approver, baseRevision);
  },
  install: (step, _id, effects) => installApprover(step, approverIn(effects)),
  undo: (step, _id, effects) => removeApprover(step, approverIn(effects)),
  audit: (effects) => {
    const { ref, revision } = approverIn(effects);
    return { event: "APPROVER_METADATA_REPLACED", approverRef: ref, metadataRevision: revision };
  },

  // Met only by the request's own proposal.
  isMetBy: (_replacement, _effects, isOwn) => isOwn,
  mayBeThere: () => false,
  confirmed: (effects) => ({ _tag: "Replaced", approver: approverIn(effects) }),
  existing: existingApprover,
  // Only a copy counts; once all members have applied the change, its entry peer knows better than the writer.
  mayStand: ({ self, state }, { ref, baseRevision }, entryPeer) => {
    const open = entryPeer === self ? undefined : underWay(state, metadataLock(ref));
    return (
      open?.kind === "METADATA" &&
      open.entryPeer === entryPeer &&
      replaceMetadataEffects.certified(open.effects).baseRevision === baseRevision
    );
  },
  named: (_step, target) => target,
  noteRefused: () => undefined,
  reservedFor: () => undefined,
};
