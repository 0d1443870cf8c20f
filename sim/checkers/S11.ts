/** S11: revisions of an approver go one by one and never back; equal revisions hold equal metadata and time everywhere. */
import { effectsIn } from "../Effects.ts";
import { allRows } from "../../core/protocol/AllRows.ts";
import type { Rows, Write } from "../../core/Tables.ts";
import type { Checker } from "../Checker.ts";
import type { Ghost } from "../Ghost.ts";
import { Violation } from "../Violation.ts";

type Revision = Pick<Rows["approvers"], "metadata" | "updatedAt">;

const difference = (left: Revision, right: Revision): string | undefined => {
  if (left.updatedAt !== right.updatedAt) return "updatedAt";
  if (left.metadata === right.metadata) return undefined;
  return JSON.stringify(left.metadata) === JSON.stringify(right.metadata) ? undefined : "metadata";
};

/** What the certificate of the same transaction makes of the approver. */
const certified = (writes: ReadonlyArray<Write>, ref: string, revision: number): Revision | undefined => {
  for (const write of writes) {
    if (write.table !== "certificates" || write.op === "remove") continue;
    const effects = effectsIn(write.row.proposal);
    if (effects.ref === ref && effects.newRevision === revision) return effects;
  }
  return undefined;
};

export const S11 = (ghost: Ghost): Checker => {
  /** By slot, by ref: the revision that is durable there. */
  const durable = Array.from({ length: ghost.total + 1 }, () => new Map<string, number>());
  return {
    id: "S11",
    written: {
      // What a restored peer has is what it took from the others.
      restore: ({ slot, store }, write) => {
        if (write.op === "remove" || write.row.recovering) return;
        durable[slot]?.clear();
        for (const { ref, revision } of allRows(store, "approvers")) durable[slot]?.set(ref, revision);
      },
      approvers: ({ slot, honest }, write, writes) => {
        if (!honest || write.op === "remove") return;
        const { row, key } = write;
        const before = durable[slot]?.get(key) ?? 0;
        durable[slot]?.set(key, row.revision);
        if (row.revision !== before + 1)
          throw new Violation(
            "S11",
            `peer ${slot} had ${before === 0 ? "no revision" : `revision ${before}`} of ${key}`,
            `it stored revision ${row.revision}`,
          );
        const first = ghost.approvers.get(key)?.revisions.get(row.revision);
        const elsewhere = first && first !== row ? difference(first, row) : undefined;
        if (elsewhere !== undefined)
          throw new Violation(
            "S11",
            `revision ${row.revision} of ${key} was stored first with another ${elsewhere}`,
            `peer ${slot} stored it with its own`,
          );
        // A first revision is whatever its registration says (S3, S12); a later one has to be asked for.
        if (row.revision === 1) return;
        const effects = certified(writes, key, row.revision);
        const forgotten = effects === undefined ? "certificate" : difference(effects, row);
        if (forgotten !== undefined)
          throw new Violation(
            "S11",
            `peer ${slot} stored revision ${row.revision} of ${key}`,
            effects === undefined ? "no certificate came with it" : `its certificate says another ${forgotten}`,
          );
      },
    },
  };
};
