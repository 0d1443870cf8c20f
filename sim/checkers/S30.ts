/** S30: every receipt, and every session that is kept, was permitted and correct, by an opinion formed without the members' code. */
import type { Checker } from "./Checker.ts";
import type { Ghost } from "./Ghost.ts";
import type { Oracle } from "../oracle/Oracle.ts";
import { Violation } from "../base/Violation.ts";

export const S30 = (ghost: Ghost, oracle: Oracle): Checker => ({
  id: "S30",
  written: {
    sessions: ({ slot, honest }, write) => {
      if (!honest || write.op !== "insert") return;
      const fault = oracle.judgeSession(write.row.session);
      if (fault !== undefined) throw new Violation("S30", `peer ${slot} keeps session ${write.key}`, fault);
    },
    seen: (_peer, write) => {
      if (write.op === "remove" || !ghost.isLying(write.row.peerId)) return;
      oracle.announced(write.row.peerId, write.row.incarnation);
    },
    restore: ({ slot, store }, write) => {
      if (write.op !== "remove") oracle.restored(slot, write.row.restoration.incarnation, store);
    },
  },
  flushed: ({ slot, honest }, writes) => {
    const { membership } = ghost;
    if (!honest || membership === undefined) return;
    const fault = oracle.judge(slot, membership, writes);
    if (fault !== undefined) throw new Violation("S30", `peer ${slot} signed a RECEIPT`, fault);
  },
});
