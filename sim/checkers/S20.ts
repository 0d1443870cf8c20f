/**
 * S20: of two epochs only one decides at a time. From the moment at which a source has durably pinned a draft, nothing
 * is applied in the old epoch; until every member has the registry, nothing in the new one.
 */
import type { Digest } from "../../core/base/Digest.ts";
import type { Rows } from "../../core/Tables.ts";
import type { Checker, Watched } from "./Checker.ts";
import { type Ghost, maskOf } from "./Ghost.ts";
import { Violation } from "../base/Violation.ts";

type Stage = Rows["promotion"]["stage"];

export const S20 = (ghost: Ghost): Checker => {
  /** The newest draft of an honest source, and how far it is. */
  let pinned: { readonly by: number; readonly oldDigest: Digest; readonly firstSlot: number; stage: Stage } | undefined;

  /** By slot: what a target has accepted. Its source may lie to it, and the target still knows when its time is. */
  const accepted = new Map<number, Rows["transfer"]["draft"]>();

  /** A source on an older disk does not know what it pinned. */
  const isKnown = (by: number): boolean => (ghost.forgetful & maskOf(by)) === 0 && !ghost.isLying(by);

  const assertInTurn = (
    { slot, honest }: Watched,
    id: string,
    { seq, topologyDigest }: Rows["preparations"]["proposal"],
    what: string,
  ): void => {
    if (!honest) return;
    const bound = accepted.get(slot);
    const isAfterwards = bound !== undefined && (!ghost.isRecovering(slot) || seq >= bound.firstSlot);
    if (isAfterwards && topologyDigest === bound.oldDigest)
      throw new Violation(
        "S20",
        `peer ${slot} has accepted a promotion of peer ${bound.source}, at slot ${bound.firstSlot}`,
        `it ${what} ${id} of slot ${seq} in the epoch before`,
      );
    if (pinned === undefined || !isKnown(pinned.by)) return;
    const { by, stage, oldDigest, firstSlot } = pinned;
    const isOld = topologyDigest === oldDigest;
    // What a target takes over was applied by the source before.
    const isTakenOver = isOld && slot !== by && ghost.isRecovering(slot) && seq < firstSlot;
    if (isOld && !isTakenOver)
      throw new Violation("S20", `peer ${by} has pinned a promotion`, `peer ${slot} ${what} ${id} in the old epoch`);
    if (!isOld && stage !== "DONE")
      throw new Violation(
        "S20",
        `the promotion of peer ${by} is ${stage}: not every member has the registry`,
        `peer ${slot} ${what} ${id} in the new epoch`,
      );
  };

  return {
    id: "S20",
    written: {
      promotion: ({ slot, honest }, write) => {
        if (write.op === "remove" || !honest) return;
        const { draft, stage } = write.row;
        pinned = { by: slot, oldDigest: draft.oldDigest, firstSlot: draft.firstSlot, stage };
      },
      transfer: ({ slot }, write) => {
        if (write.op !== "remove") accepted.set(slot, write.row.draft);
      },
      preparations: (peer, write) => {
        if (write.op === "insert") assertInTurn(peer, write.key, write.row.proposal, "signed a RECEIPT of proposal");
      },
      certificates: (peer, write) => {
        if (write.op === "insert") assertInTurn(peer, write.key, write.row.proposal, "applied proposal");
      },
    },
  };
};
