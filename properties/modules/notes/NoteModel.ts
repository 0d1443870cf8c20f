/** Notes as the simulator sees them from outside: callers' requests, the naive registry, and what success shows. */
import { utf8Bytes } from "../../../core/codec/Utf8.ts";
import { allRows } from "../../../core/protocol/AllRows.ts";
import type { Answer } from "../../../core/Action.ts";
import type { Proposal } from "../../../core/protocol/Proposal.ts";
import type { Unit } from "../../../sim/base/Choices.ts";
import type { Commands } from "../../../sim/requests/Commands.ts";
import type { Asked } from "../../../sim/requests/Asked.ts";
import type { MessageModels } from "../../../sim/models/MessageModel.ts";
import type { Model } from "../../../sim/models/Model.ts";
import type { NaiveRegistry } from "../../../sim/models/NaiveRegistry.ts";
import type { RegistryMaker } from "../../../sim/models/Product.ts";
import type { Subject } from "../../../sim/models/Subject.ts";
import { assertAllowed, type Success, unasked } from "../../../sim/requests/Success.ts";
import { Violation } from "../../../sim/base/Violation.ts";
import { NOTE, NOTE_PERMISSION, type Note, type Noted, noteRows, NOTES_PATH, notes } from "./Note.ts";
import { withNote } from "./NoteContents.ts";
import type { NoteCount } from "./NotesModule.ts";

/** A note as its caller means it. */
interface Left extends Asked {
  readonly kind: typeof NOTE;
  readonly name: string;
  readonly text: string;
}

/** Few names and fewer texts, so that callers repeat each other, and contradict each other. */
const NAMES = 60;
const TEXTS = 3;

const left = (commands: Commands, name: string, text: string): Left =>
  commands.said({
    kind: NOTE,
    name,
    text,
    call: { method: "PUT", path: `${NOTES_PATH}${name}`, ifMatch: undefined, rawBody: utf8Bytes(text) },
  });

const noted = (answer: Answer | Success): Noted | undefined => {
  // The simulator knows the answers of this version only.
  const other: { readonly _tag: string } = answer;
  return other._tag === "Noted" ? (other as Noted) : undefined;
};

const differs = (one: Note, other: Note): string | undefined => {
  for (const field of ["name", "text", "leftAt"] as const) if (one[field] !== other[field]) return field;
  return undefined;
};

const ref = ({ name }: Note): string => `note:${name}`;

export const noteSubject: Subject<Note> = {
  table: "notes",
  name: "note",
  isCounted: true,
  revisionOf: () => 1,
  addTo: withNote,
  changed: differs,
  differs,
  shownIn: (answer) => {
    const found = noted(answer);
    return found && { ref: ref(found.note), row: found.note, created: found.created, promised: 1, own: undefined };
  },
  // A name belongs to one text.
  seen: ({ text }) => ({ id: text, metadata: "", revision: 1 }),
};

const noteIn = ({ effects }: Pick<Proposal, "effects">): Note => notes.certified(effects);

/** A proposal with another note in it. */
const lie =
  (change: (note: Note) => Partial<Note>) =>
  (proposal: Proposal): Proposal => {
    const note = notes.decode(proposal.effects);
    return note === undefined ? proposal : { ...proposal, effects: notes.encode({ ...note, ...change(note) }) };
  };

const noteRegistry: RegistryMaker = ({ said, total }): NaiveRegistry => {
  const members = Array.from({ length: total + 1 }, () => new Set<string>());
  return {
    contentFault: (proposal) => {
      const asked = said.byRequest?.(NOTE, proposal.request) as Left | undefined;
      if (asked === undefined) return "no caller ever left such a note";
      const { name, text } = noteIn(proposal);
      return name === asked.name && text === asked.text ? undefined : "it is another note than the caller's";
    },
    memberFault: (slot, proposal) => {
      const note = noteIn(proposal);
      if (note.leftAt !== proposal.proposedAt) return "its time is not the writer's";
      return members[slot]?.has(ref(note)) === true ? "this member has a note of that name already" : undefined;
    },
    excludes: (proposal) => {
      const { name } = noteIn(proposal);
      return (reserved) => noteIn(reserved).name === name;
    },
    restored: (slot, view) => {
      members[slot]?.clear();
      for (const note of allRows(noteRows(view), "notes")) members[slot]?.add(ref(note));
    },
    noted: (slot, write) => {
      if (write.table === "certificates" && write.op !== "remove" && write.row.proposal.kind === NOTE)
        members[slot]?.add(ref(noteIn(write.row.proposal)));
    },
  };
};

const anyName = (unit: Unit): string => `n-${unit.between("name", 1, 1, NAMES)}`;

export const noteModel: Model<Left> = {
  kind: NOTE,
  permission: { needed: NOTE_PERMISSION, other: "service.approvers.register", isNeeded: true },
  deeds: (commands) => [
    {
      name: "leave a note",
      weight: 40,
      draw: (unit) => left(commands, anyName(unit), `text ${unit.between("text", 1, 1, TEXTS)}`),
    },
    { name: "read a note", weight: 15, draw: (unit) => ({ subject: noteSubject, ref: `note:${anyName(unit)}` }) },
  ],
  rewritten: (commands, { name, text }) => left(commands, name, `${text}, rewritten`),
  assertMeant: (requestId, { kind, name, text }, token, answer) => {
    const found = noted(answer);
    if (found === undefined) throw unasked(requestId, kind, answer);
    if (found.note.name !== name || found.note.text !== text)
      throw new Violation(
        "S14",
        `request ${requestId} leaves ${text} under ${name}`,
        `it was told of ${found.note.text}`,
      );
    assertAllowed(requestId, token);
  },
  meaning: ({ name, text }) => ({ kind: "register", key: `note ${name}`, id: text, metadata: "", base: undefined }),
  refusedAs: (code) => (code === "PRECONDITION_FAILED" ? "taken" : "no"),
  changes: {
    auditOf: () => ({ event: "NOTE_LEFT" }),
    registry: noteRegistry,
    changeOf: (proposal) => {
      const note = noteIn(proposal);
      return { subject: noteSubject, ref: ref(note), revision: 1, row: note };
    },
    locksOf: (proposal) => [ref(noteIn(proposal))],
    nameOf: (proposal) => noteIn(proposal).name,
    askedOf: (commands, { request }) => commands.byRequest(NOTE, request),
    lies: [
      lie(({ name }) => ({ name: `${name}0` })),
      lie(({ text }) => ({ text: `${text}, or not` })),
      lie(({ leftAt }) => ({ leftAt: leftAt + 1 })),
    ],
    restamped: (proposal, leftAt) => lie(() => ({ leftAt }))({ ...proposal, proposedAt: leftAt }),
  },
};

export const noteMessages = {
  "Note.Count": {
    statementsIn: () => [],
    requestsIn: () => [],
    wordsOf: ({ count }: NoteCount) => [`${count} notes`],
  },
} satisfies MessageModels;
