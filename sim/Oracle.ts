/**
 * A second opinion on every receipt, from first principles: what the caller sent,
 * what the token said, and what this one member had durably stored and reserved
 * before. It shares no code with the members' own checks.
 */
import { utf8Bytes } from "../core/codec/Utf8.ts";
import type { Crypto } from "../core/Crypto.ts";
import type { Proposal } from "../core/protocol/Proposal.ts";
import type { SignedStatement } from "../core/protocol/Statement.ts";
import type { Membership } from "../core/protocol/Topology.ts";
import type { Write } from "../core/Tables.ts";
import type { Command, Token } from "./Commands.ts";

/** What callers sent and held, whoever they were: a simulated workload, or programs that called real peers. */
export interface Said {
  readonly byBody: (bodyDigest: string) => Pick<Command, "id" | "team" | "descriptor"> | undefined;
  readonly tokenOf: (jti: string | undefined) => Pick<Token, "kind" | "claims"> | undefined;
}

/** What one member had durably done, as far as it bears on its next receipt. */
interface Member {
  readonly reserved: Map<string, Proposal>;
  readonly refs: Set<string>;
  readonly owners: Map<string, string>;
  readonly slots: Map<number, string>;
  decided: number;
}

const SKEW_MILLIS = 5_000;
const LIFE_MILLIS = 60_000;
const CAPACITY = 256;
const WINDOW = 256;

/** The number of a slot in its key: the part after the epoch. */
const seqOf = (slotKey: string): number => Number(slotKey.slice(slotKey.indexOf(".") + 1));

export class Oracle {
  readonly #crypto: Crypto;
  readonly #said: Said;
  readonly #members: ReadonlyArray<Member>;
  /** Key identity to the one algorithm and key it stands for, and back. */
  readonly #keys = new Map<string, string>();
  /** Proposals found to be what their caller asked for, for the one topology there is: that does not change by itself. */
  readonly #asked = new WeakSet<Proposal>();

  constructor(crypto: Crypto, said: Said, total: number) {
    this.#crypto = crypto;
    this.#said = said;
    this.#members = Array.from({ length: total + 1 }, () => ({
      reserved: new Map(),
      refs: new Set(),
      owners: new Map(),
      slots: new Map(),
      decided: 0,
    }));
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

  #note(member: Member, write: Write): void {
    if (write.op === "remove") {
      if (write.table === "preparations") member.reserved.delete(write.key);
      return;
    }
    if (write.table === "slots" && write.row.outcome === "ABORTED")
      member.decided = Math.max(member.decided, seqOf(write.key));
    if (write.table === "certificates") {
      const { proposal } = write.row;
      member.reserved.delete(write.key);
      member.refs.add(proposal.effects.ref);
      member.owners.set(proposal.effects.keyIdentity, proposal.effects.id);
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

  /** What is the same whoever signs, and whenever. */
  #contentFault(membership: Membership, proposal: Proposal): string | undefined {
    if (this.#asked.has(proposal)) return undefined;
    const fault = this.#commandFault(proposal) ?? this.#topologyFault(membership, proposal);
    if (fault === undefined) this.#asked.add(proposal);
    return fault;
  }

  #commandFault({ effects, request }: Proposal): string | undefined {
    const command = this.#said.byBody(request.bodyDigest);
    if (command === undefined) return "no caller ever sent such a request";
    if (request.method !== "POST" || request.path !== "/v1/custody/approvers") return "it is another request";
    if (effects.id !== command.id) return "it registers another id than the caller asked for";
    if (effects.descriptor !== command.descriptor) return "its descriptor is not that of the caller's key";
    const [pair, ...more] = effects.metadata;
    if (more.length > 0 || pair?.[0] !== "team" || pair[1] !== command.team) return "its metadata is not the caller's";
    const preimage = utf8Bytes(`SERVICE_APPROVER_V1\u0000${command.descriptor}`);
    if (effects.ref !== `${command.id}@sha256:${this.#crypto.sha256(preimage)}`) return "its ref is another one";
    const key = this.#keys.get(effects.keyIdentity);
    const identity = this.#keys.get(command.descriptor);
    if ((key ?? command.descriptor) !== command.descriptor) return "its key identity belongs to another key";
    if ((identity ?? effects.keyIdentity) !== effects.keyIdentity) return "its key has another identity already";
    this.#keys.set(effects.keyIdentity, command.descriptor);
    this.#keys.set(command.descriptor, effects.keyIdentity);
    return undefined;
  }

  #tokenFault({ actor, expiresAt }: Proposal, signedAt: number): string | undefined {
    const token = this.#said.tokenOf(actor.jti);
    if (token === undefined) return "its actor's token was never issued";
    // Whether it has expired is a question of the signer's clock, asked below.
    if (token.kind === "forbidden" || token.kind === "foreign" || token.kind === "forged")
      return `its actor's token is ${token.kind}`;
    if (actor.sub !== token.claims.sub || actor.iss !== token.claims.iss) return "its actor is not the token's";
    if (signedAt >= token.claims.expiresAt) return `the token had expired at ${token.claims.expiresAt}`;
    if (expiresAt > token.claims.expiresAt) return "it outlives the token";
    return undefined;
  }

  #timeFault({ proposedAt, expiresAt, effects }: Proposal, signedAt: number): string | undefined {
    if (signedAt > expiresAt) return `it had expired at ${expiresAt}`;
    if (proposedAt > signedAt + SKEW_MILLIS) return `it was proposed at ${proposedAt}, in this member's future`;
    if (expiresAt > proposedAt + LIFE_MILLIS) return "it lives too long";
    if (effects.createdAt !== proposedAt || effects.updatedAt !== proposedAt) return "its times are not the writer's";
    if (effects.newRevision !== 1 || effects.baseRevision !== undefined) return "its revision is not the first";
    return undefined;
  }

  #topologyFault(membership: Membership, proposal: Proposal): string | undefined {
    if (proposal.clusterId !== membership.topology.clusterId || proposal.topologyDigest !== membership.digest)
      return "it belongs to another cluster";
    if (proposal.writer !== Math.min(...membership.topology.members.map((each) => each.peerId)))
      return "its writer is not the lowest member";
    if (proposal.incarnations.some((each) => each !== 1)) return "it pins an incarnation nobody has";
    return undefined;
  }

  #registryFault(member: Member, proposal: Proposal): string | undefined {
    const { ref, keyIdentity, id } = proposal.effects;
    const bound = member.slots.get(proposal.seq);
    if (bound !== undefined) return `its slot ${proposal.seq} was bound to proposal ${bound}`;
    if (proposal.seq < 1 || proposal.seq > member.decided + WINDOW)
      return `its slot ${proposal.seq} is out of the window`;
    if (member.refs.has(ref)) return "this member has the approver already";
    const owner = member.owners.get(keyIdentity);
    if (owner !== undefined && owner !== id) return `its key belongs to id ${owner} here`;
    for (const [other, { effects }] of member.reserved)
      if (effects.ref === ref || effects.keyIdentity === keyIdentity) return `proposal ${other} holds its locks here`;
    if (member.reserved.size >= CAPACITY) return "this member has no capacity left";
    return undefined;
  }
}
