/**
 * S22: the batches of a peer are numbered without a gap and each names the hash of the one before. Not even a
 * peer that came back on an old disk signs a batch again that an honest peer has on record.
 */
import { restorationHash } from "../../core/protocol/Restoration.ts";
import { batchHash } from "../../core/protocol/Statement.ts";
import type { Rows, WriteTo } from "../../core/Tables.ts";
import type { Checker, Watched } from "./Checker.ts";
import type { Ghost } from "./Ghost.ts";
import { Violation } from "../base/Violation.ts";

type Header = Rows["batches"]["header"];

/** The topology of the first epoch, at which every chain begins that no restore began. */
const foundingOf = ({ membership }: Ghost): string => {
  let epoch = membership;
  while (epoch?.before !== undefined) epoch = epoch.before;
  return epoch?.digest ?? "";
};

export const S22 = (ghost: Ghost): Checker => {
  const last = new Map<number, { readonly batchNo: number | undefined; readonly hash: string }>();
  /** The highest batch of each peer that an honest one has recorded, and who that is. */
  const recorded = new Map<number, { readonly incarnation: number; readonly batchNo: number; readonly by: number }>();

  const assertNew = ({ slot }: Watched, { incarnation, batchNo }: Header): void => {
    if (ghost.isLying(slot)) return;
    const known = recorded.get(slot);
    if (known !== undefined && known.incarnation === incarnation && known.batchNo >= batchNo)
      throw new Violation(
        "S22",
        `peer ${known.by} had batch ${known.batchNo} of peer ${slot} on record`,
        `peer ${slot} made a batch ${batchNo} durable after that`,
      );
  };

  const assertNext = ({ slot }: Watched, header: Header): void => {
    const before = last.get(slot) ?? { batchNo: 0, hash: foundingOf(ghost) };
    // A new incarnation goes on with whatever number its disk had come to.
    const expected = before.batchNo === undefined ? header.batchNo : before.batchNo + 1;
    if (header.batchNo !== expected || header.prevBatchHash !== before.hash)
      throw new Violation(
        "S22",
        `the newest batch of peer ${slot} was ${before.batchNo} with hash ${before.hash}`,
        `it made batch ${header.batchNo} durable, which names ${header.prevBatchHash} as the one before`,
      );
    last.set(slot, { batchNo: header.batchNo, hash: batchHash(ghost.crypto, header) });
  };

  /** Takes note of a batch of another peer that a row proves. */
  const record = (by: Watched, { peerId, incarnation, batchNo }: Header): void => {
    if (!by.honest || peerId === by.slot) return;
    const known = recorded.get(peerId) ?? { incarnation: 0, batchNo: 0 };
    if (incarnation > known.incarnation || (incarnation === known.incarnation && batchNo > known.batchNo))
      recorded.set(peerId, { incarnation, batchNo, by: by.slot });
  };
  const recordWriters = (peer: Watched, write: WriteTo<"preparations"> | WriteTo<"refusals">): void => {
    if (write.op !== "remove") record(peer, write.row.writerReceipt.header);
  };

  return {
    id: "S22",
    written: {
      batches: (peer, write) => {
        if (write.op === "remove") return;
        assertNew(peer, write.row.header);
        if (peer.honest || ghost.isRecovering(peer.slot)) assertNext(peer, write.row.header);
      },
      restore: ({ slot }, write) => {
        if (write.op !== "remove" && write.row.recovering)
          last.set(slot, { batchNo: undefined, hash: restorationHash(ghost.crypto, write.row.restoration) });
      },
      seen: (peer, write) => {
        if (write.op !== "remove" && write.row.newest !== undefined) record(peer, write.row.newest.header);
      },
      certificates: (peer, write) => {
        if (write.op !== "remove") for (const { header } of write.row.receipts) record(peer, header);
      },
      preparations: recordWriters,
      refusals: recordWriters,
    },
  };
};
