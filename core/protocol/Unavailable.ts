/** The answers to callers when the cluster, not their request, is in the way. */
import { Limits } from "../base/Limits.ts";
import { type MemberFault, type Rejection, rejection } from "../base/Rejection.ts";

export const busy = (detail: string, ref: string | undefined, outcomeUnknown = false): Rejection =>
  rejection("APPROVER_REPLICATION_UNAVAILABLE", detail, "Repeat the same request later.", { ref, outcomeUnknown });

/** The answer to the newest when more requests come than can be served; nothing was done for them. */
export const crowded = (detail: string, ref: string | undefined): Rejection =>
  rejection("REQUEST_CAPACITY", detail, "Repeat the same request after Retry-After.", { ref });

export const unavailable = (members: ReadonlyArray<MemberFault>, ref: string | undefined): Rejection =>
  rejection(
    "APPROVER_REPLICATION_UNAVAILABLE",
    `Not every member is ready: ${members.map((each) => `peer ${each.peerId}: ${each.reason}`).join("; ")}.`,
    "Repeat the request when the named members are back.",
    { members, ref },
  );

/** The reason for a member without keys to verify tokens: said by itself, and by others about it. */
export const NO_TOKEN_KEYS = "it cannot verify tokens: the keys of their issuer cannot be had";

/** The same for a member that refuses a token or an invitation only because its clock was set. */
const CLOCK_IN_DOUBT = `its clock was set by more than ${Limits.clockSkewMillis / 1000} s, and by it alone the request is refused`;

const ownReason = ({ code }: Rejection): string | undefined =>
  code === "TOKEN_KEYS_UNAVAILABLE" ? NO_TOKEN_KEYS : code === "CLOCK_IN_DOUBT" ? CLOCK_IN_DOUBT : undefined;

/** A peer's refusal of a change: a lack of its own becomes a member's fault, as it is when another member has it. */
export const asMember = (self: number, rejected: Rejection): Rejection => {
  const reason = ownReason(rejected);
  return reason === undefined ? rejected : unavailable([{ peerId: self, reason }], undefined);
};

/** The one reason that is no fault of a member: 429, not 503. */
export const NO_CAPACITY = "it holds as many uncommitted preparations as it may";

export const noCapacity = (members: ReadonlyArray<MemberFault>): Rejection =>
  rejection(
    "PREPARATION_CAPACITY",
    "A member holds as many uncommitted preparations as it may.",
    "Repeat the request later; an operator looks at the peer's status.",
    { members },
  );

/** The answer to callers that waited for every member to be ready. */
export const unready = (members: ReadonlyArray<MemberFault>, ref: string | undefined): Rejection =>
  members.every((each) => each.reason === NO_CAPACITY) ? noCapacity(members) : unavailable(members, ref);

/** The answer of a peer that is none yet. */
export const notInitialized = rejection(
  "NOT_INITIALIZED",
  "This peer is not initialized.",
  "Initialize and unseal it first.",
);

/** Why a sealed peer takes no part: said by itself, and by others about it. */
export const IS_SEALED = "it is sealed";

/** The answer of a peer without its keys in memory where these are needed. */
export const sealed = rejection("SEALED", "This peer is sealed.", "Unseal it first.");

/** Why an unsealed peer whose stored rows are still being verified takes no part. */
export const BEING_VERIFIED = "its records are being verified";

/** The answer of such a peer where its rows are needed. */
export const beingVerified = rejection(
  "VERIFYING",
  "This peer was unsealed and is verifying its records.",
  "Repeat the request later, or ask another peer; the status says how far it is.",
);
