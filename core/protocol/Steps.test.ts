/**
 * Whole steps of one registration among three: what is sent at once, every row that is written, what is sent after the
 * flush, and everything new in the state. Nothing else may happen in them.
 */
import { termKeysOf } from "../commands/approvers/Terms.ts";
import { NEWEST } from "../codec/Versioned.ts";
import { changed } from "../../properties/cluster/Changed.ts";
import type { StateFields } from "./StateFields.ts";
import { describe, expect, it } from "vitest";
import { approverIn } from "../../properties/cluster/AlteredEffects.ts";
import { actor, type Cluster, crypto, founded } from "../../properties/cluster/Cluster.ts";
import { forgedBy } from "../../properties/cluster/Forging.ts";
import { stateOf } from "../../properties/cluster/Restoring.ts";
import { stepOf } from "../../properties/cluster/StepOf.ts";
import { forbidden } from "../../properties/cluster/Refused.ts";
import type { Message } from "../Message.ts";
import type { Seen } from "./Message.ts";
import { countersRow } from "./PeerState.ts";
import { proposalId } from "./Proposal.ts";
import { batchHash, type SignedStatement } from "./Statement.ts";
import { numberKey, protocolTables, SELF, slotKey } from "./Tables.ts";

/** Alice's registration, up to the first message to peer 2 of a kind; that one is kept. */
const upTo = <T extends Message["_tag"]>(tag: T) => {
  const cluster = founded();
  let kept: Extract<Message, { readonly _tag: T }> | undefined;
  cluster.tamper = (_from, to, message) => {
    if (message._tag !== tag || to !== 2) return message;
    kept = message as Extract<Message, { readonly _tag: T }>;
    return undefined;
  };
  cluster.register(1, "request", "alice", 7);
  cluster.settle();
  if (kept === undefined) throw new Error(`peer 2 was sent no ${tag}`);
  return { cluster, message: kept };
};

/** Peer 2 is asked to prepare alice. */
const asked = () => {
  const { cluster, message } = upTo("Prepare");
  const [item] = message.items;
  if (item === undefined) throw new Error("nothing was proposed");
  const { proposal, receipt: writerReceipt } = item;
  return { cluster, message, proposal, writerReceipt, id: proposalId(crypto, proposal) };
};

/** The batch row of a statement that was signed alone. */
const batchOf = ({ header, signature }: SignedStatement) => ({
  op: "insert",
  table: "batches",
  key: numberKey(header.batchNo),
  row: { header, signature },
});

/** One peer's memory of another from its newest statement. */
const seenFrom = ({ header, signature }: SignedStatement): Seen => ({
  peerId: header.peerId,
  incarnation: 1,
  newest: { header, signature },
  restored: undefined,
});

/** The chain after a batch. */
const chainBehind = ({ header }: SignedStatement) => ({
  incarnation: 1,
  batchNo: header.batchNo,
  hash: batchHash(crypto, header),
});

const countersAfter = (cluster: Cluster, peerId: number, change: Partial<StateFields>) => ({
  op: "replace",
  table: "counters",
  key: SELF,
  row: countersRow(changed(stateOf(cluster, peerId), change)),
});

const unheard = (peerId: number): Seen => ({ peerId, incarnation: 1, newest: undefined, restored: undefined });

describe("a member that is asked to prepare", () => {
  const { cluster, message, proposal, writerReceipt, id } = asked();
  const { ref, keyIdentity } = approverIn(proposal);
  const heard = new Map([
    [1, seenFrom(writerReceipt)],
    [3, unheard(3)],
  ]);
  const noted = { highSeq: 1, highProof: writerReceipt, seen: heard, seenWritten: heard };

  it("flushes preparation, slot and receipt, holds the locks, and then sends the receipt to the writer alone", () => {
    const receipt = forgedBy(cluster, 2, writerReceipt);
    const chain = chainBehind(receipt);
    expect(stepOf(cluster, 2, { _tag: "Deliver", from: 1, message, actors: [actor] })).toEqual({
      sendNow: [],
      writes: [
        batchOf(receipt),
        {
          op: "insert",
          table: "preparations",
          key: id,
          row: { proposal, state: "PREPARED", own: receipt, writerReceipt, refusal: undefined, pledge: undefined },
        },
        {
          op: "insert",
          table: "slots",
          key: slotKey(1, 1),
          row: { proposalId: id, outcome: "PREPARED", ack: undefined, writerReceipt: undefined },
        },
        { op: "replace", table: "seen", key: numberKey(1), row: seenFrom(writerReceipt) },
        countersAfter(cluster, 2, { chain, highSeq: 1 }),
      ],
      thenSend: [
        { _tag: "SetTimer", timer: "resolve", afterMillis: 1_200 },
        { _tag: "Send", to: 1, message: { _tag: "Votes", statements: [receipt] } },
      ],
      changed: {
        ...noted,
        chain,
        preparations: new Map([
          [
            id,
            {
              id,
              proposal,
              writerReceipt,
              own: receipt,
              receipts: new Map([
                [1, writerReceipt],
                [2, receipt],
              ]),
              refusal: undefined,
              pledge: undefined,
              votes: new Map(),
              preparedAt: cluster.now,
              askedAt: cluster.now,
            },
          ],
        ]),
        locks: new Map([
          [`key:${keyIdentity}`, id],
          [`ref:${ref}`, id],
          [`meta:${ref}`, id],
        ]),
        timers: new Map([["resolve", cluster.now + 1_200]]),
      },
    });
  });

  it("flushes a refusal and binds the slot where the token is not good, holds no lock, and then says so", () => {
    const refusal = forgedBy(cluster, 2, writerReceipt, { kind: "REFUSAL", detail: "UNAUTHENTICATED" });
    const chain = chainBehind(refusal);
    expect(stepOf(cluster, 2, { _tag: "Deliver", from: 1, message, actors: [forbidden] })).toEqual({
      sendNow: [],
      writes: [
        batchOf(refusal),
        { op: "insert", table: "refusals", key: id, row: { proposal, writerReceipt, refusal } },
        {
          op: "insert",
          table: "slots",
          key: slotKey(1, 1),
          row: { proposalId: id, outcome: "REFUSED", ack: undefined, writerReceipt: undefined },
        },
        { op: "replace", table: "seen", key: numberKey(1), row: seenFrom(writerReceipt) },
        countersAfter(cluster, 2, { chain, highSeq: 1 }),
      ],
      thenSend: [
        { _tag: "SetTimer", timer: "resolve", afterMillis: 1_200 },
        { _tag: "Send", to: 1, message: { _tag: "Votes", statements: [refusal] } },
      ],
      changed: {
        ...noted,
        chain,
        abortsUntil: cluster.now + 1_000,
        refused: new Map([
          [
            id,
            {
              id,
              proposal: { epoch: 1, seq: 1 },
              bindsSlot: true,
              writerReceipt,
              votes: new Map([[2, refusal]]),
              preparedAt: cluster.now,
              askedAt: cluster.now,
            },
          ],
        ]),
        timers: new Map([["resolve", cluster.now + 1_200]]),
      },
    });
  });
});

describe("a member that is brought the certificate", () => {
  it("applies it in one transaction that has the acknowledgement too, frees the locks, and then acknowledges", () => {
    const { cluster, message } = upTo("Commit");
    const [certificate] = message.certificates;
    if (certificate === undefined) throw new Error("nothing was committed");
    const { proposal, receipts } = certificate;
    const id = proposalId(crypto, proposal);
    const [byWriter, own, byThree] = receipts;
    if (byWriter === undefined || own === undefined || byThree === undefined) throw new Error("it is not complete");
    const before = stateOf(cluster, 2);
    const approver = approverIn(proposal);
    const ack = forgedBy(
      cluster,
      2,
      own,
      { kind: "COMMIT_ACK" },
      { batchNo: 2, prevBatchHash: batchHash(crypto, own.header) },
    );
    const auditRow = {
      version: NEWEST,
      id,
      peerId: 2,
      integrityKeyVersion: 1,
      seq: 2,
      prevHash: before.signed.audit.hash,
      timestamp: cluster.now,
      event: "APPROVER_REGISTERED",
      actor: proposal.actor,
      approverRef: approver.ref,
      metadataRevision: 1,
      keyId: undefined,
      generation: undefined,
      entryPeer: 1,
      request: proposal.request,
      outcome: "APPLIED",
      requestId: undefined,
      detail: "",
      times: 1,
    };
    const audit = {
      ...before.signed.audit,
      seq: 2,
      hash: crypto.digest("CUSTODY_AUDIT_V1", protocolTables.audit, auditRow),
    };
    const chain = chainBehind(ack);
    // The writer has applied it: its registry must be the result here.
    const { registry } = stateOf(cluster, 1);
    const heard = new Map([
      [1, seenFrom(byWriter)],
      [3, seenFrom(byThree)],
    ]);
    expect(stepOf(cluster, 2, { _tag: "Deliver", from: 1, message, actors: [] })).toEqual({
      sendNow: [],
      writes: [
        { op: "insert", table: "approvers", key: approver.ref, row: approver },
        ...[...termKeysOf(approver, crypto)].map((key) => ({ op: "insert", table: "terms", key, row: {} })),
        { op: "insert", table: "indexed", key: "self", row: { upTo: undefined } },
        { op: "insert", table: "keys", key: approver.keyIdentity, row: { id: "alice" } },
        { op: "insert", table: "certificates", key: id, row: certificate },
        { op: "insert", table: "outbox", key: numberKey(1), row: { proposalId: id, epoch: 1, seq: 1 } },
        { op: "remove", table: "preparations", key: id },
        {
          op: "replace",
          table: "slots",
          key: slotKey(1, 1),
          row: { proposalId: id, outcome: "APPLIED", ack, writerReceipt: undefined },
        },
        { op: "insert", table: "audit", key: numberKey(2), row: auditRow },
        batchOf(ack),
        { op: "replace", table: "seen", key: numberKey(3), row: seenFrom(byThree) },
        countersAfter(cluster, 2, { chain, audit, registry, decidedSeq: 1 }),
      ],
      thenSend: [
        { _tag: "SetTimer", timer: "deliver", afterMillis: 1_000 },
        { _tag: "Send", to: 1, message: { _tag: "CommitAcks", statements: [ack] } },
      ],
      changed: {
        chain,
        audit,
        registry,
        decidedSeq: 1,
        seen: heard,
        seenWritten: heard,
        preparations: new Map(),
        locks: new Map(),
        modules: { approvers: { behind: new Map(), marked: new Set(["self"]) } },
        outbox: new Map([
          [1, { id, seq: 1, proposal, acks: new Map([[2, ack]]), dueAt: cluster.now + 1_000, isPrunable: false }],
        ]),
        timers: new Map([...before.timers, ["deliver", cluster.now + 1_000]]),
      },
    });
  });
});

describe("a writer that holds the last receipt", () => {
  it("sends the certificate before the flush of its own apply, as it is made of receipts that are flushed", () => {
    const cluster = founded();
    let last: Message | undefined;
    cluster.tamper = (from, _to, message) => {
      if (from === 3 && message._tag === "Votes") last = message;
      return from === 3 && message._tag === "Votes" ? undefined : message;
    };
    cluster.register(1, "request", "alice", 7);
    cluster.settle();
    const [preparation] = stateOf(cluster, 1).undecided.preparations.values();
    if (last?._tag !== "Votes" || preparation === undefined) throw new Error("peer 3 has not voted");
    const { sendNow, writes, thenSend } = stepOf(cluster, 1, { _tag: "Deliver", from: 3, message: last, actors: [] });
    const receipts = [...preparation.receipts.values(), ...last.statements];
    const message = {
      _tag: "Commit",
      certificates: [{ proposal: preparation.proposal, receipts }],
      acks: [],
      stableSeq: 0,
    };
    expect(sendNow).toEqual([
      { _tag: "Send", to: 2, message },
      { _tag: "Send", to: 3, message },
    ]);
    expect(writes.map(({ op, table }) => `${op} ${table}`)).toEqual([
      "insert approvers",
      "insert terms",
      "insert terms",
      "insert indexed",
      "insert keys",
      "insert certificates",
      "insert outbox",
      "remove preparations",
      "replace slots",
      "insert audit",
      "insert batches",
      "replace seen",
      "replace seen",
      "replace counters",
    ]);
    // Its own acknowledgement goes to nobody yet: members need it only in a contradiction, with the next delivery.
    expect(thenSend).toEqual([{ _tag: "SetTimer", timer: "deliver", afterMillis: 1_000 }]);
  });
});

describe("a seal", () => {
  it("writes nothing and sends no member a word; it tells the callers that the outcome is open, and forgets them", () => {
    const { cluster, proposal } = asked();
    expect(stepOf(cluster, 1, { _tag: "Sealed" })).toEqual({
      sendNow: [],
      writes: [],
      thenSend: [
        {
          _tag: "Reply",
          requestId: "request",
          answer: {
            _tag: "Rejected",
            rejection: {
              code: "APPROVER_REPLICATION_UNAVAILABLE",
              detail: "Not every member is ready: peer 1: it is sealed.",
              hint: "Repeat the request when the named members are back.",
              faults: [],
              members: [{ peerId: 1, reason: "it is sealed" }],
              ref: approverIn(proposal).ref,
              outcomeUnknown: true,
            },
          },
        },
      ],
      changed: {
        unsealed: false,
        verdict: undefined,
        queue: [],
        entering: [],
        readinessWaiters: [],
        rounds: new Map(),
        awaited: new Map(),
        collecting: new Set(),
        modules: {
          enrollment: {
            offers: new Map(),
            givenUp: new Map(),
            offered: new Map(),
            sessions: new Map(),
            refusedFinishes: new Map(),
          },
        },
      },
    });
  });
});
