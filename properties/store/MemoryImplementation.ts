import { MemoryByteStore, type MemoryTables } from "../../runtime/MemoryByteStore.ts";
import type { Implementation } from "./Implementation.ts";

/** Memory whose commits finish at `advance`, never before. */
export const memoryLater: Implementation = {
  name: "memory, scheduled",
  open: async () => {
    const tables: MemoryTables = new Map();
    const flushes: Array<() => void> = [];
    const openStore = () => new MemoryByteStore({ tables, schedule: (flush) => void flushes.push(flush) });
    let store = openStore();
    return {
      store: () => store,
      hold: () => {},
      advance: () => {
        for (const flush of flushes.splice(0)) flush();
      },
      reopen: async () => {
        store = openStore();
      },
      dispose: async () => {},
    };
  },
};
