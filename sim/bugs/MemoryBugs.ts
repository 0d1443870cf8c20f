/** Bugs in what a member remembers: what has been decided, what it owes, and what it has seen of others. */
import { effectsIn } from "../models/Effects.ts";
import type { Digest } from "../../core/base/Digest.ts";
import type { PeerState } from "../../core/protocol/PeerState.ts";
import { FIRST_INTEGRITY_VERSION } from "../../core/protocol/Fitness.ts";
import type { Moment } from "../../core/protocol/Moment.ts";
import type { SignedHeader } from "../../core/protocol/Statement.ts";
import { rejection } from "../../core/base/Rejection.ts";
import type { Rows } from "../../core/Tables.ts";
import type { ByteStore, StoredRow } from "../../runtime/ByteStore.ts";
import type { Cryptography } from "../crypto/Cryptography.ts";
import { SealedDisk } from "../disks/SealedDisk.ts";
import { type PlantedBug, rows } from "./PlantedBug.ts";
import type { SimPeer } from "../world/SimPeer.ts";
import type { TamperedWorld, Tampering } from "../world/Tampering.ts";

/** More integrity keys than any run makes. */
const MOST_VERSIONS = 64;

/** Changes applied while joining count as done, acknowledged or not. */
const pruneUnacknowledged = ({ slot }: SimPeer, state: PeerState): void => {
  const {
    undecided: { outbox },
  } = state;
  // The writer's own row holds its locks too, which is another bug.
  if (!(outbox instanceof Map) || state.cluster.membership?.writer === slot) return;
  for (const delivery of state.undecided.outbox.values()) {
    if (delivery.isPrunable || delivery.acks.has(slot)) continue;
    outbox.set(delivery.seq, { ...delivery, isPrunable: true });
    Object.assign(state, { undecided: { ...state.undecided, prunable: state.undecided.prunable + 1 } });
  }
};

/** An aborted slot looks as if it had never been bound, so a question about its proposal finds it unknown. */
const judgedAgain = (): Tampering => ({
  found: (_peer, table, row) =>
    table === "slots" && (row as Rows["slots"] | undefined)?.outcome === "ABORTED" ? undefined : row,
  written: (_world, peer, writes) =>
    writes.map((write) =>
      write.table === "slots" && write.op === "insert" && peer.store.get("slots", write.key) !== undefined
        ? { ...write, op: "replace" }
        : write,
    ),
});

/** Whether a batch is known here by a receipt in it. */
const isOfReceipt = (world: TamperedWorld, peerId: number, { header }: SignedHeader): boolean => {
  for (const { receiptOf } of world.ghost.proposals.values()) {
    const receipt = receiptOf.get(peerId)?.header;
    if (receipt?.incarnation === header.incarnation && receipt.batchNo === header.batchNo) return true;
  }
  return false;
};

/** Shortly before as many wait for acknowledgements as may, all of them count as acknowledged; none is removed. */
const forgetOwed = (_world: TamperedWorld, { settings: { capacities } }: SimPeer, state: PeerState): void => {
  const {
    undecided: { outbox, prunable },
  } = state;
  if (outbox.size - prunable >= capacities.unacknowledged - capacities.proposalsPerMessage)
    Object.assign(state, { undecided: { ...state.undecided, prunable: outbox.size } });
};

/** Receipts of others leave no trace in a member's record of what it has seen of them. */
const receiptsNotSeen = (): Tampering => {
  const known = new Map<string, Rows["seen"]>();
  const kept = (world: TamperedWorld, { slot }: SimPeer, row: Rows["seen"]): Rows["seen"] => {
    const name = `${slot} ${row.peerId}`;
    const before = known.get(name);
    const isHidden = row.newest !== undefined && isOfReceipt(world, row.peerId, row.newest);
    const newest = isHidden ? (before?.incarnation === row.incarnation ? before.newest : undefined) : row.newest;
    const left = { ...row, newest };
    known.set(name, left);
    return left;
  };
  return {
    stepped: (world, peer, { signed: { seen } }) => {
      if (seen instanceof Map) for (const [peerId, row] of seen) seen.set(peerId, kept(world, peer, row));
    },
    written: (world, peer, writes) =>
      rows("seen", (row) => kept(world, peer, row))().written?.(world, peer, writes) ?? writes,
  };
};

/** Entry peers sign for requests that they have denied. */
const forgetDenied = ({ requests: { denied } }: PeerState): void => {
  if (denied instanceof Map) denied.clear();
};

/** Every peer counts as having answered this process before any request came in. */
const forgetJoining = (_world: TamperedWorld, _peer: SimPeer, state: PeerState): void => {
  const {
    requests: { forgottenUntil },
  } = state;
  forgetDenied(state);
  if (forgottenUntil instanceof Map)
    for (const [peerId, { process }] of forgottenUntil) forgottenUntil.set(peerId, { process, at: 0 });
};

/** Requests forgotten for lack of room leave no trace: each clock stays as it was when its peer was first heard of. */
const forgetForgotten = (): Tampering => {
  const first = new Map<string, Moment>();
  return {
    stepped: (_world, { slot, process }, state) => {
      const {
        requests: { forgottenUntil },
      } = state;
      forgetDenied(state);
      if (!(forgottenUntil instanceof Map)) return;
      for (const [peerId, until] of forgottenUntil) {
        const name = `${slot} ${process} ${peerId} ${until.process}`;
        const known = first.get(name) ?? until;
        first.set(name, known);
        if (until.at !== known.at) forgottenUntil.set(peerId, known);
      }
    },
  };
};

/** By its next step a peer has forgotten that it told its callers of a row that does not hold. */
const forgetDamage = (): Tampering => {
  const told = new Set<string>();
  return {
    stepped: (_world, { slot, process }, state) => {
      if (state.fitness.integrityFault === undefined) return;
      const name = `${slot} ${process}`;
      if (told.has(name)) Object.assign(state, { fitness: { ...state.fitness, integrityFault: undefined } });
      told.add(name);
    },
  };
};

/** To the sealing layer, rows that the history once had are there for ever. */
const copiedHistory = () => {
  const copy = new Map<string, StoredRow>();
  return (bytes: ByteStore): ByteStore => ({
    get: bytes.get,
    scan: (table, after, limit) => {
      if (table !== "integrity") return bytes.scan(table, after, limit);
      for (const { key, value } of bytes.scan(table, "", MOST_VERSIONS)) copy.set(key, value);
      const behind = [...copy.keys()].filter((key) => key > after).toSorted();
      return behind.slice(0, limit).flatMap((key) => {
        const value = copy.get(key);
        return value === undefined ? [] : [{ key, value }];
      });
    },
    keys: bytes.keys,
    commit: bytes.commit,
  });
};

const withCopiedHistory = (honest: Cryptography): Cryptography => ({
  ...honest,
  newDisk: (keys, schedule, durable) =>
    new SealedDisk(honest.crypto, () => keys()?.integrity, schedule, durable, copiedHistory()),
});

const later = (ref: string) =>
  rejection(
    "APPROVER_REPLICATION_UNAVAILABLE",
    "An earlier change of the same approver or key is not decided yet.",
    "Ask later.",
    { ref, outcomeUnknown: true },
  );

export const memoryBugs: ReadonlyArray<PlantedBug> = [
  {
    name: "denied-and-signed",
    changes: "an entry peer signs for a request whose caller it has told that nothing was done",
    finds: "S14",
    schedule: "falsifying-writer",
    tampering: () => ({ stepped: (_world, _peer, state) => forgetDenied(state) }),
  },
  {
    name: "pruned-unacknowledged",
    changes: "a member drops the row that would remind it to acknowledge what it applied while it was joining",
    finds: "S39",
    schedule: "crash-at-every-sync",
    tampering: () => ({ stepped: (_world, peer, state) => pruneUnacknowledged(peer, state) }),
  },
  {
    name: "never-overdue",
    changes: "members go on preparing, however much of what they have applied waits for acknowledgements",
    finds: "S10",
    schedule: "few-unacknowledged",
    peers: 2,
    tampering: () => ({ stepped: forgetOwed }),
  },
  {
    name: "judged-again",
    changes: "what was aborted is unknown to a member, so it votes on it again",
    finds: "S39",
    orFinds: ["S1"],
    schedule: "batch-mixed-votes",
    tampering: judgedAgain,
  },
  {
    name: "receipts-not-seen",
    changes: "a member does not remember which batches of others it has receipts from",
    finds: "S22",
    orFinds: ["S55"],
    schedule: "rollback-silent",
    tampering: receiptsNotSeen,
  },
  {
    name: "any-age",
    changes: "a writer started again takes requests from before for new ones, and entry peers forget what they denied",
    finds: "S14",
    schedule: "copy-after-restart",
    tampering: () => ({ stepped: forgetJoining }),
  },
  {
    name: "room-for-few-refusals",
    changes:
      "a writer takes a duplicate of what it refused and has forgotten for a new request, as entry peers have, too",
    finds: "S14",
    orFinds: ["S58"],
    schedule: "few-refusals-remembered",
    tampering: forgetForgotten,
  },
  {
    name: "damage-forgotten",
    changes: "a peer that finds a row damaged under a request tells its callers so and goes on as if it were whole",
    finds: "S28",
    schedule: "damage-under-forward",
    tampering: forgetDamage,
  },
  {
    name: "first-key-in-audit",
    changes: "audit rows name the first integrity key, whichever is in use",
    finds: "S32",
    schedule: "integrity-history-missing",
    tampering: rows("audit", (row) => ({ ...row, integrityKeyVersion: FIRST_INTEGRITY_VERSION })),
  },
  {
    name: "history-ignored",
    changes: "a peer takes integrity keys that its rows have lost from a copy that nothing vouches for",
    finds: "S28",
    schedule: "integrity-history-missing",
    crypto: "codec",
    tampering: () => ({ cryptography: withCopiedHistory }),
  },
  {
    name: "locks-until-expiry",
    changes: "a member drops the locks of a preparation when its deadline has passed",
    finds: "S9",
    schedule: "few-preparations",
    tampering: () => ({
      stepped: (world, _peer, state) => {
        const isLate = (id: Digest): boolean =>
          (state.undecided.preparations.get(id)?.proposal.expiresAt ?? Number.POSITIVE_INFINITY) < world.realMillis;
        const left = [...state.undecided.locks].filter(([, id]) => !isLate(id));
        if (left.length < state.undecided.locks.size)
          Object.assign(state, { undecided: { ...state.undecided, locks: new Map(left) } });
      },
    }),
  },
  {
    name: "grudge",
    changes: "whoever asks again for what had expired undecided is told to ask later, for ever",
    finds: "L9",
    schedule: "deadline-knife-edge",
    tampering: () => ({
      answered: (world, answer) => {
        if (!world.healed || (answer._tag !== "Registered" && answer._tag !== "Replaced")) return answer;
        const { ref } = answer.approver;
        const isLate = [...world.ghost.proposals.values()].some(
          ({ proposal }) => effectsIn(proposal).ref === ref && proposal.expiresAt < world.realMillis,
        );
        return isLate ? { _tag: "Rejected", rejection: later(ref) } : answer;
      },
    }),
  },
];
