/**
 * A note of a test-only module: a short text that a caller leaves under a name. The first one stays; it is never
 * changed. It is here to show what a command, a message, a timer and a row of one's own take (docs/architecture.md).
 */
import { Either } from "effect";
import { record, text, type TypeOf, uint } from "../../../core/codec/Codec.ts";
import { coded } from "../../../core/codec/Coded.ts";
import { formsOf, kept, NEWEST } from "../../../core/codec/Versioned.ts";
import { type Rejection, rejection } from "../../../core/base/Rejection.ts";
import type { Intent } from "../../../core/protocol/Command.ts";
import type { Call } from "../../../core/protocol/Forward.ts";
import { type RowsOf, type RowView, type View, viewOf } from "../../../core/protocol/Tables.ts";

export const NOTE = "NOTE";
export const NOTE_PERMISSION = "service.notes.leave";
export const NOTES_PATH = "/v1/custody/notes/";

/** A version that only tests speak. */
export const NEXT_VERSION = NEWEST + 1;

const NAME = /^[a-z0-9-]{1,32}$/;
const TEXT = /^[ -~]{1,64}$/;

const first = { name: text(32), text: text(64), leftAt: uint };
/** From version 2 on it has the number of its words; those of older ones were never counted. */
const noteCodec = kept(
  formsOf(record(first)).since(NEXT_VERSION, record({ ...first, words: uint }), (older) => ({ ...older, words: 0 })),
);
export type Note = TypeOf<typeof noteCodec>;
/** The effects of leaving one are the note. */
export const notes = coded(noteCodec);

/** A note as its version has it. */
export const noteOf = (version: number, note: Pick<Note, "name" | "text" | "leftAt">): Note => ({
  ...note,
  version,
  words: version < NEXT_VERSION ? 0 : note.text.split(" ").length,
});

/** By ref. */
export const noteTables = { notes: noteCodec };
export const noteRows = (view: RowView): View<RowsOf<typeof noteTables>> => viewOf(view, noteTables);

export const refOf = (name: string): string => `note:${name}`;

/** Whether bytes are a note that a caller may leave. */
export const isNote = (effects: Uint8Array): boolean => {
  const note = notes.decode(effects);
  return note !== undefined && NAME.test(note.name) && TEXT.test(note.text);
};

export interface Leaving extends Intent {
  readonly kind: typeof NOTE;
  readonly name: string;
  readonly text: string;
}

/** Every caller whose note is there is told of it; all others are told only of a refusal. */
export interface Noted {
  readonly _tag: "Noted";
  readonly created: boolean;
  readonly note: Note;
}

const unreadable = rejection(
  "INVALID_REQUEST_BODY",
  "The note or its name is too long, or is not ASCII.",
  "Leave up to 64 printable ASCII characters.",
);

/** Calls understood before: a request is judged where it enters and again by each vote on it. */
const understood = new WeakMap<Call, Either.Either<Leaving, Rejection>>();

const read = ({ path, rawBody }: Call): Either.Either<Leaving, Rejection> => {
  const name = path.slice(NOTES_PATH.length);
  const content = String.fromCharCode(...rawBody.subarray(0, 65));
  if (!NAME.test(name) || !TEXT.test(content)) return Either.left(unreadable);
  const ref = refOf(name);
  return Either.right({ kind: NOTE, ref, locks: [ref], deadline: Number.POSITIVE_INFINITY, name, text: content });
};

export const leavingOf = (call: Call): Either.Either<Leaving, Rejection> => {
  const meaning = understood.get(call) ?? read(call);
  understood.set(call, meaning);
  return meaning;
};
