/**
 * S28: a peer that rests on rows that do not hold or are not verified yet, or has no keys in memory, signs nothing; nor
 * does it show what those rows say that anybody has signed. A row that somebody has altered reaches it never, sealed or
 * not.
 */
import type { Checker, Watched } from "./Checker.ts";
import { Violation } from "../base/Violation.ts";

export const S28 = (): Checker => {
  /** By slot: what a process has found out about its rows, once and for as long as it runs. */
  const found = new Map<number, { readonly process: number; readonly where: string }>();
  const note = ({ slot, process, state, honest, alteredRow }: Watched): void => {
    if (honest && alteredRow !== undefined)
      throw new Violation(
        "S28",
        `somebody without keys has altered ${alteredRow} of peer ${slot}`,
        "it was given that row",
      );
    const where = state?.fitness.integrityFault;
    if (where !== undefined && found.get(slot)?.process !== process) found.set(slot, { process, where });
  };

  /** Why a peer must not sign: what was done to rows it rests on, noticed or not; then what it has found itself. */
  const reasonOf = ({ harm, isVerified, state, slot, process }: Watched): string | undefined => {
    if (!isVerified) return `peer ${slot} had its keys back, and had not verified its rows`;
    if (harm !== undefined)
      return `peer ${slot} has taken for its own what somebody had changed before it was unsealed: ${harm}`;
    const known = found.get(slot);
    if (known?.process === process) return `peer ${slot} found that rows do not hold: ${known.where}`;
    return state?.fitness.quarantine && `peer ${slot} is quarantined: ${state.fitness.quarantine}`;
  };

  return {
    id: "S28",
    booted: note,
    stepped: note,
    signed: (peer, tag) => {
      if (!peer.honest || tag !== "CUSTODY_STMT_BATCH_V1") return;
      // Several events may be handled before a new state is shown: the one that found the damage, and this one.
      note(peer);
      const reason = reasonOf(peer);
      if (reason !== undefined) throw new Violation("S28", reason, `peer ${peer.slot} signed a batch of statements`);
    },
    sent: ({ slot, honest }, message, to) => {
      if (!honest || message._tag !== "Ready" || (!message.sealed && message.integrityOk)) return;
      if (message.highSeqProof === undefined && message.restored === undefined) return;
      throw new Violation(
        "S28",
        `peer ${slot} is ${message.sealed ? "sealed" : "damaged"}, and does not know that its rows hold`,
        `it showed peer ${to} what they say was signed`,
      );
    },
  };
};
