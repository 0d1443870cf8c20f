/** Bugs between votes and outcome: in certificates, aborts, locks and acknowledgements. */
import type { Digest } from "../../core/base/Digest.ts";
import { type Proposal, proposalId } from "../../core/protocol/Proposal.ts";
import {
  BATCH_TAG,
  batchHeaderCodec,
  batchTree,
  type SignedStatement,
  type Statement,
} from "../../core/protocol/Statement.ts";
import { type Write } from "../../core/Tables.ts";
import { slotKey } from "../../core/protocol/Tables.ts";
import type { PrepareItem } from "../../core/protocol/Message.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import type { Preparation } from "../../core/protocol/Undecided.ts";
import { type PlantedBug, rows, without, besidePreparation, FOREIGN } from "./PlantedBug.ts";
import { FIRST_INCARNATION } from "../../core/protocol/SignedState.ts";
import type { SimPeer } from "../world/SimPeer.ts";
import type { TamperedWorld, Tampering } from "../world/Tampering.ts";
import type { Wire } from "../network/Wire.ts";

/** Takes a pledge for the outcome: the slot is aborted in the same transaction. */
const abortWithPledge = (): Tampering => ({
  written: (_world, _peer, writes) =>
    writes.flatMap((write): ReadonlyArray<Write> => {
      if (write.table !== "preparations" || write.op !== "replace") return [write];
      const { proposal, pledge } = write.row;
      const row = {
        proposalId: write.key as Digest,
        outcome: "ABORTED" as const,
        ack: pledge,
        writerReceipt: write.row.writerReceipt,
      };
      return [write, { op: "replace", table: "slots", key: slotKey(proposal.epoch, proposal.seq), row }];
    }),
});

/** Acknowledges nothing but what somebody has brought it. */
const acknowledgeWhenAsked = (): Tampering => {
  const brought = new Set<string>();
  return {
    delivered: (_world, { slot }, message) => {
      if (message._tag === "Commit")
        for (const { receipts } of message.certificates) brought.add(`${slot} ${receipts[0]?.statement.proposalId}`);
      return message;
    },
    said: ({ slot }, message) => {
      if (message._tag !== "CommitAcks") return message;
      const statements = message.statements.filter(({ statement }) => brought.has(`${slot} ${statement.proposalId}`));
      return statements.length === 0 ? undefined : { ...message, statements };
    },
  };
};

const dropLock = (locks: ReadonlyMap<string, Digest>): void => {
  for (const lock of locks.keys()) if (locks instanceof Map) return void locks.delete(lock);
};

const forgetRefusals = (self: PeerId, preparations: ReadonlyMap<Digest, Preparation>): void => {
  if (!(preparations instanceof Map)) return;
  for (const [id, preparation] of preparations) {
    const votes = new Map([...preparation.votes].filter(([peerId]) => peerId === self));
    if (preparation.pledge !== undefined) preparations.set(id, { ...preparation, refusal: undefined, votes });
  }
};

/** Acknowledgements that let a member that has pledged go on, as if every other member had sent them. */
const inventedAcks = (world: TamperedWorld, peer: SimPeer, proposal: Proposal): ReadonlyArray<SignedStatement> => {
  const { crypto } = world.cryptography;
  const { version, epoch, seq, topologyDigest } = proposal;
  const statement: Statement = {
    version,
    kind: "COMMIT_ACK",
    proposalId: proposalId(crypto, proposal),
    epoch,
    seq,
    topologyDigest,
    detail: "",
  };
  const { root, proofs } = batchTree(crypto, [statement]);
  return world.peers.flatMap((other) => {
    const newest = other === peer ? undefined : world.ghost.lastBatch(other.slot, FIRST_INCARNATION);
    if (newest === undefined) return [];
    const header = { ...newest, size: 1, root };
    const signature = other.keys.identity.sign(BATCH_TAG, batchHeaderCodec, header);
    return [{ statement, index: 0, proof: proofs[0] ?? [], header, signature }];
  });
};

/** Statements of others in one settlement answer; an answer about two proposals may have more. */
const MOST_READ = 4;

/** Treats a settlement answer with more statements as unreadable. */
const readingNoMoreThan = (most: number, wire: Wire): Wire => ({
  ...wire,
  open: (crypto, state, packet) => {
    const opened = wire.open(crypto, state, packet);
    if (typeof opened === "string" || opened.message?._tag !== "SettleAnswer") return opened;
    const statements = opened.message.items.reduce((sum, { held }) => sum + held.length, 0);
    return statements > most ? "more items than anybody reads" : opened;
  },
});

export const settlementBugs: ReadonlyArray<PlantedBug> = [
  {
    name: "one-at-a-time",
    changes: "a member refuses all proposals of a message but the first",
    finds: "S44",
    schedule: "swarm",
    tampering: () => ({
      delivered: (_world, _peer, message) => {
        const spoiled = (item: PrepareItem): PrepareItem => ({
          ...item,
          evidence: { ...item.evidence, requestId: "" },
        });
        return message._tag === "Prepare"
          ? { ...message, items: message.items.map((item, index) => (index === 0 ? item : spoiled(item))) }
          : message;
      },
    }),
  },
  {
    name: "anybody-may-abandon",
    changes: "a member that is asked about a proposal takes it for given up by its writer, whoever asks",
    finds: "S44",
    // It answers the writer, and not the one that asked.
    orFinds: ["L7", "S58"],
    schedule: "swarm",
    tampering: () => ({
      sender: ({ state }, from, { _tag }) =>
        _tag === "SettleQuery" ? (state?.cluster.membership?.writer ?? from) : from,
      delivered: (_world, _peer, message) =>
        message._tag === "SettleQuery" ? { ...message, demandFinal: true } : message,
    }),
  },
  {
    name: "writer-must-ask",
    changes: "a member tells its votes on an undecided proposal to the writer only",
    finds: "L7",
    schedule: "isolate-writer-after-prepare",
    tampering: () => ({
      delivered: (_world, { state }, message, from) =>
        message._tag === "SettleQuery" && from !== state?.cluster.membership?.writer
          ? { ...message, items: [] }
          : message,
    }),
  },
  {
    name: "ack-at-second-hearing",
    changes: "a member takes no notice of an acknowledgement until it is told again",
    finds: "L12",
    tampering: () => {
      const heard = new Set<string>();
      return {
        delivered: (_world, { slot }, message) => {
          if (message._tag !== "CommitAcks") return message;
          const nameOf = ({ statement, header }: SignedStatement): string =>
            `${slot} ${header.peerId} ${statement.proposalId}`;
          const again = message.statements.filter((each) => heard.has(nameOf(each)));
          for (const each of message.statements) heard.add(nameOf(each));
          return { ...message, statements: again };
        },
      };
    },
  },
  {
    name: "short-certificate",
    changes: "a certificate is stored without its last receipt",
    finds: "S3",
    tampering: rows("certificates", (row) => ({ ...row, receipts: row.receipts.slice(0, -1) })),
  },
  {
    name: "gullible-verifier",
    changes: "every signature of a batch verifies, while members send altered votes: a peer believes it forgot its own",
    finds: "L5",
    // Or another peer passes on the altered vote before its signer sees it.
    orFinds: ["S2", "S57"],
    schedule: "forged-merkle-proof",
    tampering: () => ({
      cryptography: (honest) => ({
        ...honest,
        crypto: {
          ...honest.crypto,
          verify: (key, tag, codec, value, signature) =>
            tag === "CUSTODY_STMT_BATCH_V1" || honest.crypto.verify(key, tag, codec, value, signature),
        },
      }),
    }),
  },
  {
    name: "unread-answers",
    changes: "whoever is asked about several proposals answers with more statements than the one who asked can read",
    finds: "L1",
    orFinds: ["L7"],
    schedule: "few-preparations",
    tampering: () => ({
      cryptography: (honest) => ({ ...honest, wire: readingNoMoreThan(MOST_READ, honest.wire) }),
    }),
  },
  {
    name: "abort-after-apply",
    changes: "the slot of an applied proposal is recorded as aborted",
    finds: "S4",
    tampering: rows("slots", (row) => (row.outcome === "APPLIED" ? { ...row, outcome: "ABORTED" } : row)),
  },
  {
    name: "one-slot-for-all",
    changes: "every proposal is prepared in the first slot",
    finds: "S6",
    tampering: rows("preparations", (row) => ({ ...row, proposal: { ...row.proposal, seq: 1 } })),
  },
  {
    name: "refused-and-free",
    changes: "a refusal does not bind its slot",
    finds: "S6",
    tampering: without((write) => write.table === "slots" && write.op === "insert" && write.row.outcome === "REFUSED"),
  },
  {
    name: "lock-dropped-early",
    changes: "a lock is given up while its proposal is still open",
    finds: "S9",
    tampering: () => ({ stepped: (_world, _peer, { undecided: { locks } }) => dropLock(locks) }),
  },
  {
    name: "pledge-aborts",
    changes: "a member aborts as soon as it has pledged, without the votes of the others",
    finds: "S5",
    schedule: "batch-mixed-votes",
    tampering: abortWithPledge,
  },
  {
    name: "hoarder",
    changes: "a member keeps more preparations than it may",
    finds: "S10",
    tampering: besidePreparation(({ proposal, ...row }, key) =>
      Array.from({ length: 256 }, (_, index) => ({
        op: "insert",
        table: "preparations",
        key: `${index.toString(16).padStart(4, "0")}${key.slice(4)}`,
        row: { ...row, proposal: { ...proposal, seq: proposal.seq + 10_000 + index } },
      })),
    ),
  },
  {
    name: "picky-member",
    changes: "a member throws certificates away",
    finds: "S18",
    tampering: () => ({
      delivered: (_world, _peer, message) => (message._tag === "Commit" ? { ...message, certificates: [] } : message),
    }),
  },
  {
    name: "lost-acknowledgements",
    changes: "an applied slot is not stored as that, so a repeated delivery is taken for a new one",
    finds: "S23",
    tampering: rows("slots", (row) => ({ ...row, outcome: "PREPARED" })),
  },
  {
    name: "deaf-to-votes",
    changes: "receipts of others are not heard, so that no certificate comes about",
    finds: "L1",
    orFinds: ["L7"],
    tampering: () => ({
      delivered: (_world, _peer, message) => {
        if (message._tag === "Votes") return { ...message, statements: [] };
        return message._tag === "SettleAnswer" ? { ...message, items: [] } : message;
      },
    }),
  },
  {
    name: "deaf-to-acknowledgements",
    changes: "acknowledgements are not heard, so that outboxes never empty",
    finds: "L2",
    tampering: () => ({
      delivered: (_world, _peer, message) => (message._tag === "CommitAcks" ? { ...message, statements: [] } : message),
    }),
  },
  {
    name: "founder-sees-double",
    changes: "a founder that has voted takes the card of any peer for another one's",
    finds: "S57",
    tampering: () => ({
      stepped: (_world, _peer, { cluster: { founding, membership } }) => {
        const [from] = founding.cards.keys();
        if (founding.vote === undefined || membership !== undefined || from === undefined) return;
        Object.assign(founding, { faults: new Map([[from, `peer id ${from} is used twice`]]) });
      },
    }),
  },
  {
    name: "deaf-to-founding",
    changes: "votes for the topology are not heard, so that nothing is founded",
    finds: "L5",
    tampering: () => ({
      delivered: (_world, _peer, message) =>
        message._tag === "GenesisVote" ? { ...message, topologyDigest: FOREIGN } : message,
    }),
  },
  {
    name: "forgotten-strays",
    changes: "a member that aborts a proposal whose slot is bound to another one does not remember that it did",
    finds: "S2",
    orFinds: ["S5", "S23"],
    schedule: "equivocating-writer",
    peers: 4,
    steps: 1_000,
    tampering: without((write) => write.table === "strays"),
  },
  {
    name: "opposed-again",
    changes: "a member that has pledged forgets which refusal it pledged on, and every other vote",
    finds: "S39",
    schedule: "batch-mixed-votes",
    tampering: () => ({
      stepped: (_world, { slot }, { undecided: { preparations } }) => forgetRefusals(slot, preparations),
    }),
  },
  {
    name: "hasty-release",
    changes: "a member that has pledged applies a certificate without the acknowledgement of a third member",
    finds: "S4",
    schedule: "late-certificate-vs-settlement",
    tampering: () => ({
      delivered: (world, peer, message) =>
        message._tag !== "Commit"
          ? message
          : { ...message, acks: message.certificates.flatMap(({ proposal }) => inventedAcks(world, peer, proposal)) },
    }),
  },
  {
    name: "asks-in-vain",
    changes: "a member asks for the receipts of a proposal that it knows to be refused",
    finds: "S51",
    orFinds: ["S41", "L1", "L2"],
    schedule: "batch-mixed-votes",
    tampering: () => ({
      said: (_peer, message) =>
        message._tag === "AbortRequest"
          ? {
              _tag: "SettleQuery",
              items: message.items.map(({ proposal, receipt }) => ({ proposal, receipt })),
              demandFinal: false,
              nonce: FOREIGN,
            }
          : message,
    }),
  },
  {
    name: "pledges-in-silence",
    changes: "a member that asks for missing abort votes leaves its own pledge out",
    finds: "S62",
    schedule: "batch-mixed-votes",
    tampering: () => ({
      said: ({ peerId }, message) =>
        message._tag === "AbortRequest"
          ? {
              ...message,
              items: message.items.map((item) => ({
                ...item,
                votes: item.votes.filter(
                  ({ statement, header }) => statement.kind !== "PLEDGE" || header.peerId !== peerId,
                ),
              })),
            }
          : message,
    }),
  },
  {
    name: "acknowledged-when-asked",
    changes: "a member that has completed a certificate by itself acknowledges it when somebody brings it",
    finds: "S62",
    orFinds: ["L12"],
    schedule: "swarm",
    tampering: acknowledgeWhenAsked,
  },
  {
    name: "copies-denied",
    changes: "the writer denies a request for certain that it would leave open, while it has signed for others",
    finds: "S64",
    orFinds: ["S14", "H1"],
    schedule: "swarm",
    tampering: () => ({
      said: ({ state }, message) => {
        if (message._tag !== "Outcome" || message.outcome._tag !== "Rejected" || state === undefined) return message;
        const { requestId, outcome } = message;
        const open = [...state.undecided.preparations.values()];
        if (open.every(({ proposal }) => proposal.requestId === requestId)) return message;
        return { ...message, outcome: { ...outcome, rejection: { ...outcome.rejection, outcomeUnknown: false } } };
      },
    }),
  },
];
