/**
 * S44: a refusal is deserved. Where the writer and the entry peer are honest, a member has a reason of its own to
 * refuse, or somebody who may has asked it to: another's fault in the same message is none.
 */
import type { Digest } from "../../core/base/Digest.ts";
import type { Proposal } from "../../core/protocol/Proposal.ts";
import type { SignedStatement } from "../../core/protocol/Statement.ts";
import type { Checker, Watched } from "./Checker.ts";
import { type Ghost, maskOf } from "./Ghost.ts";
import type { Oracle } from "../oracle/Oracle.ts";
import { Violation } from "../base/Violation.ts";

/** Of the service. */
const PREPARATIONS = 256;

export const S44 = (ghost: Ghost, oracle: Oracle): Checker => {
  /** Proposals that their writer has given up, or wants to be ended. */
  const abandoned = new Set<Digest>();
  /** By slot and request: what a peer told its callers was not done. */
  const denied = new Set<string>();
  const isRefusedBeside = (slot: number, id: Digest): boolean =>
    [...(ghost.proposals.get(id)?.endVotes.keys() ?? [])].some((voter) => voter !== slot);
  /** By check whose reason is somebody else's word: whether anybody has said so. */
  const words: ReadonlyMap<string, (slot: number, proposal: Proposal, id: Digest) => boolean> = new Map([
    ["ABANDONED", (_slot, _proposal, id) => abandoned.has(id)],
    // What a liar has voted, and in which incarnation, only those know to whom it said it.
    ["REFUSED_BY_ANOTHER", (slot, _proposal, id) => ghost.lying !== 0 || isRefusedBeside(slot, id)],
    ["WRONG_INCARNATION", () => (ghost.restored | ghost.lying) !== 0],
    ["RECOVERING", (slot) => (ghost.restored & maskOf(slot)) !== 0],
    ["DENIED", (slot, proposal) => denied.has(`${slot} ${proposal.requestId}`)],
  ]);
  const unasked = (slot: number, proposal: Proposal, { statement }: SignedStatement): string | undefined =>
    words.get(statement.detail)?.(slot, proposal, statement.proposalId) === false
      ? "nobody has given it that reason"
      : undefined;
  const assertDeserved = (peer: Watched, proposal: Proposal, refusal: SignedStatement): void => {
    const fault =
      unasked(peer.slot, proposal, refusal) ??
      oracle.undeserved(peer.slot, proposal, refusal, {
        misjudgesTokens: peer.misjudgesTokens,
        configDigest: peer.settings?.configDigest,
        preparations: ghost.capacities.preparations ?? PREPARATIONS,
      });
    if (fault === undefined) return;
    const { detail, proposalId } = refusal.statement;
    throw new Violation("S44", `peer ${peer.slot} refused proposal ${proposalId} (${detail})`, fault);
  };
  return {
    id: "S44",
    sent: ({ slot }, message) => {
      if (slot !== ghost.membership?.writer) return;
      if (message._tag === "AbortRequest" || (message._tag === "SettleQuery" && message.demandFinal))
        for (const { receipt } of message.items) abandoned.add(receipt.statement.proposalId);
    },
    replied: ({ slot }, { requestId, answer }) => {
      if (answer._tag === "Rejected") denied.add(`${slot} ${requestId}`);
    },
    flushed: (peer, writes) => {
      if (!peer.honest || !ghost.hasConstantWriter) return;
      for (const write of writes)
        if (write.table === "refusals" && write.op === "insert" && !ghost.isLying(write.row.proposal.entryPeer))
          assertDeserved(peer, write.row.proposal, write.row.refusal);
    },
  };
};
