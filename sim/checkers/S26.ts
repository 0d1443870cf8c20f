/**
 * S26, the registry half: what a restored peer installs is what an honest helper offered, holds everything that was
 * ever acknowledged to a caller, and until then the peer signs for nothing. So is what it shows to readers before.
 */
import { allRows } from "../../core/Boot.ts";
import { replaceApprover } from "../../core/registry/Root.ts";
import type { Checker, Watched } from "../Checker.ts";
import type { Ghost } from "../Ghost.ts";
import { Violation } from "../Violation.ts";

export const S26 = (ghost: Ghost): Checker => {
  /** By recovery: the roots that were offered for it. */
  const offered = new Map<string, Set<string>>();
  const acknowledged = new Set<string>();
  /** Of real processes nobody hears what they say, so nobody knows what was offered. */
  let hears = false;

  const assertInstalled = ({ slot, store }: Watched, recoveryId: string): void => {
    const lost = [...acknowledged].find((ref) => store.get("approvers", ref) === undefined);
    if (lost !== undefined)
      throw new Violation("S26", `approver ${lost} was acknowledged to a caller`, `peer ${slot} recovered without it`);
    const { crypto } = ghost;
    let set = crypto.emptySet;
    for (const row of allRows(store, "approvers")) set = replaceApprover(crypto, set, undefined, row);
    const roots = offered.get(recoveryId) ?? new Set();
    if (hears && !roots.has(crypto.setDigest(set)))
      throw new Violation(
        "S26",
        `honest members offered peer ${slot} ${roots.size} root(s) for its recovery`,
        `what it installed has root ${crypto.setDigest(set)}, which is none of them`,
      );
  };

  return {
    id: "S26",
    sent: ({ honest }, message) => {
      hears = true;
      if (!honest || message._tag !== "SnapshotOffer") return;
      const roots = offered.get(message.recoveryId) ?? new Set();
      offered.set(message.recoveryId, roots.add(message.cutoff.root));
    },
    replied: (_peer, { answer }) => {
      if (answer._tag === "Registered") acknowledged.add(answer.approver.ref);
    },
    written: {
      restore: (peer, write) => {
        if (write.op !== "remove" && !write.row.recovering && ghost.isAtomic)
          assertInstalled(peer, write.row.restoration.recoveryId);
      },
      readable: (peer, write) => {
        if (write.op !== "remove" && ghost.isAtomic) assertInstalled(peer, write.row.recoveryId);
      },
      preparations: ({ slot }, { op, key }) => {
        if (op !== "remove" && ghost.isRecovering(slot))
          throw new Violation("S26", `peer ${slot} is recovering`, `it signed a RECEIPT of proposal ${key}`);
      },
    },
  };
};
