/** The shared part of all commands about approvers: their tables, and the approvers under the registry root. */
import type { Module } from "../../protocol/Module.ts";
import { approverContents } from "./Contents.ts";
import { approverTables } from "./Tables.ts";

export const approvers = {
  name: "approvers",
  supplies: undefined,
  tables: approverTables,
  contents: approverContents,
  slice: undefined,
  exchanges: [],
  messages: {},
  timers: {},
  goOn: () => undefined,
} satisfies Module;
