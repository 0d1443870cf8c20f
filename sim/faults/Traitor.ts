/**
 * A member that lies. It runs the real driver on a real disk; what leaves it and what its driver hears passes through
 * here, which holds the member's own identity key and signs whatever suits it, in valid batches that fork from its
 * chain. Its driver is kept from learning of that, or else it would put itself in quarantine.
 */
import { absurd } from "effect";
import { isOfModule } from "../../core/protocol/Message.ts";
import type { Digest } from "../../core/base/Digest.ts";
import { type Session, sessionDigest } from "../../core/commands/enrollPasskey/Session.ts";
import type { Forward } from "../../core/protocol/Forward.ts";
import type { Message } from "../../core/Message.ts";
import type { PrepareItem, SettleItem } from "../../core/protocol/Message.ts";
import type { Proposal } from "../../core/protocol/Proposal.ts";
import { proposalId } from "../../core/protocol/Proposal.ts";
import { isOfPromotion } from "../../core/protocol/PromotionMessages.ts";
import { RESTORATION_TAG, restorationCodec, type SignedRestoration } from "../../core/protocol/Restoration.ts";
import {
  BATCH_TAG,
  batchHeaderCodec,
  batchTree,
  type SignedHeader,
  type SignedStatement,
  signerOf,
  type Statement,
} from "../../core/protocol/Statement.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import { numberKey } from "../../core/protocol/Tables.ts";
import { maskOf } from "../checkers/Ghost.ts";
import type { Stream, Unit } from "../base/Choices.ts";
import type { SimPeer } from "../world/SimPeer.ts";
import type { World } from "../world/World.ts";
import type { Mouthpiece } from "../world/Mail.ts";

/** How one kind of traitor treats what its driver wants to say. Where every draw is quiet it tells the truth. */
export type Lie = (traitor: Traitor, to: PeerId, message: Message) => ReadonlyArray<Message>;

/** What its driver hears of a message, where the kind of traitor decides that; undefined: nothing. */
export type Mishear = (traitor: Traitor, from: PeerId, message: Message) => Message | undefined;

/** Requests of others kept by a traitor, for what is in them. */
const KEPT_REQUESTS = 8;

const answers = ["REFUSAL", "RECEIPT", "PLEDGE"] as const;

/** A proposal under the traitor's name that its driver knows nothing of. */
interface Forged {
  readonly proposal: Proposal;
  readonly votes: Map<PeerId, SignedStatement>;
}

export class Traitor implements Mouthpiece {
  readonly world: World;
  readonly peer: SimPeer;
  /** The newest requests that others have passed on to it. */
  readonly heard: Array<Forward> = [];
  readonly #lie: Lie;
  readonly #mishear: Mishear;
  /** It does not hide from its driver what it has done. */
  readonly #isCareless: boolean;
  readonly #forged = new Map<Digest, Forged>();
  readonly #said = new Map<string, SignedStatement>();
  readonly #stream: Stream;
  #highestFork = 0;

  constructor(world: World, peer: SimPeer, lie: Lie, mishear: Mishear = (_traitor, _from, message) => message) {
    this.world = world;
    this.peer = peer;
    this.#lie = lie;
    this.#mishear = mishear;
    this.#stream = world.choices.stream(`traitor ${peer.slot}`);
    this.#isCareless = this.next().chance("keeps nothing from its driver", 150);
    peer.honest = false;
    peer.isLying = true;
    world.ghost.lying |= maskOf(peer.slot);
  }

  /** The traitor's next decision. */
  next(): Unit {
    return this.#stream.next();
  }

  get others(): ReadonlyArray<PeerId> {
    return [...this.peer.addresses.keys()];
  }

  idOf(proposal: Proposal): Digest {
    return proposalId(this.world.cryptography.crypto, proposal);
  }

  /** A statement about a proposal, in a batch of its own beside the driver's next one; the same words are signed once. */
  state(kind: Statement["kind"], proposal: Proposal, detail = ""): SignedStatement | undefined {
    const { version, epoch, seq, topologyDigest } = proposal;
    // A receipt must be signed in time; everything else may bear any date.
    return this.#sign(
      { version, kind, proposalId: this.idOf(proposal), epoch, seq, topologyDigest, detail },
      proposal.proposedAt,
    );
  }

  /** The acknowledgement of a session, kept or not. */
  acknowledge(session: Session): SignedStatement | undefined {
    const { version, epoch, topologyDigest } = session;
    const proposalId = sessionDigest(this.world.cryptography.crypto, session);
    return this.#sign(
      { version, kind: "Session.ACK", proposalId, epoch, seq: 0, topologyDigest, detail: "" },
      session.createdAt,
    );
  }

  #sign(statement: Statement, signedAt: number): SignedStatement | undefined {
    const { state, keys } = this.peer;
    if (state?.cluster.peer === undefined) return undefined;
    const { kind } = statement;
    const name = `${kind} ${statement.proposalId}`;
    const known = this.#said.get(name);
    if (known !== undefined) return known;
    const tree = batchTree(this.world.cryptography.crypto, [statement]);
    const header = {
      version: statement.version,
      peerId: state.cluster.peer.peerId,
      incarnation: state.signed.chain.incarnation,
      batchNo: state.signed.chain.batchNo + 1,
      prevBatchHash: state.signed.chain.hash,
      size: 1,
      root: tree.root,
      signedAt,
    };
    this.#highestFork = Math.max(this.#highestFork, header.batchNo);
    const signature = keys.identity.sign(BATCH_TAG, batchHeaderCodec, header);
    const signed = { statement, index: 0, proof: tree.proofs[0] ?? [], header, signature };
    this.#said.set(name, signed);
    this.world.marks.add(`a traitor signed a ${kind}`);
    return signed;
  }

  /** A statement in other words, signed anew where its words or its header have changed. */
  signAnew(before: SignedStatement, after: SignedStatement): SignedStatement {
    const { statement, header } = after;
    if (statement === before.statement && header === before.header) return after;
    const isAnother = statement !== before.statement;
    const tree = batchTree(this.world.cryptography.crypto, [statement]);
    const signed = this.signHeader({
      header: isAnother ? { ...header, size: 1, root: tree.root } : header,
      signature: after.signature,
    });
    const { index, proof } = isAnother ? { index: 0, proof: tree.proofs[0] ?? [] } : after;
    return { statement, index, proof, ...signed };
  }

  signHeader({ header }: SignedHeader): SignedHeader {
    return { header, signature: this.peer.keys.identity.sign(BATCH_TAG, batchHeaderCodec, header) };
  }

  /** A restore that it announces, whether there was one or not. */
  announce({ restoration }: SignedRestoration): SignedRestoration {
    return { restoration, signature: this.peer.keys.identity.sign(RESTORATION_TAG, restorationCodec, restoration) };
  }

  /** A receipt for a proposal that its driver knows nothing of; it listens for the votes of others. */
  vouch(proposal: Proposal): SignedStatement | undefined {
    const receipt = this.state("RECEIPT", proposal);
    const id = this.idOf(proposal);
    if (!this.#forged.has(id)) this.#forged.set(id, { proposal, votes: new Map() });
    return receipt;
  }

  /** Another proposal in place of one of its driver's, with a receipt for it. */
  forge({ evidence }: PrepareItem, proposal: Proposal): PrepareItem | undefined {
    const receipt = this.vouch(proposal);
    return receipt && { proposal, receipt, evidence };
  }

  says(to: PeerId, message: Message): ReadonlyArray<Message> {
    const isStranger = this.peer.state?.cluster.membership === undefined && !isOfPromotion(message);
    if (this.peer.isDamaged || isStranger) return [message];
    // It admits as many batches as any peer may have seen.
    const meant =
      message._tag === "Ready" ? { ...message, batchNo: Math.max(message.batchNo, this.#highestFork) } : message;
    return this.#lie(this, to, meant);
  }

  hears(from: PeerId, message: Message): Message | undefined {
    // With a damaged disk it can read no row to lie by.
    if (this.peer.isDamaged) return message;
    if (message._tag === "Forward") {
      this.heard.unshift(message.forward);
      this.heard.splice(KEPT_REQUESTS);
    }
    const left = this.#mishear(this, from, message);
    return left && this.#withoutTraces(from, left);
  }

  /** What its driver may know without putting itself in quarantine. */
  #withoutTraces(from: PeerId, message: Message): Message | undefined {
    if (this.#isCareless) return message;
    if (isOfModule(message)) return message;
    switch (message._tag) {
      case "Ready":
      case "ReadyProbe":
        return message.seen !== undefined && this.#isFork(message.seen) ? { ...message, seen: undefined } : message;
      case "Votes":
      case "CommitAcks":
        this.#note(message.statements);
        return { ...message, statements: this.#withoutForks(message.statements) };
      case "SettleAnswer":
        for (const { held } of message.items) this.#note(held);
        return {
          ...message,
          items: message.items.map((item) => ({ ...item, held: this.#withoutForks(item.held) })),
        };
      case "SettleQuery":
        return this.#answerForged(from, message.items) ? undefined : message;
      case "AbortRequest":
        if (this.#answerForged(from, message.items)) return undefined;
        return {
          ...message,
          items: message.items.map((item) => ({ ...item, votes: this.#withoutForks(item.votes) })),
        };
      case "Commit":
        return {
          ...message,
          certificates: message.certificates.filter(({ receipts }) => !receipts.some((each) => this.#isFork(each))),
        };
      case "GenesisCard":
      case "GenesisVote":
      case "GenesisPinned":
      case "GenesisRefused":
      case "Forward":
      case "Forwarded":
      case "Outcome":
      case "Prepare":
      case "SnapshotRequest":
      case "SnapshotOffer":
      case "StoredQuery":
      case "StoredAnswer":
        return message;
      default:
        return absurd(message);
    }
  }

  #isFork({ header, signature }: SignedHeader): boolean {
    return (
      header.peerId === this.peer.peerId &&
      this.peer.store.get("batches", numberKey(header.batchNo))?.signature !== signature
    );
  }

  #withoutForks(statements: ReadonlyArray<SignedStatement>): ReadonlyArray<SignedStatement> {
    return statements.filter((each) => !this.#isFork(each));
  }

  /** Receipts of all others for something forged make a certificate; it goes to some of them. */
  #note(statements: ReadonlyArray<SignedStatement>): void {
    for (const signed of statements) {
      const { proposalId: id, kind } = signed.statement;
      const forged = this.#forged.get(id);
      if (forged === undefined || kind !== "RECEIPT" || forged.votes.has(signerOf(signed))) continue;
      forged.votes.set(signerOf(signed), signed);
      if (forged.votes.size < this.others.length) continue;
      this.world.marks.add("a traitor completed a certificate of its own");
      const own = this.state("RECEIPT", forged.proposal);
      const receipts = this.peer.state?.cluster.membership?.peerIds.flatMap((peerId) =>
        peerId === this.peer.peerId ? (own ?? []) : (forged.votes.get(peerId) ?? []),
      );
      const commit = {
        certificates: [{ proposal: forged.proposal, receipts: receipts ?? [] }],
        acks: [],
        stableSeq: 0,
      };
      const unit = this.next();
      for (const to of this.others)
        if (unit.chance(`delivers it to peer ${to}`, 700))
          this.world.mail.utter(this.peer, to, { _tag: "Commit", ...commit });
    }
  }

  /** Whether the question was about something forged; then it gives any answer that ends it or keeps it open. */
  #answerForged(from: PeerId, items: ReadonlyArray<SettleItem>): boolean {
    const statements = items.flatMap(({ proposal }) => {
      if (!this.#forged.has(this.idOf(proposal))) return [];
      const kind = this.next().named("answers with a", "REFUSAL", answers, [14, 3, 3]);
      return this.state(kind, proposal, kind === "RECEIPT" ? "" : "EXPIRED") ?? [];
    });
    if (statements.length > 0) this.world.mail.utter(this.peer, from, { _tag: "Votes", statements });
    return statements.length > 0;
  }
}
