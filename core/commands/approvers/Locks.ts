/** The lock names by which changes of approvers exclude each other (protocol.md 3.2). */
import type { Digest } from "../../base/Digest.ts";
import type { PeerState } from "../../protocol/PeerState.ts";
import type { Approver } from "./Approver.ts";

/** Held by the registration of a key. */
export const keyLock = (keyIdentity: Digest): string => `key:${keyIdentity}`;
/** Held by the registration of an approver. */
export const refLock = (ref: string): string => `ref:${ref}`;
/** Held by any change of an approver's metadata, its registration included. */
export const metadataLock = (ref: string): string => `meta:${ref}`;
/** Held by the registration of an authenticator's credential. */
export const credentialLock = (credentialIdentity: Digest): string => `cred:${credentialIdentity}`;
/** Held by the one response that may complete an enrollment. */
export const sessionLock = (registrationId: Digest): string => `session:${registrationId}`;

/** The locks of every registration of an approver. */
export const registrationLocks = ({
  keyIdentity,
  ref,
}: Pick<Approver, "keyIdentity" | "ref">): ReadonlyArray<string> => [
  keyLock(keyIdentity),
  refLock(ref),
  metadataLock(ref),
];

/** The outcome of an earlier registration of the same approver is the outcome of the next one too. */
export const whatHoldsUpRegistration = (
  locks: PeerState["undecided"]["locks"],
  ref: string,
): "own result" | "another change" | undefined => {
  if (!locks.has(metadataLock(ref))) return undefined;
  return locks.has(refLock(ref)) ? "own result" : "another change";
};
