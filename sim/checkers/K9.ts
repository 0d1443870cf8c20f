/**
 * K9: what is erased stays erased: no share of a generation that is destroyed or superseded is stored or left, and its
 * box is in no row, whatever the table and the field.
 */
import type { TableName } from "../../core/Tables.ts";
import { Violation } from "../base/Violation.ts";
import type { Checker } from "./Checker.ts";
import { ErasedBoxes } from "./ErasedBoxes.ts";
import type { Ghost } from "./Ghost.ts";

export const K9 = (ghost: Ghost): Checker => {
  const boxes = new ErasedBoxes(ghost.product.composition.tables.names as ReadonlyArray<TableName>);
  return {
    id: "K9",
    booted: (peer) => {
      boxes.begin(peer);
    },
    flushed: (peer, writes) => {
      const found = boxes.after(peer, writes);
      if (found === undefined || ghost.isLying(peer.slot) || peer.isDamaged) return;
      throw new Violation(
        "K9",
        `peer ${peer.slot} erased its share of generation ${found.generation}`,
        `its box is in ${found.row}`,
      );
    },
    written: {
      shares: (peer, write) => {
        if (write.op === "remove" || ghost.isLying(peer.slot) || peer.isDamaged) return;
        const generation = peer.store.get("generations", write.key);
        const isEnded = peer.store.get("custodyKeys", generation?.keyId ?? "")?.status === "DESTROYED";
        const state = isEnded ? "DESTROYED" : generation?.state;
        if (state === "DESTROYED" || state === "SUPERSEDED")
          throw new Violation(
            "K9",
            `generation ${write.key} is ${state} at peer ${peer.slot}`,
            "it stored a share of it",
          );
      },
      generations: (peer, write) => {
        if (write.op === "remove" || write.row.state !== "DESTROYED" || ghost.isLying(peer.slot) || peer.isDamaged)
          return;
        if (peer.store.get("shares", write.key) !== undefined)
          throw new Violation("K9", `peer ${peer.slot} destroyed generation ${write.key}`, "its share is there still");
      },
    },
  };
};
