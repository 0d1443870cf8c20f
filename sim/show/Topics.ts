/**
 * What moments and messages are about: proposals, requests and approvers, by names short enough for a picture. The same
 * thing has the same number everywhere, so that a reader can walk from one moment of it to the next.
 */
import { absurd } from "effect";
import { isOfModule } from "../../core/protocol/Message.ts";
import { production } from "../models/Models.ts";
import type { Product } from "../models/Product.ts";
import type { Crypto } from "../../core/crypto/Crypto.ts";
import type { Digest } from "../../core/base/Digest.ts";
import type { Message } from "../../core/Message.ts";
import { type Proposal, proposalId } from "../../core/protocol/Proposal.ts";
import type { SignedStatement } from "../../core/protocol/Statement.ts";
import type { Write } from "../../core/Tables.ts";
import type { TopicData } from "./PictureData.ts";

const SHORT = 6;

/** A ref as far as people tell approvers apart: its id, and the beginning of the digest. */
export const shortRef = (ref: string): string =>
  ref.replace(/([0-9a-f]{6})[0-9a-f]{10,}$/, "$1…").replace("@sha256:", "@");

export class Topics {
  readonly #crypto: Crypto;
  readonly product: Product;
  readonly #numbers = new Map<string, number>();
  readonly #topics: Array<{ readonly kind: TopicData["kind"]; readonly id: string; name: string }> = [];
  readonly #named = new Map<string, number>();
  readonly #ids = new WeakMap<Proposal, Digest>();
  readonly #about = new WeakMap<object, ReadonlyArray<number>>();

  constructor(crypto: Crypto, product = production) {
    this.#crypto = crypto;
    this.product = product;
  }

  get all(): ReadonlyArray<TopicData> {
    return this.#topics;
  }

  #number(kind: TopicData["kind"], id: string, name: string): number {
    const key = `${kind} ${id}`;
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    this.#numbers.set(key, this.#topics.length);
    return this.#topics.push({ kind, id, name }) - 1;
  }

  request(requestId: string): number {
    return this.#number("request", requestId, requestId);
  }

  approver(ref: string): number {
    return this.#number("approver", ref, shortRef(ref));
  }

  /** A proposal of which only the id is known; it gets its name when the proposal itself is seen. */
  proposalId(id: Digest): number {
    return this.#number("proposal", id, `proposal ${id.slice(0, SHORT)}`);
  }

  proposal(proposal: Proposal): number {
    let id = this.#ids.get(proposal);
    if (id === undefined) {
      id = proposalId(this.#crypto, proposal);
      this.#ids.set(proposal, id);
    }
    const number = this.proposalId(id);
    const name = `slot ${proposal.seq} (${this.product.changing(proposal.kind).nameOf(proposal)})`;
    const topic = this.#topics[number];
    // A reader looks for two proposals for one slot, so they must not look the same.
    const owner = this.#named.get(name) ?? number;
    this.#named.set(name, owner);
    if (topic !== undefined) topic.name = owner === number ? name : `${name} ${id.slice(0, SHORT)}`;
    return number;
  }

  nameOf(number: number): string {
    return this.#topics[number]?.name ?? "";
  }

  nameOfId(id: Digest): string {
    return this.nameOf(this.proposalId(id));
  }

  aboutMessage(message: Message): ReadonlyArray<number> {
    const known = this.#about.get(message);
    if (known !== undefined) return known;
    const about = [...new Set(this.#ofMessage(message))];
    this.#about.set(message, about);
    return about;
  }

  #ofProposal(proposal: Proposal): ReadonlyArray<number> {
    return [this.proposal(proposal), this.approver(this.product.changeOf(proposal).ref)];
  }

  #ofStatements(statements: ReadonlyArray<SignedStatement>): ReadonlyArray<number> {
    return statements.map(({ statement }) => this.proposalId(statement.proposalId));
  }

  #ofMessage(message: Message): ReadonlyArray<number> {
    if (isOfModule(message))
      return this.product
        .messageModel(message)
        .requestsIn(message)
        .map((requestId) => this.request(requestId));
    switch (message._tag) {
      case "Forward":
        return [this.request(message.forward.requestId)];
      case "Forwarded":
        return [this.request(message.requestId)];
      case "Outcome":
        return [this.request(message.requestId), ...this.#ofOutcome(message.outcome)];
      case "StoredQuery":
      case "StoredAnswer":
        return [this.request(message.requestId), this.approver(message.ref)];
      case "Prepare":
        return message.items.flatMap(({ proposal, evidence }) => [
          ...this.#ofProposal(proposal),
          this.request(evidence.requestId),
        ]);
      case "Votes":
      case "CommitAcks":
        return this.#ofStatements(message.statements);
      case "Commit":
        return [
          ...message.certificates.flatMap(({ proposal }) => this.#ofProposal(proposal)),
          ...this.#ofStatements(message.acks),
        ];
      case "SettleQuery":
      case "AbortRequest":
        return message.items.flatMap(({ proposal }) => this.#ofProposal(proposal));
      case "SettleAnswer":
        return message.items.map((item) => this.proposalId(item.proposalId));
      case "GenesisCard":
      case "GenesisVote":
      case "GenesisPinned":
      case "GenesisRefused":
      case "ReadyProbe":
      case "Ready":
      case "SnapshotRequest":
      case "SnapshotOffer":
        return [];
      default:
        return absurd(message);
    }
  }

  #ofOutcome(outcome: Extract<Message, { readonly _tag: "Outcome" }>["outcome"]): ReadonlyArray<number> {
    if (outcome._tag === "Confirmed") return this.#ofProposal(outcome.certificate.proposal);
    if (outcome._tag === "Exchanged") return [];
    const ref = outcome._tag === "Existing" ? outcome.ref : outcome.rejection.ref;
    return ref === undefined ? [] : [this.approver(ref)];
  }

  aboutWrite(write: Write): ReadonlyArray<number> {
    if (write.op === "remove") return [];
    switch (write.table) {
      case "preparations":
      case "refusals":
      case "aborts":
      case "certificates":
        return this.#ofProposal(write.row.proposal);
      case "slots":
      case "outbox":
        return [this.proposalId(write.row.proposalId)];
      case "approvers":
        return [this.approver(write.row.ref)];
      default:
        return [];
    }
  }
}
