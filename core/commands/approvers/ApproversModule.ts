/** What all commands about approvers share: their tables, and approvers as what the registry root is over. */
import type { Module } from "../../protocol/Module.ts";
import { approverContents } from "./Contents.ts";
import { approverTables } from "./Tables.ts";

export const approvers = {
  name: "approvers",
  tables: approverTables,
  contents: approverContents,
  slice: undefined,
  exchanges: [],
  messages: {},
  timers: {},
  goOn: () => undefined,
} satisfies Module;
