/** Bugs in what is recorded of operators. */
import { type PlantedBug, rows } from "./PlantedBug.ts";

export const operatorBugs: ReadonlyArray<PlantedBug> = [
  {
    name: "kept-acts-again",
    changes: "a peer forgets which of the kept acts of operators are in its audit",
    finds: "S34",
    schedule: "operators-and-crashes",
    tampering: rows("counters", (row) => ({ ...row, keptNo: 0 })),
  },
  {
    name: "acts-before-flush",
    changes: "operators of a sealed peer are answered before what they did is flushed",
    finds: "S34",
    schedule: "operators-and-crashes",
    tampering: () => ({ hastyJournal: true }),
  },
];
