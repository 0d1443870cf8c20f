/**
 * The state of a peer that has just started: sealed, with everything its store
 * remembers, and without pending callers and answers.
 */
import type { Crypto } from "../crypto/Crypto.ts";
import type { SetAccumulator } from "../base/Digest.ts";
import { allRows } from "./AllRows.ts";
import { InvariantViolation } from "../base/Invariant.ts";
import { type Aborting, type Delivery, type Preparation, type RefusedProposal } from "./Undecided.ts";
import { emptyState, type PeerState } from "./PeerState.ts";
import { noCluster } from "./ClusterState.ts";
import { transferIdOf } from "./PromotionDraft.ts";
import { promotionAtBoot } from "./PromotionState.ts";
import { highProofOf } from "./Slots.ts";
import { freshRecovery } from "./TakingOver.ts";
import { FIRST_INTEGRITY_VERSION } from "./Fitness.ts";
import { type Commands, locksOf } from "./Command.ts";
import { signerOf } from "./Statement.ts";
import type { Seen } from "./Message.ts";
import { type Membership, membershipOf, type PeerId, topologyDigest } from "./Topology.ts";
import { type RowView, type Rows, SELF, slotKey } from "./Tables.ts";

/** A certificate needs this peer's receipt: undecided rows come back with the writer's receipt and this peer's own. */
const preparationOf = (
  row: Rows["preparations"],
  seen: ReadonlyMap<PeerId, Seen>,
  self: PeerId,
  elapsed: number,
): Preparation => ({
  id: row.own.statement.proposalId,
  proposal: row.proposal,
  writerReceipt: row.writerReceipt,
  own: row.own,
  receipts: new Map([
    [signerOf(row.writerReceipt), row.writerReceipt],
    [signerOf(row.own), row.own],
  ]),
  refusal: row.refusal,
  pledge: row.pledge,
  // A refusal of a superseded incarnation, which made this peer pledge, no longer counts.
  votes: new Map(
    [row.refusal, row.pledge].flatMap((vote) =>
      vote === undefined ||
      (signerOf(vote) !== self && vote.header.incarnation !== seen.get(signerOf(vote))?.incarnation)
        ? []
        : [[signerOf(vote), vote]],
    ),
  ),
  preparedAt: elapsed,
  askedAt: elapsed,
});

const refusedOf = (
  view: RowView,
  { proposal, refusal, writerReceipt }: Rows["refusals"],
  elapsed: number,
): RefusedProposal => {
  const { epoch, seq } = proposal;
  const id = refusal.statement.proposalId;
  return {
    id,
    proposal: { epoch, seq },
    bindsSlot: view.get("slots", slotKey(epoch, seq))?.proposalId === id,
    writerReceipt,
    votes: new Map([[signerOf(refusal), refusal]]),
    preparedAt: elapsed,
    askedAt: elapsed,
  };
};

const abortingOf = (view: RowView, { proposal, writerReceipt, votes }: Rows["aborts"], elapsed: number): Aborting => {
  const id = writerReceipt.statement.proposalId;
  const ack = view.get("slots", slotKey(proposal.epoch, proposal.seq))?.ack;
  if (ack === undefined) throw new InvariantViolation("S5", `slot ${proposal.seq} is aborted without acknowledgement`);
  const acks = new Map([[signerOf(ack), ack]]);
  return { id, proposal, writerReceipt, votes, acks, preparedAt: elapsed, askedAt: elapsed };
};

const deliveryOf = (view: RowView, { proposalId, epoch, seq }: Rows["outbox"]): Delivery => {
  const certificate = view.get("certificates", proposalId);
  const ack = view.get("slots", slotKey(epoch, seq))?.ack;
  if (certificate === undefined) throw new InvariantViolation("S13", `outbox row ${seq} has no certificate beside it`);
  return {
    id: proposalId,
    seq,
    proposal: certificate.proposal,
    acks: new Map(ack && [[signerOf(ack), ack]]),
    dueAt: 0,
    isPrunable: false,
  };
};

const foundingOf = (
  crypto: Crypto,
  { peerId }: Rows["peer"],
  vote: Rows["genesis"] | undefined,
): PeerState["cluster"]["founding"] => ({
  cards: new Map(),
  vote: vote && { ...vote, digest: topologyDigest(crypto, vote.topology) },
  signatures: new Map(vote && [[peerId, vote.signature]]),
  faults: new Map(),
});

/** Locks that outlive the decision: at the writer, until all have acknowledged. */
const restoredLocks = (
  commands: Commands,
  membership: Membership | undefined,
  { peerId }: Rows["peer"],
  preparations: ReadonlyArray<Preparation>,
  closing: ReadonlyArray<Delivery | Aborting>,
): PeerState["undecided"]["locks"] => {
  const holders = membership?.writer === peerId ? [...preparations, ...closing] : preparations;
  return new Map(holders.flatMap(({ id, proposal }) => locksOf(commands, proposal).map((lock) => [lock, id] as const)));
};

/** A peer that remembers only who it is and to which cluster it belongs. */
const blank = (view: RowView, crypto: Crypto): PeerState => {
  const pinned = view.get("topology", SELF);
  const earlier = allRows(view, "epochs").reduce<Membership | undefined>(
    (before, { topology }) => membershipOf(crypto, topology, before),
    undefined,
  );
  const membership = pinned && membershipOf(crypto, pinned.topology, earlier);
  const promotion = promotionAtBoot(view, (draft) => transferIdOf(crypto, draft));
  const peer = view.get("peer", SELF);
  return { ...emptyState(crypto), cluster: { ...noCluster(), peer, membership, pinned, promotion } };
};

const damaged = (state: PeerState, where: string): PeerState => ({
  ...state,
  fitness: { ...state.fitness, integrityFault: where },
});

/** A peer that cannot trust its rows: it answers probes, reads the rows that still hold, and signs nothing. */
export const bootDamaged = (view: RowView, crypto: Crypto, where: string): PeerState =>
  damaged(blank(view, crypto), where);

const recoveryOf = (
  view: RowView,
  { restoration, recovering }: Rows["restore"],
): PeerState["rejoining"]["recovery"] => {
  if (!recovering) return undefined;
  const isReadable = view.get("readable", SELF)?.recoveryId === restoration.recoveryId;
  return { ...freshRecovery("the process was started again"), isReadable };
};

/** Reads the state back. Throws {@link InvariantViolation} for contradicting rows; reading a tampered row throws. */
export const boot = (view: RowView, crypto: Crypto, commands: Commands, elapsed: number): PeerState => {
  const start = blank(view, crypto);
  const {
    cluster: { peer, membership },
  } = start;
  const counters = view.get("counters", SELF);
  if (counters === undefined) return start;
  // A store that remembers anything besides its peer and topology is damaged, not new.
  if (peer === undefined) return damaged(start, "peer/self");
  // Statements are signed for one topology; without it nothing here can be understood.
  if (counters.batchNo > 0 && membership === undefined) return damaged(start, "topology/self");
  // Without the epochs before it, nothing can be verified that their members have signed.
  if (membership?.topology.prevDigest !== membership?.before?.digest) return damaged(start, "epochs");
  const seen = new Map(allRows(view, "seen").map((row) => [row.peerId, row]));
  const restore = view.get("restore", SELF);
  const preparations = allRows(view, "preparations").map((row) => preparationOf(row, seen, peer.peerId, elapsed));
  const refused = allRows(view, "refusals").map((row) => refusedOf(view, row, elapsed));
  const aborting = allRows(view, "aborts").map((row) => abortingOf(view, row, elapsed));
  const outbox = allRows(view, "outbox").map((row) => deliveryOf(view, row));
  const isFounding = membership === undefined;
  return {
    cluster: {
      ...start.cluster,
      founding: isFounding ? foundingOf(crypto, peer, view.get("genesis", SELF)) : start.cluster.founding,
    },
    fitness: {
      ...start.fitness,
      integrityVersion: FIRST_INTEGRITY_VERSION + allRows(view, "integrity").length,
      quarantine: counters.quarantine,
    },
    rejoining: {
      ...start.rejoining,
      restored: restore && { restoration: restore.restoration, signature: restore.signature },
      recovery: restore && recoveryOf(view, restore),
      unproven: new Set(membership?.peerIds.filter((each) => each !== peer.peerId)),
    },
    signed: {
      chain: { incarnation: counters.incarnation, batchNo: counters.batchNo, hash: counters.batchHash },
      audit: { seq: counters.auditSeq, hash: counters.auditHash, keptNo: counters.keptNo, lastNo: 0 },
      seen,
      seenWritten: seen,
    },
    registry: { set: setOf(counters), approvers: counters.approvers },
    undecided: {
      ...start.undecided,
      preparations: new Map(preparations.map((each) => [each.id, each])),
      refused: new Map(refused.map((each) => [each.id, each])),
      aborting: new Map(aborting.map((each) => [each.id, each])),
      locks: restoredLocks(commands, membership, peer, preparations, [...outbox, ...aborting]),
      outbox: new Map(outbox.map((each) => [each.seq, each])),
      highSeq: counters.highSeq,
      highProof: highProofOf(view, membership, counters.highSeq),
      decidedSeq: counters.decidedSeq,
    },
    probing: start.probing,
    requests: start.requests,
    modules: Object.fromEntries(
      commands.modules.flatMap(({ slice }) => (slice ? [[slice.name, slice.boot(view)]] : [])),
    ),
    timers: start.timers,
  };
};

// The codec bounds the bytes; the crypto port alone knows their meaning.
const setOf = (counters: Rows["counters"]): SetAccumulator => counters.registrySet as SetAccumulator;
