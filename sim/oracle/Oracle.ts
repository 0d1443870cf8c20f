/**
 * A second opinion on every receipt, from first principles: what the caller sent,
 * what the token said, and what this one member had durably stored and reserved
 * before. It shares no code with the members' own checks.
 */
import type { ActorClaims } from "../../core/auth/ActorClaims.ts";
import type { Crypto } from "../../core/crypto/Crypto.ts";
import type { Session } from "../../core/commands/enrollPasskey/Session.ts";
import type { Proposal } from "../../core/protocol/Proposal.ts";
import type { SignedStatement } from "../../core/protocol/Statement.ts";
import type { Membership } from "../../core/protocol/Topology.ts";
import type { RowView, Write } from "../../core/Tables.ts";
import { metadataFault } from "../models/approvers/ApproverRegistry.ts";
import { production } from "../models/Models.ts";
import type { NaiveRegistry } from "../models/NaiveRegistry.ts";
import type { Product, RegistryMaker } from "../models/Product.ts";
import { allows } from "../requests/Grants.ts";
import type { Said } from "../requests/Said.ts";
import { type Refuser, undeserved } from "./Deserved.ts";

/** What one member has durably done, as far as it bears on its next receipt; naive registries know the rest. */
interface Member {
  readonly slot: number;
  readonly reserved: Map<string, Proposal>;
  readonly slots: Map<number, string>;
  decided: number;
}

const SKEW_MILLIS = 5_000;
const LIFE_MILLIS = 60_000;
const CAPACITY = 256;
const WINDOW = 256;
const PAGE = 256;

/** The number of a slot in its key: the part after the epoch. */
const seqOf = (slotKey: string): number => Number(slotKey.slice(slotKey.indexOf(".") + 1));

export class Oracle {
  readonly #product: Product;
  readonly #registries: ReadonlyMap<RegistryMaker, NaiveRegistry>;
  readonly #said: Said;
  readonly #sessionMillis: number;
  readonly #members: ReadonlyArray<Member>;
  /** Every incarnation that a peer has announced. */
  readonly #incarnations = new Map<number, Set<number>>();
  /** Proposals found to be what their caller asked for, for the one topology there is: that does not change by itself. */
  readonly #asked = new WeakSet<Proposal>();

  /** @param sessionMillis how long enrollment sessions last, where there are any */
  constructor(crypto: Crypto, said: Said, total: number, sessionMillis = 0, product = production) {
    this.#sessionMillis = sessionMillis;
    this.#product = product;
    this.#registries = new Map(product.registries.map((make) => [make, make({ crypto, said, total })]));
    this.#said = said;
    this.#members = Array.from({ length: total + 1 }, (_, slot) => ({
      slot,
      reserved: new Map(),
      slots: new Map(),
      decided: 0,
    }));
  }

  /** What callers call the key of an approver with this descriptor, in every format. */
  keyOf(descriptor: string): string {
    return this.#said.keyOf(descriptor);
  }

  /** Whose token this is; undefined where it was never issued. */
  bearerOf(token: string): Pick<ActorClaims, "sub" | "iss"> | undefined {
    return this.#said.bearerOf?.(token);
  }

  /** Notes an incarnation that a member claims to have begun. */
  announced(slot: number, incarnation: number): void {
    this.#incarnations.set(slot, (this.#incarnations.get(slot) ?? new Set()).add(incarnation));
  }

  /** Notes a member's new incarnation, and that it now has what is on its disk instead of what it had done before. */
  restored(slot: number, incarnation: number, view: RowView): void {
    this.announced(slot, incarnation);
    const member = this.#members[slot];
    if (member === undefined) return;
    member.reserved.clear();
    member.slots.clear();
    member.decided = 0;
    for (let after = ""; ; ) {
      const page = view.scan("slots", after, PAGE);
      for (const { key, row } of page) {
        member.slots.set(seqOf(key), row.proposalId);
        if (row.outcome === "APPLIED" || row.outcome === "ABORTED")
          member.decided = Math.max(member.decided, seqOf(key));
      }
      const last = page.at(-1);
      if (last === undefined) break;
      after = last.key;
    }
    for (const registry of this.#registries.values()) registry.restored(slot, view);
  }

  /** Why a session should not have been kept, or undefined. */
  judgeSession(session: Session): string | undefined {
    const { registrar, request, createdAt, expiresAt } = session;
    if (this.#said.inviteOf === undefined) return undefined;
    const said = this.#said.inviteOf(request.bodyDigest);
    if (said === undefined) return "no caller ever asked for such options";
    if (request.method !== "POST" || !request.path.endsWith("/webauthn/registration/options"))
      return "it is another request";
    if (session.id !== said.id) return "it is for another id than the registrar asked for";
    const fault = metadataFault(session, said.team);
    if (fault !== undefined) return fault;
    const token = this.#said.tokenOf(registrar.jti);
    if (token === undefined) return "its registrar's token was never issued";
    if (registrar.sub !== token.claims.sub || registrar.iss !== token.claims.iss)
      return "its registrar is not the token's";
    if (token.kind === "foreign" || token.kind === "forged") return `its registrar's token is ${token.kind}`;
    if (!allows(token.claims.permissions, "service.approvers.register")) return "its registrar may not register";
    if (createdAt >= token.claims.expiresAt + SKEW_MILLIS) return "its registrar's token had expired";
    return expiresAt - createdAt === this.#sessionMillis ? undefined : "it does not last as long as is configured";
  }

  /**
   * Judges the receipts in a transaction of a member, in order, and takes note of
   * the rest of it. Returns why one should not have been signed, or undefined.
   */
  judge(slot: number, membership: Membership, writes: ReadonlyArray<Write>): string | undefined {
    const member = this.#members[slot];
    if (member === undefined) return undefined;
    for (const write of writes) {
      if (write.op === "remove") continue;
      // A pledge replaces the row of a preparation that was judged when it was inserted.
      if (write.table === "preparations" && write.op === "replace") continue;
      const isOwnReceipt = write.table === "preparations";
      // A mono instance prepares and applies in one transaction: its receipt is in the certificate only.
      const isMono = write.table === "certificates" && membership.peerIds.length === 1;
      if (isOwnReceipt || isMono) {
        const receipt = isOwnReceipt ? write.row.own : write.row.receipts[0];
        const { proposal } = write.row;
        if (receipt === undefined) return "it is missing";
        const fault = this.#fault(member, membership, proposal, receipt);
        if (fault !== undefined) return fault;
        member.reserved.set(write.key, proposal);
        member.slots.set(proposal.seq, write.key);
      }
      if (write.table === "refusals" && !member.slots.has(write.row.proposal.seq))
        member.slots.set(write.row.proposal.seq, write.key);
    }
    for (const write of writes) this.#note(member, write);
    return undefined;
  }

  /** Why a refusal of a member, made durable just now, was not deserved where all others are honest; or undefined. */
  undeserved(slot: number, proposal: Proposal, refusal: SignedStatement, refuser: Refuser): string | undefined {
    const member = this.#members[slot];
    if (member === undefined) return undefined;
    const registry = this.#registryOf(proposal.kind);
    const isExcluded = registry.excludes(proposal);
    const having = {
      fault: registry.contentFault(proposal) ?? registry.memberFault(slot, proposal),
      bound: member.slots.get(proposal.seq),
      isExcluded: [...member.reserved.values()].some(
        (reserved) => this.#registryOf(reserved.kind) === registry && isExcluded(reserved),
      ),
      reserved: member.reserved.size,
    };
    return undeserved(this.#said, proposal, refusal, having, refuser);
  }

  #note(member: Member, write: Write): void {
    for (const registry of this.#registries.values()) registry.noted(member.slot, write);
    if (write.op === "remove") {
      if (write.table === "preparations") member.reserved.delete(write.key);
      return;
    }
    if (write.table === "slots" && write.row.outcome === "ABORTED")
      member.decided = Math.max(member.decided, seqOf(write.key));
    if (write.table === "certificates") {
      const { proposal } = write.row;
      member.reserved.delete(write.key);
      member.decided = Math.max(member.decided, proposal.seq);
    }
  }

  #fault(member: Member, membership: Membership, proposal: Proposal, receipt: SignedStatement): string | undefined {
    return (
      this.#contentFault(membership, proposal) ??
      this.#tokenFault(proposal, receipt.header.signedAt) ??
      this.#timeFault(proposal, receipt.header.signedAt) ??
      this.#registryFault(member, proposal)
    );
  }

  /** The part that is the same for every signer and moment. */
  #contentFault(membership: Membership, proposal: Proposal): string | undefined {
    if (this.#asked.has(proposal)) return undefined;
    const fault = this.#registryOf(proposal.kind).contentFault(proposal) ?? this.#topologyFault(membership, proposal);
    if (fault === undefined) this.#asked.add(proposal);
    return fault;
  }

  #registryOf(kind: string): NaiveRegistry {
    const registry = this.#registries.get(this.#product.changing(kind).registry);
    if (registry === undefined) throw new Error(`no registry was made for the kind ${kind}`);
    return registry;
  }

  #tokenFault({ kind, actor, expiresAt }: Proposal, signedAt: number): string | undefined {
    const token = this.#said.tokenOf(actor.jti);
    if (token === undefined) return "its actor's token was never issued";
    // Whether it has expired is a question of the signer's clock, asked below.
    if (
      (token.kind === "forbidden" && this.#product.model(kind).permission.isNeeded) ||
      token.kind === "foreign" ||
      token.kind === "forged"
    )
      return `its actor's token is ${token.kind}`;
    if (actor.sub !== token.claims.sub || actor.iss !== token.claims.iss) return "its actor is not the token's";
    if (signedAt >= token.claims.expiresAt) return `the token had expired at ${token.claims.expiresAt}`;
    if (expiresAt > token.claims.expiresAt) return "it outlives the token";
    return undefined;
  }

  #timeFault({ proposedAt, expiresAt }: Proposal, signedAt: number): string | undefined {
    if (signedAt > expiresAt) return `it had expired at ${expiresAt}`;
    if (proposedAt > signedAt + SKEW_MILLIS) return `it was proposed at ${proposedAt}, in this member's future`;
    if (expiresAt > proposedAt + LIFE_MILLIS) return "it lives too long";
    return undefined;
  }

  #topologyFault(membership: Membership, proposal: Proposal): string | undefined {
    if (proposal.clusterId !== membership.topology.clusterId || proposal.topologyDigest !== membership.digest)
      return "it belongs to another cluster";
    if (proposal.writer !== Math.min(...membership.topology.members.map((each) => each.peerId)))
      return "its writer is not the lowest member";
    const isIncarnation = (each: number, index: number): boolean =>
      each === 1 || this.#incarnations.get(membership.peerIds[index] ?? 0)?.has(each) === true;
    if (!proposal.incarnations.every(isIncarnation)) return "it pins an incarnation nobody has";
    return undefined;
  }

  #registryFault(member: Member, proposal: Proposal): string | undefined {
    const bound = member.slots.get(proposal.seq);
    if (bound !== undefined) return `its slot ${proposal.seq} was bound to proposal ${bound}`;
    if (proposal.seq < 1 || proposal.seq > member.decided + WINDOW)
      return `its slot ${proposal.seq} is out of the window`;
    const registry = this.#registryOf(proposal.kind);
    const fault = registry.memberFault(member.slot, proposal);
    if (fault !== undefined) return fault;
    const isExcluded = registry.excludes(proposal);
    for (const [other, reserved] of member.reserved)
      if (this.#registryOf(reserved.kind) === registry && isExcluded(reserved))
        return `proposal ${other} holds its locks here`;
    if (member.reserved.size >= CAPACITY) return "this member has no capacity left";
    return undefined;
  }
}
