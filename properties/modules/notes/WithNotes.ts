/** This version of the service with notes beside it, as peers run it and as the simulator sees it. */
import { commands } from "../../../core/commands/Commands.ts";
import type { Command } from "../../../core/protocol/Command.ts";
import { Limits } from "../../../core/base/Limits.ts";
import { nullable, record, text } from "../../../core/codec/Codec.ts";
import { formsOf } from "../../../core/codec/Versioned.ts";
import { approvers } from "../../../core/commands/approvers/ApproversModule.ts";
import { type Composition, composed } from "../../../core/protocol/Composition.ts";
import type { Module } from "../../../core/protocol/Module.ts";
import { models } from "../../../sim/models/Models.ts";
import { Product } from "../../../sim/models/Product.ts";
import { leaveNote } from "./LeaveNote.ts";
import { NEXT_VERSION } from "./Note.ts";
import { noteSlice } from "./NoteContents.ts";
import { noteMessages, noteModel, noteSubject } from "./NoteModel.ts";
import { notesModule } from "./NotesModule.ts";

interface Bug {
  readonly command?: Partial<Command>;
  readonly module?: Partial<Module>;
}

/** Approvers whose keys have one more field from the next version on. */
const growing = (modules: ReadonlyArray<Module>): ReadonlyArray<Module> =>
  modules.map((module) =>
    module.name === approvers.name ? { ...module, tables: { ...module.tables, keys } } : module,
  );

const owner = { id: text(Limits.approverIdCharacters) };
const keys = formsOf(record(owner)).since(NEXT_VERSION, record({ ...owner, remark: nullable(text(8)) }), (older) => ({
  ...older,
  remark: undefined,
}));

/** The same in a program that speaks these versions. */
export const compositionWithNotes = (versions = commands.versions, bug: Bug = {}): Composition =>
  composed(
    [...commands.all, { ...leaveNote, ...bug.command }],
    [...growing(commands.modules), { ...notesModule, ...bug.module }],
    versions,
  );

/** @param bug parts of the command or of the module that are wrong on purpose */
export const productWithNotes = (bug: Bug = {}, versions = commands.versions): Product =>
  new Product({
    composition: compositionWithNotes(versions, bug),
    subjects: [...models.subjects, noteSubject],
    covered: models.covered,
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
