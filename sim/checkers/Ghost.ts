/**
 * What really happened, which no peer can see as a whole: every batch and statement that became durable, who prepared,
 * refused and applied what, and every subject that anybody ever stored. Checkers hold peers against it.
 */
import { absurd } from "effect";
import type { Capacities } from "../../core/base/Capacities.ts";
import type { Crypto } from "../../core/crypto/Crypto.ts";
import type { Digest } from "../../core/base/Digest.ts";
import type { Proposal } from "../../core/protocol/Proposal.ts";
import type { Restoration } from "../../core/protocol/Restoration.ts";
import { protocolTables } from "../../core/protocol/Tables.ts";
import { FIRST_INCARNATION, isAbortedAt } from "./Ends.ts";
import type { BatchHeader, SignedStatement } from "../../core/protocol/Statement.ts";
import type { Membership } from "../../core/protocol/Topology.ts";
import type { Write } from "../../core/Tables.ts";
import type { Watched } from "./Checker.ts";
import { production } from "../models/Models.ts";
import { type Product, rowAt, rowsOf } from "../models/Product.ts";
import type { Subject } from "../models/Subject.ts";
import { epochAt, maskOfMembers, newerOf, writersOf } from "./Epochs.ts";
import { KeyFacts } from "./KeyFacts.ts";
import { countOf, firstPeers, maskOf, type PeerMask, slotsOf } from "./PeerMask.ts";
import { isSameStatement, StatementRows } from "./StatementRows.ts";

export { countOf, firstPeers, maskOf, MOST_PEERS, type PeerMask, slotsOf } from "./PeerMask.ts";

/** Everything durable about one proposal. */
export interface ProposalFacts {
  readonly id: Digest;
  readonly proposal: Proposal;
  receipts: PeerMask;
  refusals: PeerMask;
  /** Members that refused it in the incarnation that it pins: then no certificate of it can exist. */
  barring: PeerMask;
  /** Peers that have it no longer, because their disks went back to before that, undeclared. */
  forgotten: PeerMask;
  pledges: PeerMask;
  applied: PeerMask;
  aborted: PeerMask;
  /** Receipts by signer, as they were made durable. */
  readonly receiptOf: Map<number, SignedStatement>;
  /** By signer: the incarnations in which it voted for the abort. */
  readonly endVotes: Map<number, Set<number>>;
}

export interface SubjectFacts {
  readonly subject: Subject;
  /** As it was first stored. */
  readonly row: object;
  holders: PeerMask;
  /** The newest revisions, each as it was first stored anywhere. */
  readonly revisions: Map<number, object>;
  /** The revision that each peer has, by slot; 0 where it has none. */
  readonly revisionAt: Array<number>;
}

/** Peers are never more than one revision apart, so older ones are compared with nothing. */
const KEPT_REVISIONS = 8;

const noteEndVote = ({ endVotes }: ProposalFacts, { header }: SignedStatement): void => {
  const incarnations = endVotes.get(header.peerId) ?? new Set();
  endVotes.set(header.peerId, incarnations.add(header.incarnation));
};

/** Whether a change is of one of the tables that agreement itself has. */
const isOfAgreement = (write: Write): write is Extract<Write, { readonly table: keyof typeof protocolTables }> =>
  Object.hasOwn(protocolTables, write.table);

export class Ghost {
  readonly crypto: Crypto;
  readonly product: Product;
  readonly total: number;
  /** Every peer of the world. */
  readonly everyone: PeerMask;
  /** Peers that have lost durable statements without knowing it. */
  forgetful: PeerMask = 0;
  /** Peers that sign what is not on their disk: their statements prove nothing, and need not be durable. */
  lying: PeerMask = 0;
  /** Peers on an older disk, until a declared restore has brought the registry of the others there. */
  away: PeerMask = 0;
  /** Of these, those whose restore is durable. */
  recovering: PeerMask = 0;
  /** Peers that were restored as declared at least once: what they alone knew is gone. */
  restored: PeerMask = 0;
  /** The peer that has just put the registries of all members together, when every one was being restored. */
  unitedBy: number | undefined;
  /** Durable announcements by slot: every incarnation a peer has had, the first one aside. */
  readonly #incarnations: ReadonlyArray<Map<number, Digest>>;
  /** Those that are not the service's. */
  readonly capacities: Partial<Capacities>;
  /** The newest epoch that is pinned anywhere, with those before it. */
  membership: Membership | undefined;
  readonly proposals = new Map<Digest, ProposalFacts>();
  /** Approvers, and whatever else commands make, by ref. */
  readonly subjects = new Map<string, SubjectFacts>();
  readonly #subjectOf: ReadonlyMap<string, Subject>;
  /** Peers that have ever kept a session on their present disk; rows go an hour after it is over. */
  readonly sessions = new Map<string, PeerMask>();
  readonly stored = new StatementRows();
  readonly keys = new KeyFacts();
  /** Durable batch headers by slot, by number. */
  readonly #batches: ReadonlyArray<Map<number, Array<BatchHeader>>>;
  /** How many proposals each peer has prepared and not seen decided. */
  readonly #open: ReadonlyArray<Map<Digest, Proposal>>;
  readonly #noRevisions: ReadonlyArray<number>;

  constructor(crypto: Crypto, total: number, product = production, capacities: Partial<Capacities> = {}) {
    this.crypto = crypto;
    this.capacities = capacities;
    this.product = product;
    this.#subjectOf = new Map(product.subjects.map((subject) => [subject.table, subject]));
    this.total = total;
    this.everyone = firstPeers(total);
    this.#incarnations = Array.from({ length: total + 1 }, () => new Map());
    this.#batches = Array.from({ length: total + 1 }, () => new Map());
    this.#noRevisions = Array.from({ length: total + 1 }, () => 0);
    this.#open = Array.from({ length: total + 1 }, () => new Map());
  }

  /**
   * Whether it is a fault of the protocol that a change is applied here and aborted there: the protocol stands one
   * faulty member, and not two (protocol.md 1).
   */
  get isAtomic(): boolean {
    return countOf(this.forgetful | this.lying) < 2;
  }

  isLying(slot: number): boolean {
    return (this.lying & maskOf(slot)) !== 0;
  }

  /** Whether the writer says the same to all, and in every epoch did. */
  get hasHonestWriter(): boolean {
    return !writersOf(this.membership).some((writer) => this.isLying(writer));
  }

  /** Whether the writer also remembers what it has said: on an old disk it may unknowingly say something else. */
  get hasConstantWriter(): boolean {
    return this.hasHonestWriter && (this.forgetful & maskOf(this.membership?.writer ?? 0)) === 0;
  }

  /** The members whose receipts a proposal needs. */
  signersFor({ seq }: Pick<Proposal, "seq">): Membership | undefined {
    return epochAt(this.membership, seq);
  }

  /** The slots of those whose votes decide about a proposal. */
  votersOn(proposal: Pick<Proposal, "seq">): PeerMask {
    return maskOfMembers(this.signersFor(proposal), this.everyone);
  }

  get members(): PeerMask {
    return maskOfMembers(this.membership, this.everyone);
  }

  /** The durable header of a peer's batch. */
  batch(slot: number, incarnation: number, batchNo: number): BatchHeader | undefined {
    return this.#batches[slot]?.get(incarnation)?.[batchNo];
  }

  lastBatch(slot: number, incarnation: number): BatchHeader | undefined {
    return this.#batches[slot]?.get(incarnation)?.at(-1);
  }

  isAway(slot: number): boolean {
    return (this.away & maskOf(slot)) !== 0;
  }

  isRecovering(slot: number): boolean {
    return (this.recovering & maskOf(slot)) !== 0;
  }

  /** Whether a peer has durably announced this incarnation; the recoveryId, if it did. */
  recoveryIdOf(slot: number, incarnation: number): Digest | undefined {
    return this.#incarnations[slot]?.get(incarnation);
  }

  /** Whether a peer has ever had this incarnation. */
  hadIncarnation(slot: number, incarnation: number): boolean {
    return incarnation === FIRST_INCARNATION || this.recoveryIdOf(slot, incarnation) !== undefined;
  }

  /** Durable preparations of a peer that are not decided there. */
  openAt(slot: number): ReadonlyMap<Digest, Proposal> {
    return this.#open[slot] ?? new Map();
  }

  /** Whether these bytes were durable at their signer before anybody else could see them. */
  isDurable({ header }: SignedStatement): boolean {
    const known = this.batch(header.peerId, header.incarnation, header.batchNo);
    return (
      known !== undefined && (known === header || (known.root === header.root && known.signedAt === header.signedAt))
    );
  }

  /** Whether this is, in every part, the receipt that its signer made durable for a proposal. */
  isReceipt(id: Digest, signed: SignedStatement): boolean {
    const real = this.proposals.get(id)?.receiptOf.get(signed.header.peerId);
    return real !== undefined && (real === signed || isSameStatement(real, signed));
  }

  /** Takes note of a transaction that has become durable. */
  flushed(peer: Watched, writes: ReadonlyArray<Write>): void {
    this.stored.note(peer.slot, writes);
    this.keys.flushed(peer.slot, writes);
    for (const write of writes) this.#note(peer, write);
  }

  /**
   * A peer came back on an older disk, undeclared, which `holds` some rows: what it lacks of the peer's statements is gone
   * with the newer one until it signs them again, and what was done on it counts, though it was restored since.
   */
  wentBack(slot: number, holds: (table: "preparations" | "refusals" | "certificates", key: Digest) => boolean): void {
    for (const [id, facts] of this.proposals) {
      const isHeld = holds("preparations", id) || holds("refusals", id);
      facts.forgotten = isHeld ? facts.forgotten & ~maskOf(slot) : facts.forgotten | maskOf(slot);
      if (holds("certificates", id)) facts.applied |= maskOf(slot);
    }
  }

  /** A new incarnation: this peer stands for no vote and no record of the old one. */
  #beginIncarnation(slot: number, { incarnation, recoveryId }: Restoration): void {
    const left = ~maskOf(slot);
    // What becomes a member of a later epoch comes in like a restored peer, and has lost nothing.
    const isNew = this.membership?.before !== undefined && this.#incarnations[slot]?.size === 0;
    if (!isNew) this.restored |= maskOf(slot);
    this.#incarnations[slot]?.set(incarnation, recoveryId);
    this.away |= maskOf(slot);
    this.recovering |= maskOf(slot);
    this.#open[slot]?.clear();
    this.keys.beganAnew(slot);
    for (const facts of this.proposals.values()) {
      facts.refusals &= left;
      facts.pledges &= left;
      facts.applied &= left;
      facts.aborted &= left;
    }
    for (const [ref, facts] of this.subjects) {
      facts.holders &= left;
      // Changes applied only in incarnations that are over were told to nobody as done, and may be made anew.
      if (facts.holders === 0) this.subjects.delete(ref);
      const newest = Math.max(0, ...slotsOf(facts.holders).map((holder) => facts.revisionAt[holder] ?? 0));
      for (const revision of facts.revisions.keys()) if (revision > newest) facts.revisions.delete(revision);
    }
  }

  /** The registry of the others is there: from now on the peer answers for all of it. */
  #endRecovery({ slot, store }: Watched): void {
    this.unitedBy = this.away === this.everyone ? slot : undefined;
    // The rows of old incarnations, or of a source that lies, are nobody's; these are there now.
    if (this.unitedBy !== undefined || writersOf(this.membership?.before).some((each) => this.isLying(each)))
      for (const subject of this.product.subjects)
        for (const [ref, row] of rowsOf(store, subject)) this.#subject(subject, ref, row);
    this.away &= ~maskOf(slot);
    this.recovering &= ~maskOf(slot);
    for (const [id, facts] of this.proposals) {
      if (store.get("certificates", id) !== undefined) facts.applied |= maskOf(slot);
      if (isAbortedAt(store, id, facts.proposal)) facts.aborted |= maskOf(slot);
    }
    for (const [ref, facts] of this.subjects) {
      const row = rowAt(store, facts.subject, ref);
      facts.revisionAt[slot] = row === undefined ? 0 : facts.subject.revisionOf(row);
      if (row !== undefined) facts.holders |= maskOf(slot);
    }
  }

  #note(peer: Watched, write: Write): void {
    const { slot } = peer;
    if (write.table === "restore" && write.op !== "remove")
      return write.row.recovering ? this.#beginIncarnation(slot, write.row.restoration) : this.#endRecovery(peer);
    // Rows of a recovering peer count when it has recovered.
    if (this.isRecovering(slot) && write.table !== "batches" && write.table !== "refusals") return;
    if (write.op === "remove") {
      if (write.table === "preparations") this.#open[slot]?.delete(write.key as Digest);
      return;
    }
    if (!isOfAgreement(write)) return this.#noteOther(slot, write.table, write.key, write.row);
    switch (write.table) {
      case "topology":
        this.membership = newerOf(this.crypto, this.membership, write.row.topology);
        return;
      case "batches": {
        const { header } = write.row;
        const batches = this.#batches[slot]?.get(header.incarnation) ?? [];
        batches[header.batchNo] = header;
        this.#batches[slot]?.set(header.incarnation, batches);
        return;
      }
      case "preparations": {
        const facts = this.#facts(write.key as Digest, write.row.proposal);
        facts.receipts |= maskOf(slot);
        facts.forgotten &= ~maskOf(slot);
        facts.receiptOf.set(slot, write.row.own);
        if (write.row.pledge !== undefined) {
          facts.pledges |= maskOf(slot);
          noteEndVote(facts, write.row.pledge);
        }
        this.#open[slot]?.set(facts.id, facts.proposal);
        return;
      }
      case "refusals":
        return this.#noteRefusal(slot, this.#facts(write.key as Digest, write.row.proposal), write.row.refusal);
      case "slots":
        if (write.row.outcome === "ABORTED") this.#noteAborted(slot, write.row.proposalId, write.row.ack);
        return;
      case "strays":
        return this.#noteAborted(slot, write.key as Digest, write.row.ack);
      case "certificates": {
        const facts = this.#facts(write.key as Digest, write.row.proposal);
        facts.applied |= maskOf(slot);
        // A mono instance prepares and applies in one transaction: only its certificate shows the receipt.
        const own = write.row.receipts.find((each) => each.header.peerId === slot);
        if (own !== undefined && this.isDurable(own)) {
          facts.receipts |= maskOf(slot);
          facts.receiptOf.set(slot, own);
        }
        return;
      }
      case "peer":
      case "vault":
      case "integrity":
      case "genesis":
      case "counters":
      case "seen":
      case "epochs":
      case "readable":
      case "aborts":
      case "outbox":
      case "audit":
      case "head":
      case "seals":
      case "ranges":
        return;
      default:
        return absurd(write);
    }
  }

  #noteOther(slot: number, table: string, ref: string, row: object): void {
    if (table === "sessions") this.sessions.set(ref, (this.sessions.get(ref) ?? 0) | maskOf(slot));
    const subject = this.#subjectOf.get(table);
    if (subject === undefined || this.isLying(slot)) return;
    const facts = this.#subject(subject, ref, row);
    facts.holders |= maskOf(slot);
    facts.revisionAt[slot] = subject.revisionOf(row);
  }

  #subject(subject: Subject, ref: string, row: object): SubjectFacts {
    const known = this.subjects.get(ref);
    const revision = subject.revisionOf(row);
    if (known === undefined) {
      const revisionAt = this.#noRevisions.slice();
      const facts = { subject, row, holders: 0, revisions: new Map([[revision, row]]), revisionAt };
      this.subjects.set(ref, facts);
      return facts;
    }
    const { revisions } = known;
    if (!revisions.has(revision)) revisions.set(revision, row);
    for (const oldest of revisions.keys()) {
      if (revisions.size <= KEPT_REVISIONS) break;
      revisions.delete(oldest);
    }
    return known;
  }

  #noteRefusal(slot: number, facts: ProposalFacts, refusal: SignedStatement): void {
    facts.refusals |= maskOf(slot);
    facts.forgotten &= ~maskOf(slot);
    noteEndVote(facts, refusal);
    const position = this.signersFor(facts.proposal)?.peerIds.indexOf(slot) ?? -1;
    if (facts.proposal.incarnations[position] === refusal.header.incarnation) facts.barring |= maskOf(slot);
  }

  #noteAborted(slot: number, id: Digest, ack: SignedStatement | undefined): void {
    const facts = this.proposals.get(id);
    if (facts === undefined) return;
    facts.aborted |= maskOf(slot);
    if (ack !== undefined) noteEndVote(facts, ack);
  }

  #facts(id: Digest, proposal: Proposal): ProposalFacts {
    const known = this.proposals.get(id);
    if (known !== undefined) return known;
    const facts = {
      id,
      proposal,
      receipts: 0,
      refusals: 0,
      barring: 0,
      forgotten: 0,
      pledges: 0,
      applied: 0,
      aborted: 0,
      receiptOf: new Map(),
      endVotes: new Map(),
    };
    this.proposals.set(id, facts);
    return facts;
  }
}
