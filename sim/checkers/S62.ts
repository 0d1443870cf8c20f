/** S62: nobody votes in silence. A receipt, refusal or pledge leaves for another member in the step that made it durable. */
import type { SignedStatement } from "../../core/protocol/Statement.ts";
import type { Checker, Watched } from "./Checker.ts";
import { maskOf, type Ghost } from "./Ghost.ts";
import { statementsIn } from "./StatementsIn.ts";
import { Violation } from "../base/Violation.ts";

const nameOf = ({ statement: { kind, proposalId } }: SignedStatement): string => `${kind} of ${proposalId}`;

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
    swept: (peers) => {
      for (const { slot, isIdle } of peers) if (isIdle) assertTold(slot);
    },
  };
};
