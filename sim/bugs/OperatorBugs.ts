/** Bugs in what is recorded of operators. */
import { Either } from "effect";
import { auditHash } from "../../core/protocol/Audit.ts";
import { numberKey } from "../../core/protocol/Tables.ts";
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
  {
    name: "restored-once-more",
    changes: "a peer takes a restore that is over for one that was declared just now",
    finds: "S34",
    schedule: "restores-everywhere",
    tampering: () => ({
      stepped: (_world, _peer, { rejoining }) => {
        if (rejoining.restored !== undefined && rejoining.recovery === undefined)
          Object.assign(rejoining, { isDeclared: true });
      },
    }),
  },
  {
    name: "audit-unchained",
    changes: "a peer shows whatever rows of its audit hold, without a look at whether they follow one another",
    finds: "L4",
    tampering: () => ({
      audited:
        () =>
        ({ view, crypto }, since, limit) =>
          Either.right(
            view
              .scan("audit", since === 1 ? "" : numberKey(since - 1), limit)
              .map(({ row }) => ({ row, hash: auditHash(crypto, row) })),
          ),
    }),
  },
];
