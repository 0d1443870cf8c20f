/** What members keep of notes beside the rows: their part of the registry root, and their counts in memory. */
import { allRows } from "../../../core/protocol/AllRows.ts";
import type { SetAccumulator } from "../../../core/base/Digest.ts";
import type { Crypto } from "../../../core/crypto/Crypto.ts";
import type { Contents } from "../../../core/protocol/Command.ts";
import type { Slice } from "../../../core/protocol/Module.ts";
import type { PeerId } from "../../../core/protocol/Topology.ts";
import { type Note, noteRows, noteTables, refOf } from "./Note.ts";

const NOTE_TAG = "CUSTODY_NOTE_V1";

/** The set that the registry root is over, with a note in it. */
export const withNote = (crypto: Crypto, set: SetAccumulator, note: Note): SetAccumulator =>
  crypto.replaceInSet(set, undefined, crypto.digest(NOTE_TAG, noteTables.notes, note));

export const noteContents: Contents = (crypto, view, after, limit) =>
  noteRows(view)
    .scan("notes", after, limit)
    .map(({ key, row }) => ({
      key,
      revision: 1,
      isCounted: true,
      isSound: key === refOf(row.name),
      addTo: (set) => withNote(crypto, set, row),
    }));

interface NoteState {
  /** Of the notes that are stored here. */
  readonly refs: ReadonlySet<string>;
  /** How many each other member has said that it has. */
  readonly heard: ReadonlyMap<PeerId, number>;
  /** The words in them, where it has said so. */
  readonly words: ReadonlyMap<PeerId, number>;
}

const empty: NoteState = { refs: new Set(), heard: new Map(), words: new Map() };

export const noteSlice: Slice<NoteState> = {
  name: "notes",
  empty,
  boot: (view) => ({ ...empty, refs: new Set(allRows(noteRows(view), "notes").map(({ name }) => refOf(name))) }),
};
