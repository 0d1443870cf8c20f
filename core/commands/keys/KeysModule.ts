/** What all that is done with keys shares: their tables. */
import type { Module } from "../../protocol/Module.ts";
import { keyContents, unshareable } from "./KeyContents.ts";
import { keyTables } from "./Tables.ts";

export const keys = {
  name: "keys",
  supplies: { feature: "keys", authorities: [] },
  tables: keyTables,
  contents: keyContents,
  slice: undefined,
  exchanges: [],
  services: [],
  messages: {},
  timers: {},
  unpromotable: unshareable,
  goOn: () => undefined,
} satisfies Module;
