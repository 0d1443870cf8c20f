/** The command that leaves a note. */
import { Either } from "effect";
import { InvariantViolation } from "../../../core/base/Invariant.ts";
import { rejection } from "../../../core/base/Rejection.ts";
import type { Command, Standing } from "../../../core/protocol/Command.ts";
import type { Proposal } from "../../../core/protocol/Proposal.ts";
import { underWay } from "../../../core/protocol/UnderWay.ts";
import {
  type Leaving,
  isNote,
  leavingOf,
  NOTE,
  NOTE_PERMISSION,
  type Noted,
  noteOf,
  noteRows,
  NOTES_PATH,
  notes,
  noteTables,
  refOf,
} from "./Note.ts";
import { noteSlice, withNote } from "./NoteContents.ts";

const taken = (ref: string) =>
  rejection("PRECONDITION_FAILED", "Another note stands under this name.", "Leave it under another name.", { ref });

/** Whether a proposal leaves this very note. */
const leaves = (proposal: Proposal | undefined, { name, text }: Leaving): boolean => {
  if (proposal?.kind !== NOTE) return false;
  const note = notes.certified(proposal.effects);
  return note.name === name && note.text === text;
};

const refIn = (effects: Uint8Array): string => refOf(notes.certified(effects).name);

export const leaveNote: Command<Leaving, Leaving> = {
  kind: NOTE,
  since: 1,
  permissionsOf: () => [NOTE_PERMISSION],
  needsRows: false,
  retry: { _tag: "FindsItsResult" },
  speaking: ["INVALID_REQUEST_BODY", "PRECONDITION_FAILED"],
  recognizes: ({ method, path }) => method === "PUT" && path.startsWith(NOTES_PATH),
  targetOf: (_means, call) => Either.getOrUndefined(leavingOf(call)),
  parse: (_evaluation, call) => leavingOf(call),
  admit: (_turn, call) => leavingOf(call),

  check: ({ context }, { ref, name, text }): Standing => {
    const there = noteRows(context.view).get("notes", ref);
    if (there === undefined)
      return {
        _tag: "Possible",
        effectsAt: ({ version, proposedAt }) => notes.encode(noteOf(version, { name, text, leftAt: proposedAt })),
      };
    if (there.text === text) return { _tag: "Done", name: ref };
    return { _tag: "Impossible", rejection: taken(ref), isFinal: true };
  },
  coalescesWith: (state, leaving) =>
    leaves(underWay(state, leaving.ref), leaving) ? state.undecided.locks.get(leaving.ref) : undefined,
  heldUpBy: (state, leaving) => {
    if (!state.undecided.locks.has(leaving.ref)) return undefined;
    return leaves(underWay(state, leaving.ref), leaving) ? "own result" : "another change";
  },

  locksOf: (effects) => [refIn(effects)],
  lineageOf: (effects) => ({
    ref: refIn(effects),
    revision: 1,
    claim: refIn(effects),
    owner: notes.certified(effects).text,
  }),
  isSound: (_crypto, effects) => isNote(effects),
  apply: (step, _id, effects) => {
    const note = notes.certified(effects);
    const ref = refOf(note.name);
    const rows = step.rows(noteTables);
    if (rows.view.get("notes", ref) !== undefined)
      throw new InvariantViolation("S11", "a certified note has the name of one that is stored here");
    rows.write({ op: "insert", table: "notes", key: ref, row: note });
    step.editIn(noteSlice, "refs").add(ref);
    const { set, approvers } = step.state.registry;
    step.state.registry = { set: withNote(step.context.crypto, set, note), approvers: approvers + 1 };
  },
  install: (step, _id, effects) => {
    const note = notes.certified(effects);
    const ref = refOf(note.name);
    const rows = step.rows(noteTables);
    const there = rows.view.get("notes", ref);
    rows.put("notes", ref, note);
    step.editIn(noteSlice, "refs").add(ref);
    return there?.text !== note.text || there.leftAt !== note.leftAt;
  },
  undo: (step, _id, effects) => {
    const ref = refIn(effects);
    const rows = step.rows(noteTables);
    if (rows.view.get("notes", ref) !== undefined) rows.write({ op: "remove", table: "notes", key: ref });
    step.editIn(noteSlice, "refs").delete(ref);
  },
  audit: (effects) => ({ event: "NOTE_LEFT", approverRef: refIn(effects), metadataRevision: 1 }),

  isMetBy: ({ name, text }, effects) => {
    const note = notes.certified(effects);
    return note.name === name && note.text === text;
  },
  mayBeThere: (view, { ref, text }) => noteRows(view).get("notes", ref)?.text === text,
  confirmed: (effects, created): Noted => ({ _tag: "Noted", created, note: notes.certified(effects) }),
  existing: (view, ref) => {
    const note = noteRows(view).get("notes", ref);
    return note && { revision: 1, answer: { _tag: "Noted", created: false, note } };
  },
  mayStand: ({ self, state, view }, leaving, entryPeer) =>
    leaves(underWay(state, leaving.ref), leaving) ||
    (entryPeer !== self && noteRows(view).get("notes", leaving.ref)?.text === leaving.text),
  named: (_turn, target) => target,
  noteRefused: () => undefined,
  reservedFor: () => undefined,
};
