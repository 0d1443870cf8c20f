/** S11: revisions of a subject go one by one and never back; equal revisions are equal everywhere, in metadata and time. */
import type { Write } from "../../core/Tables.ts";
import type { Checker } from "./Checker.ts";
import type { Ghost } from "./Ghost.ts";
import { rowsOf } from "../models/Product.ts";
import type { Subject } from "../models/Subject.ts";
import { ofSubjects } from "./SubjectHooks.ts";
import { Violation } from "../base/Violation.ts";

/** The subject as the certificate of the same transaction makes it. */
const certified = (
  { product }: Ghost,
  writes: ReadonlyArray<Write>,
  subject: Subject,
  ref: string,
  revision: number,
): object | undefined => {
  for (const write of writes) {
    if (write.table !== "certificates" || write.op === "remove") continue;
    const change = product.changeOf(write.row.proposal);
    if (change.subject === subject && change.ref === ref && change.revision === revision) return change.row;
  }
  return undefined;
};

export const S11 = (ghost: Ghost): Checker => {
  /** By slot, by ref: the revision that is durable there. */
  const durable = Array.from({ length: ghost.total + 1 }, () => new Map<string, number>());
  return {
    id: "S11",
    written: {
      // A restored peer took its revisions from the others.
      restore: ({ slot, store }, write) => {
        if (write.op === "remove" || write.row.recovering) return;
        durable[slot]?.clear();
        for (const subject of ghost.product.subjects)
          for (const [ref, row] of rowsOf(store, subject)) durable[slot]?.set(ref, subject.revisionOf(row));
      },
      ...ofSubjects(ghost.product, (subject) => ({ slot, honest }, write, writes) => {
        if (!honest || write.op === "remove") return;
        const { row, key } = write;
        const revision = subject.revisionOf(row);
        const before = durable[slot]?.get(key) ?? 0;
        durable[slot]?.set(key, revision);
        if (revision !== before + 1)
          throw new Violation(
            "S11",
            `peer ${slot} had ${before === 0 ? "no revision" : `revision ${before}`} of ${key}`,
            `it stored revision ${revision}`,
          );
        const first = ghost.subjects.get(key)?.revisions.get(revision);
        const elsewhere = first && first !== row ? subject.differs(first, row) : undefined;
        if (elsewhere !== undefined)
          throw new Violation(
            "S11",
            `revision ${revision} of ${key} was stored first with another ${elsewhere}`,
            `peer ${slot} stored it with its own`,
          );
        // A first revision is whatever its registration says (S3, S12); a later one has to be asked for.
        if (revision === 1) return;
        const made = certified(ghost, writes, subject, key, revision);
        const forgotten = made === undefined ? "certificate" : subject.differs(made, row);
        if (forgotten !== undefined)
          throw new Violation(
            "S11",
            `peer ${slot} stored revision ${revision} of ${key}`,
            made === undefined ? "no certificate came with it" : `its certificate says another ${forgotten}`,
          );
      }),
    },
  };
};
