/** The naive registry of approvers: who has which key, which sessions there are and what completed them. */
import { allRows } from "../../../core/protocol/AllRows.ts";
import type { Proposal } from "../../../core/protocol/Proposal.ts";
import type { RowView, Write } from "../../../core/Tables.ts";
import { type Effects, effectsIn, onApprover } from "../Effects.ts";
import { labelsOf } from "../../requests/Labels.ts";
import type { Basis, NaiveRegistry } from "../NaiveRegistry.ts";
import { OneToOne } from "../OneToOne.ts";
import { credentialOf, refOf } from "./Names.ts";

/** What one member had durably done, as far as it bears on its next receipt. */
interface Member {
  /** The present state of its approvers. */
  readonly approvers: Map<string, Effects>;
  /** Who has which key, by what callers call the key. */
  readonly owners: Map<string, string>;
  /** The sessions it keeps. */
  readonly sessions: Map<string, { readonly isCompleted: boolean }>;
  /** By relying party and credential. */
  readonly credentials: Set<string>;
}

/** What callers call the key of an approver with this descriptor. */
type KeyOf = (descriptor: string) => string;

export const metadataFault = (
  { metadata }: Pick<Effects, "metadata">,
  team: string | undefined,
): string | undefined => {
  const meant = labelsOf(team);
  const isSame = metadata.every(([name, value], index) => meant[index]?.[0] === name && meant[index]?.[1] === value);
  return isSame && metadata.length === meant.length ? undefined : "its metadata is not the caller's";
};

/** Why a registration makes nothing new. */
const noveltyFault = (member: Member, proposal: Proposal, keyOf: KeyOf): string | undefined => {
  const { proposedAt } = proposal;
  const effects = effectsIn(proposal);
  if (effects.createdAt !== proposedAt || effects.updatedAt !== proposedAt) return "its times are not the writer's";
  if (effects.newRevision !== 1 || effects.baseRevision !== undefined) return "its revision is not the first";
  if (member.approvers.has(effects.ref)) return "this member has the approver already";
  if (effects.registrationId !== undefined) {
    const session = member.sessions.get(effects.registrationId);
    if (session === undefined) return "this member has no such session";
    if (session.isCompleted) return "its session is completed here";
    const credential = credentialOf(effects.descriptor);
    if (credential !== undefined && member.credentials.has(credential)) return "its credential is registered here";
  }
  const owner = member.owners.get(keyOf(effects.descriptor));
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

class ApproverRegistry implements NaiveRegistry {
  readonly #basis: Basis;
  readonly #members: ReadonlyArray<Member>;
  readonly #keys = new OneToOne();
  readonly #credentials = new OneToOne();
  readonly #responses = new OneToOne();

  constructor(basis: Basis) {
    this.#basis = basis;
    this.#members = Array.from({ length: basis.total + 1 }, () => ({
      approvers: new Map(),
      owners: new Map(),
      sessions: new Map(),
      credentials: new Set(),
    }));
  }

  readonly restored = (slot: number, view: RowView): void => {
    const member = this.#members[slot];
    if (member === undefined) return;
    const { approvers, owners, sessions, credentials } = member;
    for (const known of [approvers, owners, sessions, credentials]) known.clear();
    for (const { session, completed } of allRows(view, "sessions"))
      sessions.set(session.registrationId, { isCompleted: completed !== undefined });
    for (const { proposal } of allRows(view, "certificates")) {
      const effects = onApprover(proposal);
      if (effects === undefined) continue;
      if (effects.newRevision > (approvers.get(effects.ref)?.newRevision ?? 0)) approvers.set(effects.ref, effects);
      this.#own(member, effects);
    }
  };

  readonly noted = (slot: number, write: Write): void => {
    const member = this.#members[slot];
    if (member === undefined) return;
    if (write.op === "remove") {
      if (write.table === "sessions") member.sessions.delete(write.key);
      return;
    }
    if (write.table === "sessions") member.sessions.set(write.key, { isCompleted: write.row.completed !== undefined });
    if (write.table !== "certificates") return;
    const effects = onApprover(write.row.proposal);
    if (effects === undefined) return;
    member.approvers.set(effects.ref, effects);
    this.#own(member, effects);
  };

  #own({ owners, credentials }: Member, { id, descriptor }: Effects): void {
    owners.set(this.#basis.said.keyOf(descriptor), id);
    const credential = credentialOf(descriptor);
    if (credential !== undefined) credentials.add(credential);
  }

  readonly contentFault = (proposal: Proposal): string | undefined => {
    if (proposal.kind === "METADATA") return this.#replacementFault(proposal);
    return proposal.kind === "FINISH" ? this.#finishFault(proposal) : this.#registrationFault(proposal);
  };

  readonly memberFault = (slot: number, proposal: Proposal): string | undefined => {
    const member = this.#members[slot];
    if (member === undefined) return undefined;
    return proposal.kind === "METADATA"
      ? successorFault(member.approvers.get(effectsIn(proposal).ref), proposal)
      : noveltyFault(member, proposal, this.#basis.said.keyOf);
  };

  readonly excludes = (proposal: Proposal) => {
    const { keyOf } = this.#basis.said;
    const { ref, descriptor, registrationId } = effectsIn(proposal);
    return (reserved: Proposal): boolean => {
      const effects = effectsIn(reserved);
      const isSameKey =
        reserved.kind !== "METADATA" && proposal.kind !== "METADATA" && keyOf(effects.descriptor) === keyOf(descriptor);
      const isSameEnrollment =
        registrationId !== undefined &&
        effects.registrationId !== undefined &&
        (effects.registrationId === registrationId || credentialOf(effects.descriptor) === credentialOf(descriptor));
      return effects.ref === ref || isSameKey || isSameEnrollment;
    };
  };

  /** All other parts of the approver must be as they were, which only the member's own registry tells. */
  #replacementFault(proposal: Proposal): string | undefined {
    const { request } = proposal;
    const effects = effectsIn(proposal);
    const said = this.#basis.said.replacementOf(request.path, request.bodyDigest, `"${effects.baseRevision}"`);
    if (said === undefined || request.method !== "PUT")
      return "no caller ever sent such a request with such an If-Match";
    if (effects.ref !== said.ref) return "it changes another approver than the caller named";
    return metadataFault(effects, said.team);
  }

  #registrationFault(proposal: Proposal): string | undefined {
    const { request } = proposal;
    const effects = effectsIn(proposal);
    const command = this.#basis.said.byBody(request.bodyDigest);
    if (command === undefined) return "no caller ever sent such a request";
    if (request.method !== "POST" || request.path !== "/v1/custody/approvers") return "it is another request";
    if (effects.id !== command.id) return "it registers another id than the caller asked for";
    if (effects.descriptor !== command.descriptor) return "its descriptor is not that of the caller's key";
    const fault = metadataFault(effects, command.team);
    if (fault !== undefined) return fault;
    return this.#nameFault(effects, command);
  }

  /** What is wrong with the names that say who is meant: its ref, and the identity of its key. */
  #nameFault(
    { ref, keyIdentity }: Effects,
    { id, descriptor }: Pick<Effects, "id" | "descriptor">,
  ): string | undefined {
    const { crypto, said } = this.#basis;
    if (ref !== refOf(crypto.sha256OfText, id, descriptor)) return "its ref is another one";
    const key = said.keyOf(descriptor);
    return this.#keys.fits(keyIdentity, key) ? undefined : `${key} has another identity, or its identity another key`;
  }

  /** Whether it does what an honest holder of the invitation sent, and nothing else. */
  #finishFault(proposal: Proposal): string | undefined {
    const { request, expiresAt } = proposal;
    const effects = effectsIn(proposal);
    const said = this.#basis.said.finishOf?.(request.bodyDigest);
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
    const nameFault = this.#nameFault(effects, said);
    if (nameFault !== undefined) return nameFault;
    if (effects.observations?.signCount !== said.signCount) return "its counter is not the authenticator's";
    const { credentialIdentity, responseDigest } = effects;
    if (credentialIdentity === undefined || !this.#credentials.fits(credentialIdentity, said.credentialName))
      return "its credential has another name, or the name another credential";
    if (responseDigest === undefined || !this.#responses.fits(responseDigest, said.response))
      return "its response has another name, or the name another response";
    return undefined;
  }
}

export const approverRegistry = (basis: Basis): NaiveRegistry => new ApproverRegistry(basis);
