/** What notes bring beside the command: now and then every member tells the others how many it has. */
import { record, type TypeOf, uint } from "../../../core/codec/Codec.ts";
import type { ModuleMessage } from "../../../core/protocol/Message.ts";
import type { Mode } from "../../../core/protocol/Mode.ts";
import type { Module } from "../../../core/protocol/Module.ts";
import { noteTables } from "./Note.ts";
import { noteContents, noteSlice } from "./NoteContents.ts";

const TELL = "Note.tell";
const TELL_MILLIS = 2_000;

const countCodec = record({ count: uint });
export type NoteCount = { readonly _tag: "Note.Count" } & TypeOf<typeof countCodec>;

const ACTIVE: ReadonlySet<Mode> = new Set(["active"]);

export const notesModule: Module = {
  name: "notes",
  tables: noteTables,
  contents: noteContents,
  slice: noteSlice,
  exchanges: [],
  messages: {
    "Note.Count": {
      codec: countCodec,
      tokensIn: () => [],
      modes: ACTIVE,
      run: (turn, from, { count }: NoteCount) => void turn.editIn(noteSlice, "heard").set(from, count),
    },
  },
  timers: {
    [TELL]: {
      modes: ACTIVE,
      run: (turn) => {
        const message: NoteCount & ModuleMessage = { _tag: "Note.Count", count: turn.slice(noteSlice).refs.size };
        turn.sendAll(message);
      },
    },
  },
  goOn: (turn) => {
    if (turn.mode === "active" && turn.others.length > 0) turn.arm(TELL, TELL_MILLIS);
  },
};
