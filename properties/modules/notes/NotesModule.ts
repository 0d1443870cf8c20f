/** What notes add beside the command: now and then every member tells the others how many it has. */
import { nullable, record, type TypeOf, uint } from "../../../core/codec/Codec.ts";
import { formsOf } from "../../../core/codec/Versioned.ts";
import { allRows } from "../../../core/protocol/AllRows.ts";
import type { ModuleMessage } from "../../../core/protocol/Message.ts";
import type { Mode } from "../../../core/protocol/Mode.ts";
import type { Module } from "../../../core/protocol/Module.ts";
import { NEXT_VERSION, noteRows, noteTables } from "./Note.ts";
import { noteContents, noteSlice } from "./NoteContents.ts";

const TELL = "Note.tell";
const TELL_MILLIS = 2_000;

/** A member that speaks version 2 also says of how many words they are. */
const countForms = formsOf(record({ count: uint })).since(
  NEXT_VERSION,
  record({ count: uint, words: nullable(uint) }),
  (older) => ({ ...older, words: undefined }),
);
export type NoteCount = { readonly _tag: "Note.Count" } & TypeOf<typeof countForms>;

const ACTIVE: ReadonlySet<Mode> = new Set(["active"]);

export const notesModule: Module = {
  name: "notes",
  supplies: undefined,
  tables: noteTables,
  contents: noteContents,
  slice: noteSlice,
  services: [],
  exchanges: [],
  messages: {
    "Note.Count": {
      codec: countForms,
      tokensIn: () => [],
      modes: ACTIVE,
      run: (step, from, { count, words }: NoteCount) => {
        step.editIn(noteSlice, "heard").set(from, count);
        if (words !== undefined) step.editIn(noteSlice, "words").set(from, words);
      },
    },
  },
  timers: {
    [TELL]: {
      modes: ACTIVE,
      run: (step) => {
        const { refs } = step.slice(noteSlice);
        const words =
          step.version < NEXT_VERSION
            ? undefined
            : allRows(noteRows(step.context.view), "notes").reduce((sum, note) => sum + note.words, 0);
        const message: NoteCount & ModuleMessage = { _tag: "Note.Count", count: refs.size, words };
        step.sendAll(message);
      },
    },
  },
  goOn: (step) => {
    if (step.mode === "active" && step.others.length > 0) step.arm(TELL, TELL_MILLIS);
  },
};
