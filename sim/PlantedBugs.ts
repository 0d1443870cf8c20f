/**
 * Bugs put in on purpose, one at least for every checker, each at a port of the
 * driver or of its store. properties/SimulationPlantedBugs.test.ts shows that
 * each is found, under the id named here.
 */
import { Either } from "effect";
import type { Answer } from "../core/Action.ts";
import type { Digest } from "../core/Digest.ts";
import type { ActorCheck } from "../core/Event.ts";
import { type Proposal, proposalId } from "../core/protocol/Proposal.ts";
import {
  BATCH_TAG,
  batchHeaderCodec,
  batchTree,
  type SignedStatement,
  type Statement,
} from "../core/protocol/Statement.ts";
import { approverRow } from "../core/registry/ApproverRow.ts";
import { type Rows, slotKey, type Write } from "../core/Tables.ts";
import { TOKEN_MARK } from "./checkers/S29.ts";
import { callerBugs } from "./bugs/CallerBugs.ts";
import { damageBugs } from "./bugs/DamageBugs.ts";
import { enrollmentBugs } from "./bugs/EnrollmentBugs.ts";
import { memoryBugs } from "./bugs/MemoryBugs.ts";
import { restoreBugs } from "./bugs/RestoreBugs.ts";
import { type PlantedBug, rows, without } from "./PlantedBug.ts";
import type { RunOptions } from "./RunOptions.ts";
import { FIRST_INCARNATION } from "../core/Turn.ts";
import type { SimPeer } from "./SimPeer.ts";
import type { TamperedWorld, Tampering } from "./Tampering.ts";

const FOREIGN = "f".repeat(64) as Digest;

/** Adds rows to a transaction that makes a preparation. */
const besidePreparation =
  (more: (row: Rows["preparations"], key: string) => ReadonlyArray<Write>) => (): Tampering => ({
    written: (_world, _peer, writes) => [
      ...writes,
      ...writes.flatMap((write) =>
        write.table === "preparations" && write.op === "insert" ? more(write.row, write.key) : [],
      ),
    ],
  });

/** What a peer believes that looks at no claim. */
const everyToken = (check: ActorCheck): ActorCheck =>
  check._tag === "Verified"
    ? {
        _tag: "Verified",
        claims: {
          ...check.claims,
          audience: ["custody"],
          permissions: ["service.approvers.register", "service.approvers.metadata"],
        },
      }
    : check;

/** Success, where a caller should have been told that the outcome is not known. */
const optimism = (world: TamperedWorld, answer: Answer): Answer => {
  if (answer._tag !== "Rejected" || !answer.rejection.outcomeUnknown) return answer;
  for (const { proposal, applied } of world.ghost.proposals.values())
    if (proposal.effects.ref === answer.rejection.ref && applied !== world.ghost.everyone)
      return { _tag: "Registered", created: true, approver: approverRow(proposal.effects), observations: undefined };
  return answer;
};

/** Takes a pledge for the end: the slot is aborted in the same transaction. */
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

/** Takes every If-Match for the revision that is the current one, so that whoever comes last wins. */
const lastOneWins = (): Tampering => ({
  asked: (peer, request) => {
    const { call } = request;
    const ref = call.method === "PUT" ? decodeURIComponent(call.path.split("/")[4] ?? "") : "";
    const current = peer.isDamaged ? undefined : peer.store.get("approvers", ref);
    return current === undefined ? request : { ...request, call: { ...call, ifMatch: `"${current.revision}"` } };
  },
});

/** Success, where a caller should have been told that somebody else was first. */
const everybodyWins = (world: TamperedWorld, answer: Answer): Answer => {
  if (answer._tag !== "Rejected" || answer.rejection.code !== "PRECONDITION_FAILED") return answer;
  const facts = world.ghost.approvers.get(answer.rejection.ref ?? "");
  const approver = facts === undefined ? undefined : [...facts.revisions.values()].at(-1);
  return approver === undefined ? answer : { _tag: "Replaced", approver };
};

const dropLock = (locks: ReadonlyMap<string, Digest>): void => {
  for (const lock of locks.keys()) if (locks instanceof Map) return void locks.delete(lock);
};

/** What lets a member that has pledged go on, as if every other member had said it. */
const inventedAcks = (world: TamperedWorld, peer: SimPeer, proposal: Proposal): ReadonlyArray<SignedStatement> => {
  const { crypto } = world.cryptography;
  const { epoch, seq, topologyDigest } = proposal;
  const statement: Statement = {
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

export const plantedBugs: ReadonlyArray<PlantedBug> = [
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
    name: "short-certificate",
    changes: "a certificate is stored without its last receipt",
    finds: "S3",
    tampering: rows("certificates", (row) => ({ ...row, receipts: row.receipts.slice(0, -1) })),
  },
  {
    name: "gullible-verifier",
    changes: "every signature of a batch verifies, while members send altered votes: a peer believes it forgot its own",
    finds: "L5",
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
    name: "stolen-key",
    changes: "the key index names another owner than the approver that was stored",
    finds: "S7",
    tampering: rows("keys", () => ({ id: "mallory" })),
  },
  {
    name: "lock-dropped-early",
    changes: "a lock is given up while its proposal is still open",
    finds: "S9",
    tampering: () => ({ stepped: (_world, _peer, { locks }) => dropLock(locks) }),
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
    name: "older-delivery-wins",
    changes: "a later revision is stored under the number of the one that it replaces",
    finds: "S11",
    tampering: rows("approvers", (row) => (row.revision > 2 ? { ...row, revision: row.revision - 1 } : row)),
  },
  {
    name: "update-without-time",
    changes: "a replacement leaves the time of the last update as it was at registration",
    finds: "S11",
    tampering: rows("approvers", (row) => (row.revision > 1 ? { ...row, updatedAt: row.createdAt } : row)),
  },
  {
    name: "own-metadata",
    changes: "one peer stores metadata of its own when it is replaced",
    finds: "S11",
    tampering: () => ({
      written: (_world, peer, writes) =>
        writes.map((write) =>
          peer.slot === 2 && write.table === "approvers" && write.op === "replace"
            ? { ...write, row: { ...write.row, metadata: [["team", "own"] as const] } }
            : write,
        ),
    }),
  },
  {
    name: "last-one-wins",
    changes: "If-Match is taken for the current revision, whatever it says, so updates are lost",
    finds: "S30",
    tampering: lastOneWins,
  },
  {
    name: "format-is-identity",
    changes: "a key in another format is taken for another key",
    finds: "S30",
    schedule: "format-switch-same-key",
    tampering: () => ({
      cryptography: (honest) => ({
        ...honest,
        providers: new Map(
          [...honest.providers].map(([name, provider]) => [name, { ...provider, normalize: Either.right }]),
        ),
      }),
    }),
  },
  {
    name: "everybody-wins",
    changes: "a caller whose revision was passed is told that its replacement was made",
    finds: "S14",
    tampering: () => ({ answered: everybodyWins }),
  },
  {
    name: "counted-twice",
    changes: "an approver that is replaced stays in the registry root as it was",
    finds: "S13",
    tampering: () => ({
      cryptography: (honest) => ({
        ...honest,
        crypto: {
          ...honest.crypto,
          replaceInSet: (set, _removed, added) => honest.crypto.replaceInSet(set, undefined, added),
        },
      }),
    }),
  },
  {
    name: "first-revision-in-audit",
    changes: "audit rows of replacements speak of revision 1",
    finds: "S32",
    tampering: rows("audit", (row) => ({ ...row, metadataRevision: 1 })),
  },
  {
    name: "stale-reader",
    changes: "reads give the first revision, whatever has become of it",
    finds: "S25",
    tampering: () => ({ read: (found) => found && { ...found, revision: 1 } }),
  },
  {
    name: "own-clock-in-record",
    changes: "each peer stores its own idea of when an approver was created",
    finds: "S12",
    tampering: () => ({
      written: (_world, peer, writes) =>
        writes.map((write) =>
          write.table === "approvers" && write.op === "insert"
            ? { ...write, row: { ...write.row, createdAt: write.row.createdAt + peer.slot } }
            : write,
        ),
    }),
  },
  {
    name: "other-descriptor",
    changes: "the stored descriptor is not the one under the ref",
    finds: "S13",
    tampering: rows("approvers", (row) => ({ ...row, descriptor: `${row.descriptor} ` })),
  },
  {
    name: "miscount",
    changes: "the stored count of approvers is one too high",
    finds: "S13",
    tampering: rows("counters", (row) => ({ ...row, approvers: row.approvers + 1 })),
  },
  {
    name: "answer-early",
    changes: "a caller is told of success while the outcome is not known",
    finds: "S14",
    schedule: "one-way-partition",
    tampering: () => ({ answered: optimism }),
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
    name: "picky-member",
    changes: "a member throws certificates away",
    finds: "S18",
    tampering: () => ({
      delivered: (_world, _peer, message) => (message._tag === "Commit" ? { ...message, certificates: [] } : message),
    }),
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
    name: "lost-acknowledgements",
    changes: "an applied slot is not stored as that, so a repeated delivery is taken for a new one",
    finds: "S23",
    tampering: rows("slots", (row) => ({ ...row, outcome: "PREPARED", ack: undefined })),
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
    name: "blind-reader",
    changes: "reads find nothing",
    finds: "S25",
    tampering: () => ({ read: () => undefined }),
  },
  {
    name: "recovered-by-declaration",
    changes: "a restored peer counts as recovered as soon as it is declared, with what is on its old disk",
    finds: "S26",
    schedule: "rollback-declared",
    tampering: rows("restore", (row) => ({ ...row, recovering: false })),
  },
  {
    name: "damage-ignored",
    changes: "a peer that finds its rows damaged goes on as if they were whole",
    finds: "S28",
    schedule: "row-tamper-delete",
    tampering: () => ({ ignoresDamage: true }),
  },
  {
    name: "token-in-audit",
    changes: "the bearer token of a request is stored in its audit row",
    finds: "S29",
    tampering: rows("audit", (row) => ({ ...row, actor: { ...row.actor, sub: `${TOKEN_MARK}${row.actor.jti}` } })),
  },
  {
    name: "permission-unchecked",
    changes: "every token is believed to hold every permission",
    finds: "S30",
    tampering: () => ({ judged: (_world, _peer, check) => everyToken(check) }),
  },
  {
    name: "anybody-may-invite",
    changes: "every token is believed to hold every permission, where callers ask for options only",
    finds: "S30",
    schedule: "session-storm",
    tampering: () => ({ judged: (_world, _peer, check) => everyToken(check) }),
  },
  {
    name: "believed-number",
    changes: "the highest slot is raised by a number nobody signed",
    finds: "S31",
    tampering: rows("counters", (row) => ({ ...row, highSeq: row.highSeq + 1_000 })),
  },
  {
    name: "no-audit",
    changes: "proposals are applied without an audit row",
    finds: "S32",
    tampering: without((write) => write.table === "audit"),
  },
  {
    name: "deaf-to-votes",
    changes: "receipts of others are not heard, so that no certificate comes about",
    finds: "L1",
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
    name: "forgetful-root",
    changes: "one peer starts its registry root anew with every step",
    finds: "L3",
    tampering: () => ({
      stepped: (world, peer, { registry }) => {
        if (peer.slot === 2) Object.assign(registry, { set: world.ghost.crypto.emptySet });
      },
    }),
  },
  {
    name: "closed-for-good",
    changes: "after everything was healed no token is accepted any more",
    finds: "L4",
    tampering: () => ({
      judged: (world, _peer, check) => (world.healed ? { _tag: "Refused", reason: "planted" } : check),
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
    name: "boast",
    changes: "a repetition is answered as a new approver, also while a member is down",
    finds: "L8",
    schedule: "retry-storm-identical",
    tampering: () => {
      const truths = new WeakMap<Answer, Answer>();
      return {
        answered: (world, answer) => {
          if (answer._tag !== "Registered" || world.peers.every((peer) => peer.isUp)) return answer;
          const boast = { ...answer, created: true };
          truths.set(boast, answer);
          return boast;
        },
        // Callers would notice too, and sooner (H1).
        told: (_world, _requestId, answer) => truths.get(answer) ?? answer,
      };
    },
  },
  {
    name: "forgetful-gateway",
    changes: "between a peer and its callers every seventh read is lost and taken for a missing approver",
    finds: "H1",
    tampering: () => {
      let count = 0;
      return { shown: (found) => (++count % 7 === 0 ? undefined : found) };
    },
  },
  {
    name: "cheerful-gateway",
    changes: "a caller that was refused another's key is told that it has registered it",
    finds: "H1",
    schedule: "twin-keys-two-ids",
    tampering: () => ({
      told: (world, _requestId, answer) => {
        if (answer._tag !== "Rejected" || answer.rejection.code !== "KEY_ALREADY_REGISTERED") return answer;
        for (const { proposal } of world.ghost.proposals.values())
          if (answer.rejection.ref?.endsWith(proposal.effects.ref.slice(-64)) === true) {
            const [id = ""] = answer.rejection.ref.split("@");
            const row = { ...approverRow(proposal.effects), id, ref: answer.rejection.ref };
            return { _tag: "Registered", created: false, approver: row, observations: undefined };
          }
        return answer;
      },
    }),
  },
  {
    name: "two-creators",
    changes: "a caller that repeats itself is told that it has created what was there before it asked",
    finds: "H1",
    schedule: "retry-storm-identical",
    tampering: () => ({
      told: (_world, _requestId, answer) => (answer._tag === "Registered" ? { ...answer, created: true } : answer),
    }),
  },
  {
    name: "stale-gateway",
    changes: "a read shows an approver with metadata that it never had",
    finds: "H1",
    tampering: () => ({ shown: (found) => found && { ...found, metadata: [["team", "of yesterday"]] } }),
  },
  {
    name: "forgotten-strays",
    changes: "a member that aborts a proposal whose slot is bound to another one does not remember that it did",
    finds: "S5",
    schedule: "equivocating-writer",
    tampering: without((write) => write.table === "strays"),
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
  ...restoreBugs,
  ...memoryBugs,
  ...damageBugs,
  ...callerBugs,
  ...enrollmentBugs,
];

const STEPS = 1_200;

/** The run in which a bug is looked for. */
export const plantedBugOptions = (
  { schedule = "calm", peers = 3, steps = STEPS, crypto = "fast" }: PlantedBug,
  seed: number,
): RunOptions => ({
  seed,
  schedule,
  peers,
  crypto,
  steps,
});

export const plantedBugNamed = (name: string): PlantedBug | undefined => plantedBugs.find((bug) => bug.name === name);
