/** The names of what changes of approvers exclude each other by (protocol.md 3.2). */
import type { Digest } from "../../base/Digest.ts";
import type { PeerState } from "../../protocol/PeerState.ts";
import type { Approver } from "./Approver.ts";

/** Held by whoever registers a key. */
export const keyLock = (keyIdentity: Digest): string => `key:${keyIdentity}`;
/** Held by whoever registers an approver. */
export const refLock = (ref: string): string => `ref:${ref}`;
/** Held by whoever changes an approver's metadata, its registration included. */
export const metadataLock = (ref: string): string => `meta:${ref}`;
/** Held by whoever registers a credential of an authenticator. */
export const credentialLock = (credentialIdentity: Digest): string => `cred:${credentialIdentity}`;
/** Held by the one response that may complete an enrollment. */
export const sessionLock = (registrationId: Digest): string => `session:${registrationId}`;

/** What every registration of an approver holds. */
export const registrationLocks = ({
  keyIdentity,
  ref,
}: Pick<Approver, "keyIdentity" | "ref">): ReadonlyArray<string> => [
  keyLock(keyIdentity),
  refLock(ref),
  metadataLock(ref),
];

/** What an earlier registration of the same approver comes to is the outcome of the next one too. */
export const whatHoldsUpRegistration = (
  locks: PeerState["undecided"]["locks"],
  ref: string,
): "own result" | "another change" | undefined => {
  if (!locks.has(metadataLock(ref))) return undefined;
  return locks.has(refLock(ref)) ? "own result" : "another change";
};
