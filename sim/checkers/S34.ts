/**
 * S34: what operators did to a peer is in its audit: everything they were answered, in that order and each act once,
 * whatever crashed in between, and nothing that no operator did. Nor does a peer restore itself: a restore begins once
 * for what was declared, unless another is under way.
 */
import type { OperatorAct } from "../../core/protocol/OperatorAct.ts";
import { SELF } from "../../core/protocol/Tables.ts";
import type { Rows } from "../../core/Tables.ts";
import type { Checker, Watched } from "./Checker.ts";
import { type Ghost, maskOf } from "./Ghost.ts";
import { Violation } from "../base/Violation.ts";

/** What one peer owes its audit. */
interface Owed {
  /** By request id: the acts, and how many had been answered when each was made. */
  readonly made: Map<string, { readonly act: OperatorAct; readonly answered: number }>;
  /** Request ids in the order in which they were answered. */
  readonly answered: Array<string>;
  readonly written: Set<string>;
}

export const S34 = (ghost: Ghost): Checker => {
  const peers = new Map<number, Owed>();
  const owedBy = ({ slot }: Pick<Watched, "slot">): Owed => {
    const owed = peers.get(slot) ?? { made: new Map(), answered: [], written: new Set() };
    peers.set(slot, owed);
    return owed;
  };
  /** By slot: the restore on its disk; whether another was declared since that began. */
  const restores = new Map<number, Rows["restore"]>();
  const declared = new Set<number>();

  const noteRestore = ({ slot, store, state }: Watched, row: Rows["restore"]): void => {
    const before = restores.get(slot);
    restores.set(slot, row);
    // Whoever is recovering may have to begin anew for what others say, but hears nobody while it is sealed. A process
    // that was killed leaves what it had begun to write.
    const isUnderWay = before?.recovering === true && state?.fitness.unsealed !== false;
    if (!row.recovering || isUnderWay || row.restoration.incarnation === before?.restoration.incarnation) return;
    const isDeclared = declared.delete(slot);
    // A target of a promotion takes its first registry so.
    if (isDeclared || (before === undefined && store.get("transfer", SELF) !== undefined)) return;
    throw new Violation(
      "S34",
      `peer ${slot} began to restore itself as incarnation ${row.restoration.incarnation}`,
      "no operator has declared that since its last restore",
    );
  };

  const noteDisk = ({ slot, store, isDamaged }: Watched): void => {
    if (isDamaged) return;
    const restore = store.get("restore", SELF);
    if (restore === undefined) restores.delete(slot);
    else restores.set(slot, restore);
  };

  return {
    id: "S34",
    // On an old disk the audit begins again where that disk left off, on an empty one from the start.
    booted: (peer) => {
      noteDisk(peer);
      if (peer.honest && (ghost.forgetful & maskOf(peer.slot)) === 0) return;
      const owed = owedBy(peer);
      owed.answered.length = 0;
      owed.written.clear();
    },
    operated: (peer, act, isAnswered) => {
      const { made, answered } = owedBy(peer);
      if (act.call === "RESTORE" && !isAnswered) declared.add(peer.slot);
      if (!isAnswered) made.set(act.requestId, { act, answered: answered.length });
      else if (peer.honest) answered.push(act.requestId);
    },
    written: {
      restore: (peer, write) => {
        if (write.op !== "remove") noteRestore(peer, write.row);
      },
      audit: (peer, write) => {
        if (write.op === "remove" || write.row.requestId === undefined) return;
        const { row } = write;
        const { made, answered, written } = owedBy(peer);
        const id = row.requestId ?? "";
        // The transaction in which a declared restore begins may hold what was answered before, while it was sealed.
        if (!peer.honest) return void written.add(id);
        const known = made.get(id);
        if (known === undefined || known.act.call !== row.event || known.act.outcome !== row.outcome)
          throw new Violation("S34", `no operator did ${row.event} by ${id}`, `peer ${peer.slot} has it in its audit`);
        if (written.has(id))
          throw new Violation("S34", `peer ${peer.slot} has ${id} in its audit`, "it wrote it there once more");
        written.add(id);
        const earlier = answered.slice(0, known.answered).find((each) => !written.has(each));
        if (earlier !== undefined)
          throw new Violation(
            "S34",
            `peer ${peer.slot} had answered ${earlier} before ${id} began`,
            `its audit has ${id}, and not yet the other`,
          );
      },
    },
    swept: (all) => {
      for (const peer of all) {
        const { state } = peer;
        if (!peer.honest || !peer.isIdle || peer.isDamaged || state?.fitness.unsealed !== true) continue;
        if (state.fitness.integrityFault !== undefined) continue;
        const { answered, written } = owedBy(peer);
        const missing = answered.find((each) => !written.has(each));
        if (missing !== undefined)
          throw new Violation(
            "S34",
            `peer ${peer.slot} has answered ${missing} to an operator`,
            "it is unsealed, and its audit does not have it",
          );
      }
    },
  };
};
