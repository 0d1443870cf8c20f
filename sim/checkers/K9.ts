/**
 * K9: what is erased stays erased: no share of a generation that is destroyed or superseded is stored or left, and its
 * box is in no row, whatever the table and the field. A restored peer keeps its shares until it is a member again.
 */
import { SELF } from "../../core/protocol/Tables.ts";
import type { Rows, RowView, TableName } from "../../core/Tables.ts";
import { Violation } from "../base/Violation.ts";
import type { Checker } from "./Checker.ts";
import { ErasedBoxes } from "./ErasedBoxes.ts";
import type { Ghost } from "./Ghost.ts";

/** What a generation is at a peer; undefined where it is not there. */
const stateAt = (store: RowView, name: string): Rows["generations"]["state"] | undefined => {
  const generation = store.get("generations", name);
  const isEnded = store.get("custodyKeys", generation?.keyId ?? "")?.status === "DESTROYED";
  return isEnded ? "DESTROYED" : generation?.state;
};

/** Whether what was made is for a key that is destroyed. */
const isRuined = (store: RowView, name: string): boolean =>
  store.get("custodyKeys", store.get("pending", name)?.keyId ?? "")?.status === "DESTROYED";

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
        const state = stateAt(peer.store, write.key);
        if (state === "DESTROYED" || state === "SUPERSEDED")
          throw new Violation(
            "K9",
            `generation ${write.key} is ${state} at peer ${peer.slot}`,
            "it stored a share of it",
          );
      },
      pending: ({ slot, store, isDamaged }, { op, key }) => {
        if (op === "remove" || ghost.isLying(slot) || isDamaged || !isRuined(store, key)) return;
        throw new Violation("K9", `the key of ${key} is destroyed at peer ${slot}`, "it stored what it made of it");
      },
      custodyKeys: ({ slot, store, isDamaged }, write) => {
        if (write.op === "remove" || write.row.status !== "DESTROYED" || ghost.isLying(slot) || isDamaged) return;
        if (store.get("restore", SELF)?.recovering === true) return;
        const left = store.scan("pending", "", Number.MAX_SAFE_INTEGER).find(({ row }) => row.keyId === write.key);
        if (left === undefined) return;
        throw new Violation("K9", `peer ${slot} destroyed ${write.key}`, `what it made is there still, as ${left.key}`);
      },
      generations: (peer, write) => {
        if (write.op === "remove" || write.row.state !== "DESTROYED" || ghost.isLying(peer.slot) || peer.isDamaged)
          return;
        const isRecovering = peer.store.get("restore", SELF)?.recovering === true;
        if (!isRecovering && peer.store.get("shares", write.key) !== undefined)
          throw new Violation("K9", `peer ${peer.slot} destroyed generation ${write.key}`, "its share is there still");
      },
      restore: (peer, write) => {
        if (write.op === "remove" || write.row.recovering || ghost.isLying(peer.slot) || peer.isDamaged) return;
        for (const { key } of peer.store.scan("shares", "", Number.MAX_SAFE_INTEGER)) {
          const state = stateAt(peer.store, key);
          if (state !== "ACTIVE" && state !== "HISTORICAL")
            throw new Violation(
              "K9",
              `restored peer ${peer.slot} takes part again, and generation ${key} is ${state ?? "not there"}`,
              "it has a share of it",
            );
        }
      },
    },
  };
};
