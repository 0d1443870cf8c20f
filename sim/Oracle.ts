/**
 * A second opinion on every receipt, from first principles: what the caller sent,
 * what the token said, and what this one member had durably stored and reserved
 * before. It shares no code with the members' own checks.
 */
import type { Crypto } from "../core/crypto/Crypto.ts";
import type { Session } from "../core/commands/enrollPasskey/Session.ts";
import type { Proposal } from "../core/protocol/Proposal.ts";
import { type Effects, effectsIn } from "./Effects.ts";
import type { SignedStatement } from "../core/protocol/Statement.ts";
import type { Membership } from "../core/protocol/Topology.ts";
import { allRows } from "../core/protocol/AllRows.ts";
import type { RowView, Write } from "../core/Tables.ts";
import type { Command, Replacement, Token } from "./Commands.ts";
import type { Finish } from "./EnrollmentRequests.ts";

/** A response as its holder meant it, and what it was told of the session. */
type FinishSaid = Pick<
  Finish,
  | "id"
  | "team"
  | "descriptor"
  | "registrationId"
  | "deadline"
  | "isHonest"
  | "signCount"
  | "credentialName"
  | "response"
>;

/** What callers sent and held, whoever they were: a simulated workload, or programs that called real peers. */
export interface Said {
  readonly byBody: (bodyDigest: string) => Pick<Command, "id" | "team" | "descriptor"> | undefined;
  /** What was to be put in the place of an approver's metadata by a PUT with this path, body and If-Match. */
  readonly replacementOf: (
    path: string,
    bodyDigest: string,
    ifMatch: string,
  ) => Pick<Replacement, "ref" | "team"> | undefined;
  /** What was meant by a response to enrollment options with this body. */
  readonly finishOf?: (bodyDigest: string) => FinishSaid | undefined;
  /** What was to be enrolled by a request for options with this body. */
  readonly inviteOf?: (bodyDigest: string) => { readonly id: string; readonly team: string } | undefined;
  readonly tokenOf: (jti: string | undefined) => Pick<Token, "kind" | "claims"> | undefined;
}

/** What one member had durably done, as far as it bears on its next receipt. */
interface Member {
  readonly reserved: Map<string, Proposal>;
  /** What the approvers it has are by now. */
  readonly approvers: Map<string, Effects>;
  readonly owners: Map<string, string>;
  /** The sessions it keeps. */
  readonly sessions: Map<string, { readonly isCompleted: boolean }>;
  readonly credentials: Set<string>;
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

/** Callers send one pair, or none. */
const metadataFault = ({ metadata }: Pick<Effects, "metadata">, team: string | undefined): string | undefined => {
  const [pair, ...more] = metadata;
  const isSame = team === undefined ? pair === undefined : pair?.[0] === "team" && pair[1] === team;
  return isSame && more.length === 0 ? undefined : "its metadata is not the caller's";
};

/** Why a registration is none of something new. */
const noveltyFault = (member: Member, proposal: Proposal): string | undefined => {
  const { proposedAt } = proposal;
  const effects = effectsIn(proposal);
  if (effects.createdAt !== proposedAt || effects.updatedAt !== proposedAt) return "its times are not the writer's";
  if (effects.newRevision !== 1 || effects.baseRevision !== undefined) return "its revision is not the first";
  if (member.approvers.has(effects.ref)) return "this member has the approver already";
  if (effects.registrationId !== undefined) {
    const session = member.sessions.get(effects.registrationId);
    if (session === undefined) return "this member has no such session";
    if (session.isCompleted) return "its session is completed here";
    if (effects.credentialIdentity !== undefined && member.credentials.has(effects.credentialIdentity))
      return "its credential is registered here";
  }
  const owner = member.owners.get(effects.keyIdentity);
  return owner !== undefined && owner !== effects.id ? `its key belongs to id ${owner} here` : undefined;
};

/** Why a replacement is not the next revision of the approver as one member has it. */
const successorFault = (before: Effects | undefined, proposal: Proposal): string | undefined => {
  const { proposedAt } = proposal;
  const effects = effectsIn(proposal);
  if (before === undefined) return "this member does not have the approver";
  if (effects.baseRevision !== before.newRevision) return `the revision here is ${before.newRevision}`;
  if (effects.newRevision !== before.newRevision + 1) return "it leaves a revision out";
  for (const field of ["id", "descriptor", "keyIdentity", "createdAt"] as const)
    if (effects[field] !== before[field]) return `it changes ${field}`;
  const time = Math.max(proposedAt, before.updatedAt);
  return effects.updatedAt === time ? undefined : `it was not updated at ${time}`;
};

export class Oracle {
  readonly #crypto: Crypto;
  readonly #said: Said;
  readonly #sessionMillis: number;
  readonly #members: ReadonlyArray<Member>;
  /** Key identity to the one algorithm and key it stands for, and back. */
  readonly #keys = new Map<string, string>();
  /** Every incarnation that a peer has announced. */
  readonly #lives = new Map<number, Set<number>>();
  /** Proposals found to be what their caller asked for, for the one topology there is: that does not change by itself. */
  readonly #asked = new WeakSet<Proposal>();

  /** @param sessionMillis how long enrollment sessions last, where there are any */
  constructor(crypto: Crypto, said: Said, total: number, sessionMillis = 0) {
    this.#sessionMillis = sessionMillis;
    this.#crypto = crypto;
    this.#said = said;
    this.#members = Array.from({ length: total + 1 }, () => ({
      reserved: new Map(),
      approvers: new Map(),
      owners: new Map(),
      sessions: new Map(),
      credentials: new Set(),
      slots: new Map(),
      decided: 0,
    }));
  }

  /** Takes note of a member's new life, and of what is on its disk now instead of what it had done before. */
  restored(slot: number, incarnation: number, view: RowView): void {
    this.#lives.set(slot, (this.#lives.get(slot) ?? new Set()).add(incarnation));
    const member = this.#members[slot];
    if (member === undefined) return;
    const { reserved, approvers, owners, sessions, credentials, slots } = member;
    for (const known of [reserved, approvers, owners, sessions, credentials, slots]) known.clear();
    for (const { session, completed } of allRows(view, "sessions"))
      sessions.set(session.registrationId, { isCompleted: completed !== undefined });
    for (let after = ""; ; ) {
      const page = view.scan("slots", after, PAGE);
      for (const { key, row } of page) member.slots.set(seqOf(key), row.proposalId);
      const last = page.at(-1);
      if (last === undefined) break;
      after = last.key;
    }
    for (const { proposal } of allRows(view, "certificates")) {
      const effects = effectsIn(proposal);
      if (effects.newRevision > (member.approvers.get(effects.ref)?.newRevision ?? 0))
        member.approvers.set(effects.ref, effects);
      member.owners.set(effects.keyIdentity, effects.id);
      if (effects.credentialIdentity !== undefined) member.credentials.add(effects.credentialIdentity);
    }
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
    if (!token.claims.permissions.includes("service.approvers.register")) return "its registrar may not register";
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

  #note(member: Member, write: Write): void {
    if (write.op === "remove") {
      if (write.table === "preparations") member.reserved.delete(write.key);
      if (write.table === "sessions") member.sessions.delete(write.key);
      return;
    }
    if (write.table === "sessions") member.sessions.set(write.key, { isCompleted: write.row.completed !== undefined });
    if (write.table === "slots" && write.row.outcome === "ABORTED")
      member.decided = Math.max(member.decided, seqOf(write.key));
    if (write.table === "certificates") {
      const { proposal } = write.row;
      member.reserved.delete(write.key);
      const effects = effectsIn(proposal);
      member.approvers.set(effects.ref, effects);
      member.owners.set(effects.keyIdentity, effects.id);
      if (effects.credentialIdentity !== undefined) member.credentials.add(effects.credentialIdentity);
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

  #commandFault(proposal: Proposal): string | undefined {
    switch (proposal.kind) {
      case "REGISTER":
        return this.#registrationFault(proposal);
      case "METADATA":
        return this.#replacementFault(proposal);
      case "FINISH":
        return this.#finishFault(proposal);
      default:
        return "it is of no command that callers use";
    }
  }

  /** What else the approver is must be as it was, which only the member's own registry tells. */
  #replacementFault(proposal: Proposal): string | undefined {
    const { request } = proposal;
    const effects = effectsIn(proposal);
    const said = this.#said.replacementOf(request.path, request.bodyDigest, `"${effects.baseRevision}"`);
    if (said === undefined || request.method !== "PUT")
      return "no caller ever sent such a request with such an If-Match";
    if (effects.ref !== said.ref) return "it changes another approver than the caller named";
    return metadataFault(effects, said.team);
  }

  #registrationFault(proposal: Proposal): string | undefined {
    const { request } = proposal;
    const effects = effectsIn(proposal);
    const command = this.#said.byBody(request.bodyDigest);
    if (command === undefined) return "no caller ever sent such a request";
    if (request.method !== "POST" || request.path !== "/v1/custody/approvers") return "it is another request";
    if (effects.id !== command.id) return "it registers another id than the caller asked for";
    if (effects.descriptor !== command.descriptor) return "its descriptor is not that of the caller's key";
    const fault = metadataFault(effects, command.team);
    if (fault !== undefined) return fault;
    const digest = this.#crypto.sha256OfText(`SERVICE_APPROVER_V1\u0000${command.descriptor}`);
    if (effects.ref !== `${command.id}@sha256:${digest}`) return "its ref is another one";
    const key = this.#keys.get(effects.keyIdentity);
    const identity = this.#keys.get(command.descriptor);
    if ((key ?? command.descriptor) !== command.descriptor) return "its key identity belongs to another key";
    if ((identity ?? effects.keyIdentity) !== effects.keyIdentity) return "its key has another identity already";
    this.#keys.set(effects.keyIdentity, command.descriptor);
    this.#keys.set(command.descriptor, effects.keyIdentity);
    return undefined;
  }

  /** Whether it does what an honest holder of the invitation sent, and nothing else. */
  #finishFault(proposal: Proposal): string | undefined {
    const { request, expiresAt } = proposal;
    const effects = effectsIn(proposal);
    const said = this.#said.finishOf?.(request.bodyDigest);
    if (said === undefined) return "no caller ever sent such a response";
    if (request.method !== "POST" || !request.path.endsWith("/webauthn/registration/finish"))
      return "it is another request";
    if (!said.isHonest) return "its response is not honest";
    if (effects.registrationId !== said.registrationId) return "it completes another session than the invitation's";
    if (expiresAt > said.deadline) return `it outlives the session, which ends at ${said.deadline}`;
    if (effects.id !== said.id) return "it enrolls another id than the registrar asked for";
    if (effects.descriptor !== said.descriptor) return "its descriptor is not that of the authenticator's key";
    const fault = metadataFault(effects, said.team);
    if (fault !== undefined) return fault;
    const digest = this.#crypto.sha256OfText(`SERVICE_APPROVER_V1\u0000${said.descriptor}`);
    if (effects.ref !== `${said.id}@sha256:${digest}`) return "its ref is another one";
    if (effects.observations?.signCount !== said.signCount) return "its counter is not the authenticator's";
    return (
      this.#nameFault("credential", effects.credentialIdentity, said.credentialName) ??
      this.#nameFault("response", effects.responseDigest, said.response)
    );
  }

  /** Whether a digest stands for one text only, and that text for it only. */
  #nameFault(what: string, digest: string | undefined, text: string): string | undefined {
    if (digest === undefined) return `it names no ${what}`;
    const known = this.#keys.get(`${what} ${digest}`) ?? text;
    const other = this.#keys.get(`${what} of ${text}`) ?? digest;
    if (known !== text || other !== digest) return `its ${what} has another name, or the name another ${what}`;
    this.#keys.set(`${what} ${digest}`, text);
    this.#keys.set(`${what} of ${text}`, digest);
    return undefined;
  }

  #tokenFault({ kind, actor, expiresAt }: Proposal, signedAt: number): string | undefined {
    const token = this.#said.tokenOf(actor.jti);
    if (token === undefined) return "its actor's token was never issued";
    // Whether it has expired is a question of the signer's clock, asked below.
    if ((token.kind === "forbidden" && kind !== "FINISH") || token.kind === "foreign" || token.kind === "forged")
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
    const isLife = (each: number, index: number): boolean =>
      each === 1 || this.#lives.get(membership.peerIds[index] ?? 0)?.has(each) === true;
    if (!proposal.incarnations.every(isLife)) return "it pins an incarnation nobody has";
    return undefined;
  }

  #registryFault(member: Member, proposal: Proposal): string | undefined {
    const { ref, keyIdentity, credentialIdentity, registrationId } = effectsIn(proposal);
    const bound = member.slots.get(proposal.seq);
    if (bound !== undefined) return `its slot ${proposal.seq} was bound to proposal ${bound}`;
    if (proposal.seq < 1 || proposal.seq > member.decided + WINDOW)
      return `its slot ${proposal.seq} is out of the window`;
    const fault =
      proposal.kind === "METADATA"
        ? successorFault(member.approvers.get(ref), proposal)
        : noveltyFault(member, proposal);
    if (fault !== undefined) return fault;
    for (const [other, reserved] of member.reserved) {
      const { kind } = reserved;
      const effects = effectsIn(reserved);
      const isSameKey = kind !== "METADATA" && proposal.kind !== "METADATA" && effects.keyIdentity === keyIdentity;
      const isSameEnrollment =
        registrationId !== undefined &&
        (effects.registrationId === registrationId || effects.credentialIdentity === credentialIdentity);
      if (effects.ref === ref || isSameKey || isSameEnrollment) return `proposal ${other} holds its locks here`;
    }
    if (member.reserved.size >= CAPACITY) return "this member has no capacity left";
    return undefined;
  }
}
