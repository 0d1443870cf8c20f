/** Bugs in what a member signs, and in what it knows of the batches and slots that were signed before. */
import { type PlantedBug, rows, besidePreparation, FOREIGN } from "./PlantedBug.ts";

export const signingBugs: ReadonlyArray<PlantedBug> = [
  {
    name: "double-vote",
    changes: "a member that signs a RECEIPT stores a REFUSAL of the same proposal with it",
    finds: "S1",
    tampering: besidePreparation(({ proposal, own, writerReceipt }, key) => [
      { op: "insert", table: "refusals", key, row: { proposal, writerReceipt, refusal: own } },
    ]),
  },
  {
    name: "send-before-flush",
    changes: "a flush is reported as done while its bytes are still volatile, so statements leave too early",
    finds: "S2",
    tampering: () => ({
      flushEnd: (peer) => (peer.underWay.some((each) => each.table === "batches") ? "reported, volatile" : undefined),
    }),
  },
  {
    name: "vote-without-row",
    changes: "a member stores the batch of its receipt, and not the preparation",
    finds: "S2",
    tampering: () => ({
      written: (_world, { peerId, state }, writes) =>
        state?.cluster.membership?.writer === peerId ? writes : writes.filter(({ table }) => table !== "preparations"),
    }),
  },
  {
    name: "late-signer",
    changes: "a receipt is signed after its proposal expired",
    finds: "S17",
    tampering: rows("preparations", (row) => ({
      ...row,
      own: { ...row.own, header: { ...row.own.header, signedAt: row.proposal.expiresAt + 1 } },
    })),
  },
  {
    name: "wrong-topology",
    changes: "receipts are signed for a topology that is not pinned here",
    finds: "S19",
    tampering: rows("preparations", (row) => ({
      ...row,
      own: { ...row.own, statement: { ...row.own.statement, topologyDigest: FOREIGN } },
    })),
  },
  {
    name: "short-memory",
    changes: "what was seen of another peer's batches is recorded as less than before",
    finds: "S21",
    tampering: () => {
      let count = 0;
      return rows("seen", (row) => (++count > 24 ? { ...row, newest: undefined } : row))();
    },
  },
  {
    name: "gap-in-chain",
    changes: "a batch leaves out a number",
    finds: "S22",
    tampering: rows("batches", (row) => ({ ...row, header: { ...row.header, batchNo: row.header.batchNo + 1 } })),
  },
  {
    name: "nobody-remembers",
    changes: "no member tells another what it has seen of it, so one on an old disk joins and signs again",
    finds: "S22",
    schedule: "rollback-silent",
    tampering: () => ({
      delivered: (_world, _peer, message) =>
        message._tag === "Ready" || message._tag === "ReadyProbe" ? { ...message, seen: undefined } : message,
    }),
  },
  {
    name: "believed-number",
    changes: "the highest slot is raised by a number nobody signed",
    finds: "S31",
    tampering: rows("counters", (row) => ({ ...row, highSeq: row.highSeq + 1_000 })),
  },
];
