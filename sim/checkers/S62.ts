/**
 * S62: nobody votes in silence. A receipt, refusal or pledge leaves for another member in the step that made it durable;
 * and to the writer, whenever that asks again. So does a member's word that it has applied a change.
 */
import type { PeerState } from "../../core/protocol/PeerState.ts";
import { slotKey } from "../../core/protocol/Tables.ts";
import type { SignedStatement } from "../../core/protocol/Statement.ts";
import type { Checker, Watched } from "./Checker.ts";
import { maskOf, type Ghost } from "./Ghost.ts";
import { statementsIn } from "./StatementsIn.ts";
import { Violation } from "../base/Violation.ts";

const nameOf = ({ statement: { kind, proposalId } }: SignedStatement): string => `${kind} of ${proposalId}`;

const isActive = ({ fitness, rejoining }: PeerState): boolean =>
  fitness.unsealed &&
  fitness.integrityFault === undefined &&
  fitness.quarantine === undefined &&
  rejoining.recovery === undefined &&
  rejoining.unproven.size === 0;

export const S62 = (ghost: Ghost): Checker => {
  /** By slot: own votes that are durable and have not left; whether their step has been published. */
  const untold: Array<Map<string, boolean> | undefined> = [];
  const pledged = new Set<string>();

  const note = ({ slot, honest, state }: Watched, vote: SignedStatement): void => {
    const isAlone = state?.cluster.membership?.peerIds.length === 1;
    if (!honest || isAlone || (ghost.lying & maskOf(slot)) !== 0) return;
    (untold[slot] ??= new Map<string, boolean>()).set(nameOf(vote), false);
  };

  const assertTold = (slot: number): void => {
    for (const [name, isPublished] of untold[slot] ?? [])
      if (isPublished)
        throw new Violation("S62", `peer ${slot} has made its ${name} durable`, "it went on and told nobody of it");
  };

  const forget = ({ slot }: Watched): void => void (untold[slot] = undefined);

  return {
    id: "S62",
    booted: forget,
    stopped: forget,
    written: {
      preparations: (peer, write) => {
        const name = `${peer.slot} ${write.key}`;
        if (write.op === "remove") return void pledged.delete(name);
        if (write.op === "insert") note(peer, write.row.own);
        if (write.row.pledge === undefined || pledged.has(name)) return;
        pledged.add(name);
        note(peer, write.row.pledge);
      },
      slots: (peer, write) => {
        if (write.op === "remove" || write.row.outcome !== "APPLIED" || write.row.ack === undefined) return;
        const { membership, peer: own } = peer.state?.cluster ?? {};
        if (write.row.ack.header.peerId === own?.peerId && own.peerId !== membership?.writer) note(peer, write.row.ack);
      },
      refusals: (peer, write) => {
        if (write.op === "insert") note(peer, write.row.refusal);
      },
    },
    stepped: ({ slot }) => {
      const open = untold[slot];
      if (open === undefined || open.size === 0) return;
      assertTold(slot);
      for (const name of open.keys()) open.set(name, true);
    },
    sent: ({ slot }, message) => {
      const open = untold[slot];
      if (open === undefined || open.size === 0) return;
      for (const each of statementsIn(ghost.product, message))
        if (each.header.peerId === slot) open.delete(nameOf(each));
    },
    handled: ({ slot, honest, state, store, isDamaged, isIdle }, from, message, before, { transactions, said }) => {
      if (message._tag !== "Prepare" || said > 0 || transactions > 0 || !isIdle || !honest || isDamaged) return;
      if ((ghost.lying | ghost.forgetful) !== 0) return;
      if (from !== before.cluster.membership?.writer || state === undefined) return;
      if (!isActive(before) || !isActive(state)) return;
      const asked = message.items.find(({ proposal, receipt }) => {
        const { preparations, refused } = before.undecided;
        const { proposalId: id } = receipt.statement;
        const { epoch, seq } = proposal;
        // What was changed on the way is not the writer's question.
        const isAltered = JSON.stringify(proposal) !== JSON.stringify(ghost.proposals.get(id)?.proposal);
        if (isAltered || !ghost.isReceipt(id, receipt)) return false;
        const ended = store.get("slots", slotKey(epoch, seq));
        return preparations.has(id) || refused.has(id) || (ended?.proposalId === id && ended.ack !== undefined);
      });
      if (asked !== undefined)
        throw new Violation(
          "S62",
          `peer ${slot} has said what it thinks of ${asked.receipt.statement.proposalId}`,
          "the writer asked again, and was not told",
        );
    },
    swept: (peers) => {
      for (const { slot, isIdle } of peers) if (isIdle) assertTold(slot);
    },
  };
};
