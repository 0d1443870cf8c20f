/**
 * K9: what is erased stays erased: no share of a generation that is destroyed or superseded is stored or left, and its
 * box is in no row, whatever the table and the field. Of a key that is destroyed nothing is left at all, nor in memory
 * what would make a share of it. A restored peer keeps its shares until it is a member again.
 */
import type { MakingState } from "../../core/commands/makeKey/MakingState.ts";
import type { RepairState } from "../../core/commands/repairShare/RepairState.ts";
import { SELF } from "../../core/protocol/Tables.ts";
import type { Rows, RowView, TableName } from "../../core/Tables.ts";
import { Violation } from "../base/Violation.ts";
import type { Checker, Watched } from "./Checker.ts";
import { ErasedBoxes } from "./ErasedBoxes.ts";
import type { Ghost } from "./Ghost.ts";

/** What a generation is at a peer; undefined where it is not there. */
const stateAt = (store: RowView, name: string): Rows["generations"]["state"] | undefined => {
  const generation = store.get("generations", name);
  const isEnded = store.get("custodyKeys", generation?.keyId ?? "")?.status === "DESTROYED";
  return isEnded ? "DESTROYED" : generation?.state;
};

const ALL = Number.MAX_SAFE_INTEGER;

const isGone = (store: RowView, keyId: string): boolean => store.get("custodyKeys", keyId)?.status === "DESTROYED";

/** Whether what was made is for a key that is destroyed. */
const isRuined = (store: RowView, name: string): boolean => isGone(store, store.get("pending", name)?.keyId ?? "");

/** Rows name what they hold by key and number. */
const keyIn = (name: string): string => name.slice(0, name.lastIndexOf("/"));

/** What a disk still has of a key, of whichever generation. */
const leftOf = (store: RowView, keyId: string): string | undefined => {
  const share = store.scan("shares", "", ALL).find(({ key }) => keyIn(key) === keyId);
  if (share !== undefined) return `its share of generation ${share.key} is there still`;
  const made = store.scan("pending", "", ALL).find(({ row }) => row.keyId === keyId);
  return made && `what it made is there still, as ${made.key}`;
};

type Memory = Readonly<{ makeKey?: MakingState; repairs?: RepairState }>;

/** What a peer would make shares with, and of which key. */
const meansIn = ({ makeKey, repairs }: Memory): ReadonlyArray<readonly [what: string, keyId: string]> => {
  const found: Array<readonly [string, string]> = [];
  for (const { making } of makeKey?.sessions.values() ?? []) found.push(["a session that makes shares", making.keyId]);
  for (const { keyId } of makeKey?.pending.values() ?? []) found.push(["what was made", keyId]);
  for (const { keyId } of repairs?.repairs.values() ?? []) found.push(["a repair", keyId]);
  for (const { keyId } of repairs?.helping.values() ?? []) found.push(["its part in a repair", keyId]);
  return found;
};

const isRecovering = ({ store }: Watched): boolean => store.get("restore", SELF)?.recovering === true;

export const K9 = (ghost: Ghost): Checker => {
  const boxes = new ErasedBoxes(ghost.product.composition.tables.names as ReadonlyArray<TableName>);
  /** By slot: the memory that was looked at last, since what is to be gone from it changed last. */
  const seen = new Map<number, Memory>();
  const isJudged = ({ slot, isDamaged }: Watched): boolean => !ghost.isLying(slot) && !isDamaged;
  return {
    id: "K9",
    booted: (peer) => {
      boxes.begin(peer);
    },
    stepped: (peer) => {
      const { slot, store, state } = peer;
      const memory: Memory = state?.modules ?? {};
      if (seen.get(slot) === memory) return;
      seen.set(slot, memory);
      const means = meansIn(memory);
      if (means.length === 0 || !isJudged(peer) || isRecovering(peer)) return;
      for (const [what, keyId] of means)
        if (isGone(store, keyId))
          throw new Violation("K9", `key ${keyId} is destroyed at peer ${slot}`, `it still has ${what} of it`);
    },
    flushed: (peer, writes) => {
      const found = boxes.after(peer, writes);
      if (found === undefined || !isJudged(peer)) return;
      throw new Violation(
        "K9",
        `peer ${peer.slot} erased its share of generation ${found.generation}`,
        `its box is in ${found.row}`,
      );
    },
    written: {
      shares: (peer, write) => {
        if (write.op === "remove" || !isJudged(peer)) return;
        const state = isGone(peer.store, keyIn(write.key)) ? "DESTROYED" : stateAt(peer.store, write.key);
        if (state === "DESTROYED" || state === "SUPERSEDED")
          throw new Violation(
            "K9",
            `generation ${write.key} is ${state} at peer ${peer.slot}`,
            "it stored a share of it",
          );
      },
      pending: (peer, { op, key }) => {
        if (op === "remove" || !isJudged(peer) || !isRuined(peer.store, key)) return;
        throw new Violation(
          "K9",
          `the key of ${key} is destroyed at peer ${peer.slot}`,
          "it stored what it made of it",
        );
      },
      custodyKeys: (peer, write) => {
        const { slot, store } = peer;
        if (write.op === "remove" || write.row.status !== "DESTROYED") return;
        seen.delete(slot);
        if (!isJudged(peer) || isRecovering(peer)) return;
        const left = leftOf(store, write.key);
        if (left !== undefined) throw new Violation("K9", `peer ${slot} destroyed ${write.key}`, left);
      },
      generations: (peer, write) => {
        if (write.op === "remove" || write.row.state !== "DESTROYED" || !isJudged(peer)) return;
        if (!isRecovering(peer) && peer.store.get("shares", write.key) !== undefined)
          throw new Violation("K9", `peer ${peer.slot} destroyed generation ${write.key}`, "its share is there still");
      },
      restore: (peer, write) => {
        seen.delete(peer.slot);
        if (write.op === "remove" || write.row.recovering || !isJudged(peer)) return;
        for (const { key } of peer.store.scan("shares", "", ALL)) {
          const state = stateAt(peer.store, key);
          if (state !== "ACTIVE" && state !== "HISTORICAL")
            throw new Violation(
              "K9",
              `restored peer ${peer.slot} takes part again, and generation ${key} is ${state ?? "not there"}`,
              "it has a share of it",
            );
        }
        const ruined = peer.store.scan("pending", "", ALL).find(({ key }) => isRuined(peer.store, key));
        if (ruined !== undefined)
          throw new Violation(
            "K9",
            `restored peer ${peer.slot} takes part again, and the key of ${ruined.key} is destroyed`,
            "it has what it made of it",
          );
      },
    },
  };
};
