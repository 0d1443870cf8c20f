/**
 * S59: what operators are told of a promotion is true. A peer's status names only targets that have durably accepted, or
 * durably have the registry; it waits for exactly the others, and its stage is the one on its disk.
 */
import { type PromotionStatus, promotionStatus } from "../../core/protocol/PromotionStatus.ts";
import type { PeerState } from "../../core/protocol/PeerState.ts";
import { SELF } from "../../core/protocol/Tables.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import { Violation } from "../base/Violation.ts";
import type { Checker, Watched } from "./Checker.ts";
import type { Ghost } from "./Ghost.ts";

/** What a status rests on; while all of it is the same, so is the status. */
const groundsOf = ({ cluster, rejoining, fitness }: PeerState): ReadonlyArray<unknown> => [cluster, rejoining, fitness];

const numbersIn = (text: string): string => (text.match(/\d+/gu) ?? []).join(" ");

export const S59 = (ghost: Ghost): Checker => {
  /** Slots whose disks have ever accepted a draft; that have ever had its whole registry. */
  const accepted = new Set<number>();
  const installed = new Set<number>();
  /** By slot. */
  const judged: Array<ReadonlyArray<unknown> | undefined> = [];

  const wrong = ({ slot }: Watched, said: PromotionStatus, truth: string): Violation =>
    new Violation("S59", `peer ${slot} tells its operators: ${JSON.stringify(said)}`, truth);

  const assertHeard = (peer: Watched, said: PromotionStatus, named: ReadonlyArray<PeerId>, did: Set<number>): void => {
    const other = named.find((peerId) => !did.has(peerId) && !ghost.isLying(peerId));
    if (other !== undefined) throw wrong(peer, said, `peer ${other} has never durably done so`);
  };

  const assertAtSource = (peer: Watched, said: PromotionStatus): void => {
    const targets = said.members.filter((peerId) => peerId !== said.source);
    if (said.source !== peer.slot || targets.length !== said.members.length - 1)
      throw wrong(peer, said, "its members are not the source and its targets");
    assertHeard(peer, said, said.accepted, accepted);
    assertHeard(peer, said, said.installed, installed);
    if (said.stage !== "PINNED" && said.accepted.length < targets.length)
      throw wrong(peer, said, "it was decided, so all targets had accepted");
    if (said.refused.some(({ peerId, reason }) => reason === "" || said.accepted.includes(peerId)))
      throw wrong(peer, said, "nobody both accepts and refuses, or refuses without a reason");
    const done = said.stage === "PINNED" ? said.accepted : said.stage === "DECIDED" ? said.installed : targets;
    const missing = targets.filter((peerId) => !done.includes(peerId));
    // Once nobody is missing it may wait for members to show that its disk is not an old one.
    if ((missing.length > 0 || said.stage !== "DECIDED") && numbersIn(said.waitsFor) !== missing.join(" "))
      throw wrong(peer, said, `what is missing is: ${missing.join(" ") || "nobody"}`);
    const due = said.stage === "PINNED" ? "to accept" : "to take the registry";
    if (missing.length > 0 && !said.waitsFor.endsWith(due)) throw wrong(peer, said, `those are ${due}`);
  };

  const assertAtTarget = (peer: Watched, said: PromotionStatus): void => {
    if (said.stage === "ACCEPTED" && numbersIn(said.waitsFor) !== String(said.source))
      throw wrong(peer, said, `peer ${said.source} has to decide`);
    if (said.stage === "INSTALLED" && (said.waitsFor !== "" || !installed.has(peer.slot)))
      throw wrong(peer, said, "whoever has the registry on its disk waits for nothing, and nobody else has it");
    if (said.stage !== "ACCEPTED" && peer.isIdle && peer.store.get("topology", SELF) === undefined)
      throw wrong(peer, said, "on its disk there is no cluster");
  };

  return {
    id: "S59",
    written: {
      transfer: ({ slot }, write) => {
        if (write.op !== "remove") accepted.add(slot);
      },
      restore: ({ slot, store }, write) => {
        if (write.op !== "remove" && !write.row.recovering && store.get("transfer", SELF) !== undefined)
          installed.add(slot);
      },
    },
    stopped: ({ slot }) => void (judged[slot] = undefined),
    stepped: (peer) => {
      const { slot, honest, state } = peer;
      const { own, bound } = state?.cluster.promotion ?? {};
      if (state === undefined || (own === undefined && bound === undefined) || !honest || ghost.isLying(slot)) return;
      const grounds = groundsOf(state);
      if (judged[slot]?.every((each, index) => each === grounds[index]) === true) return;
      judged[slot] = grounds;
      const said = promotionStatus(state);
      if (said === undefined) throw new Violation("S59", `peer ${slot} is promoted`, "its status says nothing of that");
      const stored = peer.store.get("promotion", SELF)?.stage;
      if (peer.isIdle && said.role === "source" && said.stage !== stored)
        throw wrong(peer, said, `on its disk it is ${stored ?? "not pinned"}`);
      if (said.role === "source") assertAtSource(peer, said);
      else assertAtTarget(peer, said);
    },
  };
};
