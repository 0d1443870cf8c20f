/**
 * What approvers are called and what excludes them, from first principles: by the contract's words, the text of
 * descriptors, and the keys that callers know to have used. Nothing of it is computed by the members' code.
 */
import type { Proposal } from "../../../core/protocol/Proposal.ts";
import { effectsIn } from "../Effects.ts";

/** Contract 2.2, steps 3 and 4; `sha256OfText` gives hexadecimal text. */
export const refOf = (sha256OfText: (text: string) => string, id: string, descriptor: string): string =>
  `${id}@sha256:${sha256OfText(`SERVICE_APPROVER_V1\u0000${descriptor}`)}`;

/** Relying party and credential of a passkey by its descriptor; undefined for others. */
export const credentialOf = (descriptor: string): string | undefined => {
  if (!descriptor.includes('"WEBAUTHN"')) return undefined;
  const { rpId, credentialId }: { readonly [name: string]: unknown } = JSON.parse(descriptor);
  return `${rpId} ${credentialId}`;
};

const locksIn = (proposal: Proposal): ReadonlyArray<string> => {
  const { ref, keyIdentity, credentialIdentity, registrationId } = effectsIn(proposal);
  if (proposal.kind === "METADATA") return [`meta:${ref}`];
  const ofKey = [`key:${keyIdentity}`, `ref:${ref}`, `meta:${ref}`];
  return proposal.kind === "FINISH" ? [...ofKey, `cred:${credentialIdentity}`, `session:${registrationId}`] : ofKey;
};

const known = new WeakMap<Proposal, ReadonlyArray<string>>();

/** The locks of a change of approvers (protocol.md 3.2); what the digests in them stand for is asked of receipts. */
export const locksOfApprover = (proposal: Proposal): ReadonlyArray<string> => {
  const locks = known.get(proposal) ?? locksIn(proposal);
  known.set(proposal, locks);
  return locks;
};
