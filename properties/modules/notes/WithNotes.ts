/** This version of the service with notes beside it, as peers run it and as the simulator sees it. */
import { commands } from "../../../core/commands/Commands.ts";
import type { Command } from "../../../core/protocol/Command.ts";
import { composed } from "../../../core/protocol/Composition.ts";
import type { Module } from "../../../core/protocol/Module.ts";
import { models } from "../../../sim/models/Models.ts";
import { Product } from "../../../sim/models/Product.ts";
import { leaveNote } from "./LeaveNote.ts";
import { noteSlice } from "./NoteContents.ts";
import { noteMessages, noteModel, noteSubject } from "./NoteModel.ts";
import { notesModule } from "./NotesModule.ts";

/** @param bug parts of the command or of the module that are wrong on purpose */
export const productWithNotes = (
  bug: { readonly command?: Partial<Command>; readonly module?: Partial<Module> } = {},
): Product =>
  new Product({
    composition: composed(
      [...commands.all, { ...leaveNote, ...bug.command }],
      [...commands.modules, { ...notesModule, ...bug.module }],
    ),
    subjects: [...models.subjects, noteSubject],
    models: [...models.models, noteModel],
    messages: { ...models.messages, ...noteMessages },
    remembered: {
      ...models.remembered,
      notes: ({ modules }) => {
        const { refs } = (modules[noteSlice.name] as typeof noteSlice.empty | undefined) ?? noteSlice.empty;
        return [...refs].toSorted().join(" ");
      },
    },
  });
