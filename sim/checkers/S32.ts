/**
 * S32: every applied proposal leaves exactly one audit row at every member that applied it, and so do the founding,
 * each step of a promotion, each consent and each share that was repaired, in an unbroken chain, and each row names the
 * integrity key that was the newest then. S34 judges what operators did.
 */
import { allRows } from "../../core/protocol/AllRows.ts";
import type { Crypto } from "../../core/crypto/Crypto.ts";
import { FIRST_INTEGRITY_VERSION } from "./Ends.ts";
import { topologyDigest } from "../../core/protocol/Topology.ts";
import type { Rows, RowView, Write } from "../../core/Tables.ts";
import { protocolTables, SELF } from "../../core/protocol/Tables.ts";
import type { Checker } from "./Checker.ts";
import { generationKey } from "./KeyFacts.ts";
import { type Ghost, maskOf } from "./Ghost.ts";
import { Violation } from "../base/Violation.ts";

const AUDIT_TAG = "CUSTODY_AUDIT_V1";
const FIRST = "0".repeat(64);

/** The certificates that a transaction inserts are those it applies. */
const applies = (writes: ReadonlyArray<Write>, id: string): boolean =>
  writes.some(({ table, op, key }) => table === "certificates" && op === "insert" && key === id);

/** Whether the event tells of the topology that is pinned in the same transaction. */
const founds = (crypto: Crypto, writes: ReadonlyArray<Write>, { event, id }: Rows["audit"]): boolean =>
  event === "CLUSTER_FOUNDED" &&
  writes.some(
    (write) => write.table === "topology" && write.op === "insert" && topologyDigest(crypto, write.row.topology) === id,
  );

/** Whether the event tells of what was applied, and of nothing else. */
const tells = ({ product }: Ghost, row: Rows["audit"], writes: ReadonlyArray<Write>): boolean =>
  writes.some((write) => {
    if (write.table !== "certificates" || write.op === "remove" || write.key !== row.id) return false;
    const { kind, entryPeer } = write.row.proposal;
    const changing = product.changing(kind);
    const { ref, revision } = changing.changeOf(write.row.proposal);
    const { event, generation } = changing.auditOf(write.row.proposal);
    if (row.event !== event || row.entryPeer !== entryPeer) return false;
    return generation === undefined
      ? row.approverRef === ref && row.metadataRevision === revision
      : row.keyId === ref && row.generation === generation;
  });

/** Whether the event tells of a consent that the same transaction gives. */
const consents = (writes: ReadonlyArray<Write>, { event, id, keyId, generation, entryPeer }: Rows["audit"]): boolean =>
  event === "SIGN_CONSENTED" &&
  writes.some(
    (write) =>
      write.table === "consents" &&
      write.op !== "remove" &&
      write.key === id &&
      write.row.keyId === keyId &&
      write.row.generation === generation &&
      write.row.coordinator === entryPeer,
  );

/** Whether the event tells of this share. */
const isOfShare = (share: string, { event, keyId, generation, peerId, entryPeer, actor }: Rows["audit"]): boolean =>
  event === "SHARE_REPAIRED" &&
  share === generationKey(keyId ?? "", generation ?? 0) &&
  entryPeer === peerId &&
  actor !== undefined;

/** Whether the event tells of a share that the same transaction stores again. */
const repairs = (writes: ReadonlyArray<Write>, row: Rows["audit"]): boolean =>
  writes.some(({ table, op, key }) => table === "shares" && op !== "remove" && isOfShare(key, row));

/** Whether the event tells of the step of a promotion that the same transaction takes. */
const promotes = (writes: ReadonlyArray<Write>, { event }: Rows["audit"]): boolean =>
  writes.some((write) => {
    if (write.op === "remove") return false;
    if (write.table === "promotion") return event === `PROMOTION_${write.row.stage}`;
    return write.table === "transfer" && event === "PROMOTION_ACCEPTED";
  });

/** Whether what a peer did that no proposal tells of is told in the same transaction. */
const assertTold = (
  slot: number,
  what: string,
  writes: ReadonlyArray<Write>,
  tellsOfIt: (row: Rows["audit"]) => boolean = ({ event }) => event === what,
): void => {
  if (!writes.some((write) => write.table === "audit" && write.op === "insert" && tellsOfIt(write.row)))
    throw new Violation("S32", `peer ${slot} took the step ${what}`, "its audit does not tell of it");
};

const auditRowsOf = (writes: ReadonlyArray<Write>, id: string): number => {
  let rows = 0;
  for (const write of writes) if (write.table === "audit" && write.op === "insert" && write.row.id === id) rows += 1;
  return rows;
};

export const S32 = (ghost: Ghost): Checker => {
  const last = new Map<number, { readonly seq: number; readonly hash: string }>();
  /** By slot: the integrity keys that its rows name beside the first. */
  const laterKeys = new Map<number, number>();
  /** By slot: the transaction with the newest of them, which the key before it seals. */
  const introducedIn = new Map<number, ReadonlyArray<Write>>();
  const goOn = (slot: number, row: Rows["audit"]): void =>
    void last.set(slot, { seq: row.seq, hash: ghost.crypto.digest(AUDIT_TAG, protocolTables.audit, row) });
  const goOnFrom = (slot: number, store: RowView): void => {
    const counters = store.get("counters", SELF);
    if (counters === undefined) last.delete(slot);
    else last.set(slot, { seq: counters.auditSeq, hash: counters.auditHash });
  };

  return {
    id: "S32",
    booted: ({ slot, honest, store, isDamaged }) => {
      if (isDamaged) return;
      laterKeys.set(slot, allRows(store, "integrity").length);
      // Nobody is a witness of what an instance that is alone has lost with its newer disk; an empty one begins anew.
      if (!honest || (ghost.forgetful & maskOf(slot)) !== 0) goOnFrom(slot, store);
    },
    written: {
      integrity: ({ slot }, { op }, writes) => {
        if (op !== "insert") return;
        laterKeys.set(slot, 1 + (laterKeys.get(slot) ?? 0));
        introducedIn.set(slot, writes);
      },
      // A restored peer goes on with the chain that was on its disk.
      restore: ({ slot, store }, write) => {
        if (write.op !== "remove") goOnFrom(slot, store);
      },
      certificates: ({ slot, honest }, { op, key }, writes) => {
        if (!honest || op !== "insert") return;
        const rows = auditRowsOf(writes, key);
        if (rows !== 1)
          throw new Violation("S32", `peer ${slot} applied proposal ${key}`, `it wrote ${rows} audit rows with it`);
      },
      promotion: ({ slot, honest }, write, writes) => {
        if (honest && write.op !== "remove") assertTold(slot, `PROMOTION_${write.row.stage}`, writes);
      },
      // What comes with a certificate was made with the others; so was what a restored peer had of it already.
      shares: ({ slot, honest }, { op, key }, writes) => {
        const isOfAll = writes.some(
          (each) => each.table === "certificates" || (each.table === "pending" && each.key === key),
        );
        if (honest && op === "insert" && !isOfAll)
          assertTold(slot, `SHARE_REPAIRED of ${key}`, writes, (row) => isOfShare(key, row));
      },
      consents: ({ slot, honest }, { op, key }, writes) => {
        if (honest && op === "insert") assertTold(slot, `SIGN_CONSENTED to ${key}`, writes, ({ id }) => id === key);
      },
      transfer: ({ slot, honest }, { op }, writes) => {
        if (honest && op === "insert") assertTold(slot, "PROMOTION_ACCEPTED", writes);
        // The decision may come in the same transaction, which begins a restore of its own.
        if (op === "replace" && !ghost.isLying(slot))
          throw new Violation(
            "S32",
            `peer ${slot} had accepted its draft`,
            "it accepted it, and its audit told of that, again",
          );
      },
      audit: ({ slot, honest }, write, writes) => {
        // An empty machine that founds a cluster later goes on with the chain that it began before.
        if (!honest) return write.op === "remove" ? undefined : goOn(slot, write.row);
        if (write.op !== "insert")
          throw new Violation("S32", "audit rows are written once", `peer ${slot} did ${write.op} ${write.key}`);
        const { row } = write;
        const isOther =
          row.requestId !== undefined ||
          founds(ghost.crypto, writes, row) ||
          consents(writes, row) ||
          repairs(writes, row) ||
          promotes(writes, row);
        if (!isOther && !applies(writes, row.id))
          throw new Violation(
            "S32",
            `peer ${slot} wrote an audit row of ${row.id}`,
            "it did not apply that proposal in the same transaction",
          );
        if (!isOther && !tells(ghost, row, writes))
          throw new Violation(
            "S32",
            `peer ${slot} applied proposal ${row.id}`,
            `its audit row tells of ${row.event} to ${row.metadataRevision ?? row.generation} of ${row.approverRef ?? row.keyId} through peer ${row.entryPeer}`,
          );
        // Rows of a transaction are in no order.
        const own = introducedIn.get(slot) === writes ? 1 : 0;
        const version = FIRST_INTEGRITY_VERSION + (laterKeys.get(slot) ?? 0) - own;
        if (row.integrityKeyVersion !== version)
          throw new Violation(
            "S32",
            `peer ${slot} seals with its integrity key ${version}`,
            `its audit row of ${row.id} names key ${row.integrityKeyVersion}`,
          );
        const before = last.get(slot) ?? { seq: 0, hash: FIRST };
        if (row.seq !== before.seq + 1 || row.prevHash !== before.hash)
          throw new Violation(
            "S32",
            `the newest audit row of peer ${slot} was ${before.seq}`,
            `it wrote row ${row.seq}, chained to ${row.prevHash}`,
          );
        goOn(slot, row);
      },
    },
  };
};
