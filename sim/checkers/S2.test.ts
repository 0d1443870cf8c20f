import { expect, it } from "vitest";
import type { Message } from "../../core/Message.ts";
import { crypto } from "../../properties/cluster/Cluster.ts";
import { forgedBy } from "../../properties/cluster/Forging.ts";
import { prepared } from "../../properties/cluster/Prepared.ts";
import { watched } from "../../properties/cluster/Watching.ts";
import { Ghost } from "./Ghost.ts";
import { Violation } from "../base/Violation.ts";
import { S2 } from "./S2.ts";

const { cluster, preparation } = prepared();
const { id, proposal, own, writerReceipt } = preparation;
/** Of a batch that its signer has not stored. */
const early = forgedBy(cluster, 3, own, {}, { batchNo: own.header.batchNo + 1 });

/** Peer 1 sends a message; each of the two has stored its own receipt, or the batch of that alone. */
const sending =
  (message: Message, hasRow = true) =>
  (): void => {
    const ghost = new Ghost(crypto, cluster.total);
    for (const slot of [1, 2]) {
      const stored = slot === 1 ? writerReceipt : own;
      const row = { header: stored.header, signature: stored.signature };
      ghost.flushed(watched(cluster, slot), [{ op: "insert", table: "batches", key: "1", row }]);
      const prepared = { ...preparation, state: "PREPARED" as const, own: stored, refusal: undefined };
      if (hasRow || slot === 1)
        ghost.flushed(watched(cluster, slot), [{ op: "insert", table: "preparations", key: id, row: prepared }]);
    }
    S2(ghost).sent?.(watched(cluster, 1), message, 2, 0);
  };

type Statement = typeof own;
const nonce = id;
const topologyDigest = own.statement.topologyDigest;
const certified = (statement: Statement) => ({ proposal, receipts: [writerReceipt, statement] });
const offered = { recoveryId: id, nonce, after: "", cutoff: { topologyDigest, root: id, count: 1 } };
const offer = (item: object): Message => ({
  _tag: "SnapshotOffer",
  ...offered,
  items: [{ key: "1", proposalId: id, certificate: undefined, writerReceipt: undefined, ...item }],
  upTo: undefined,
  alike: undefined,
  own: undefined,
});

/** Every message with a statement of another member in it. */
const carrying: ReadonlyArray<readonly [string, (statement: Statement) => Message]> = [
  ["Votes", (statement) => ({ _tag: "Votes", statements: [statement] })],
  ["CommitAcks", (statement) => ({ _tag: "CommitAcks", statements: [statement] })],
  [
    "Commit, in a certificate",
    (statement) => ({ _tag: "Commit", certificates: [certified(statement)], acks: [], stableSeq: 0 }),
  ],
  [
    "Commit, beside certificates",
    (statement) => ({ _tag: "Commit", certificates: [certified(own)], acks: [statement], stableSeq: 0 }),
  ],
  ["SettleQuery", (receipt) => ({ _tag: "SettleQuery", items: [{ proposal, receipt }], demandFinal: false, nonce })],
  [
    "SettleAnswer",
    (statement) => ({ _tag: "SettleAnswer", nonce, items: [{ proposalId: id, state: "PREPARED", held: [statement] }] }),
  ],
  ["AbortRequest, as the receipt", (receipt) => ({ _tag: "AbortRequest", items: [{ proposal, receipt, votes: [] }] })],
  [
    "AbortRequest, as a vote",
    (vote) => ({ _tag: "AbortRequest", items: [{ proposal, receipt: writerReceipt, votes: [vote] }] }),
  ],
  ["SnapshotOffer, in a certificate", (statement) => offer({ certificate: certified(statement) })],
  ["SnapshotOffer, as the receipt", (statement) => offer({ writerReceipt: statement })],
  [
    "Outcome",
    (ack) => ({
      _tag: "Outcome",
      requestId: "request",
      outcome: { _tag: "Confirmed", certificate: certified(own), acks: [ack] },
    }),
  ],
];

it.each(carrying)("a statement goes out in %s once its signer has stored it, and not before", (_message, carry) => {
  expect(sending(carry(own))).not.toThrow();
  expect(sending(carry(early))).toThrow(Violation);
  expect(sending(carry(own), false)).toThrow("the row that speaks of it");
});
