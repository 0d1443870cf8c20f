/** S32: every applied proposal leaves exactly one audit row at every member that applied it, in an unbroken chain. */
import { rowCodec } from "../../core/Tables.ts";
import type { Checker } from "../Checker.ts";
import type { Ghost } from "../Ghost.ts";
import { Violation } from "../Violation.ts";

const AUDIT_TAG = "CUSTODY_AUDIT_V1";
const FIRST = "0".repeat(64);

export const S32 = (ghost: Ghost): Checker => {
  const last = new Map<number, { readonly seq: number; readonly hash: string }>();
  return {
    id: "S32",
    flushed: ({ slot, honest }, writes) => {
      if (!honest) return;
      const applied = new Set<string>();
      for (const write of writes) if (write.table === "certificates" && write.op === "insert") applied.add(write.key);
      for (const write of writes) {
        if (write.table !== "audit") continue;
        if (write.op !== "insert")
          throw new Violation("S32", "audit rows are written once", `peer ${slot} did ${write.op} ${write.key}`);
        const { row } = write;
        if (!applied.delete(row.id))
          throw new Violation(
            "S32",
            `peer ${slot} wrote an audit row of ${row.id}`,
            "it did not apply that proposal in the same transaction, or wrote two",
          );
        const before = last.get(slot) ?? { seq: 0, hash: FIRST };
        if (row.seq !== before.seq + 1 || row.prevHash !== before.hash)
          throw new Violation(
            "S32",
            `the newest audit row of peer ${slot} was ${before.seq}`,
            `it wrote row ${row.seq}, chained to ${row.prevHash}`,
          );
        last.set(slot, { seq: row.seq, hash: ghost.crypto.digest(AUDIT_TAG, rowCodec("audit"), row) });
      }
      for (const id of applied)
        throw new Violation("S32", `peer ${slot} applied proposal ${id}`, "it wrote no audit row with it");
    },
  };
};
