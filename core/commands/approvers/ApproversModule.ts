/** The shared part of all commands about approvers: their tables with the index, and the approvers under the registry root. */
import type { Module } from "../../protocol/Module.ts";
import { isPresent, type Mode, modes } from "../../protocol/Mode.ts";
import { approverContents } from "./Contents.ts";
import { goOnIndexing, INDEX_TIMER, indexing, indexMore } from "./ApproverIndex.ts";
import { approverTables } from "./Tables.ts";

/** Modes in which its keys, its rows and its memory are whole. */
const PRESENT: ReadonlySet<Mode> = new Set(modes.filter(isPresent));

export const approvers = {
  name: "approvers",
  supplies: undefined,
  tables: approverTables,
  contents: approverContents,
  slice: indexing,
  exchanges: [],
  services: [],
  messages: {},
  timers: { [INDEX_TIMER]: { modes: PRESENT, run: indexMore } },
  goOn: goOnIndexing,
} satisfies Module;
