/** What a caller is told when too few members sign: the reason of each, or the one that so many have that none can. */
import { Limits } from "../../base/Limits.ts";
import { type MemberFault, type Rejection, rejection, type RejectionCode } from "../../base/Rejection.ts";
import { IS_SEALED, NO_TOKEN_KEYS } from "../../protocol/Unavailable.ts";
import type { PeerId } from "../../protocol/Topology.ts";

/** Sentences of our own: what another member writes is passed on to nobody. */
const reasons: { readonly [code: string]: string } = {
  TOKEN_KEYS_UNAVAILABLE: NO_TOKEN_KEYS,
  CLOCK_IN_DOUBT: "its clock was set, and by it alone the token is refused",
  EXPIRED: "the operation's deadline is over by its clock",
  GENERATION_BEHIND: "it has not applied the key's active generation yet",
  GENERATION_AHEAD: "it has a later generation of the key",
  SHARE_MISSING: "its share of the key is missing",
  SESSION_CAPACITY: "it has as many signatures under way as it may",
  SESSION_UNKNOWN: "it has dropped the session",
  RECOVERING: "it is recovering",
  WRONG_SIGNERS: "it refuses the commitments of the signers",
  UNAUTHENTICATED: "it refuses the token",
  ACCESS_DENIED: "by its own judgement the token lacks the permission",
  KEY_DESTROYED: "the key is destroyed there",
  GENERATION_NOT_FOUND: "the key has no such generation there",
  GENERATION_MOVED: "the generation is not active there",
  KEY_UNSHARED: "it knows the key as whole at one member",
  AUTHORITY_NOT_ATTACHED: "the authority is not attached or not enabled there",
  INVALID_COMMAND: "it refuses the command",
  INVALID_REQUEST_BODY: "it refuses the body",
  UNSUPPORTED_ALGORITHM: "it cannot sign with keys of this kind",
};

/** What another member finds by its own clock alone: which of the two is wrong it knows as little as whoever asked it. */
const betweenTwo: { readonly [code: string]: (asker: PeerId) => string } = {
  CLOCK_SKEW: (asker) => `its clock and that of peer ${asker} differ by more than ${Limits.clockSkewMillis / 1000} s`,
  EXPIRED: (asker) => `its clock and that of peer ${asker} differ: by its own the operation's deadline is over`,
};

/** Codes of this peer's own about members. */
export const SILENT = "SILENT";
export const IMPOSTER = "IMPOSTER";
export const WRONG_SIGNATURE = "WRONG_SIGNATURE";

/** Why a member does not sign, as a caller is told it. */
export const reasonOf = (code: string): string => {
  if (code === SILENT) return "it does not answer";
  if (code === WRONG_SIGNATURE) return "its signature does not verify: look after this machine";
  if (code === IMPOSTER) return "its share of the signature was wrong";
  // A member may send any word, such as one that every object has.
  return (Object.hasOwn(reasons, code) ? reasons[code] : undefined) ?? "it refuses";
};

const HINT = "Get a token that every member accepts, and send the request again.";

/**
 * What no repetition changes while as many members say so: they have something against the token. Of key and command
 * this peer judges by its own rows alone, or one member could have a caller believe that its key is destroyed.
 */
const lasting: { readonly [code: string]: Rejection } = {
  UNAUTHENTICATED: rejection("UNAUTHENTICATED", "The members refuse the token.", HINT),
  ACCESS_DENIED: rejection("ACCESS_DENIED", "By the members' judgement the token lacks the permission.", HINT),
};

const SIGNING_CODE: RejectionCode = "SIGNING_QUORUM_UNAVAILABLE";

/** Whether the code speaks of the token, not of the member. */
export const isLasting = (code: string): boolean => Object.hasOwn(lasting, code);

/** 503: the peer that was asked takes part in nothing any more. */
export const notHere = (peerId: PeerId, reason: string): Rejection =>
  rejection(
    SIGNING_CODE,
    `This peer signs nothing: ${reason}.`,
    reason === IS_SEALED ? "Unseal it, or ask another peer." : "Repeat the request at another peer.",
    { members: [{ peerId, reason }] },
  );

/** The reasons of some members, which this peer has asked. */
const faultsOf = (self: PeerId, codes: ReadonlyMap<PeerId, string>): ReadonlyArray<MemberFault> =>
  [...codes].map(([peerId, code]) => {
    const between = peerId !== self && Object.hasOwn(betweenTwo, code) ? betweenTwo[code] : undefined;
    return { peerId, reason: between?.(self) ?? reasonOf(code) };
  });

/**
 * The reason that more members give than a signature can do without; undefined where there is none.
 *
 * @param self this peer, which has asked them
 * @param codes by member, why it does not sign
 * @param spare how many members a signature can do without
 */
export const lastingRefusal = (
  self: PeerId,
  codes: ReadonlyMap<PeerId, string>,
  spare: number,
): Rejection | undefined => {
  for (const [code, refusal] of Object.entries(lasting))
    if ([...codes.values()].filter((each) => each === code).length > spare)
      return { ...refusal, members: faultsOf(self, codes) };
  return undefined;
};

/** 503: some of these have to come back. */
export const tooFew = (self: PeerId, codes: ReadonlyMap<PeerId, string>, threshold: number): Rejection => {
  const members = faultsOf(self, codes);
  const why = members.map(({ peerId, reason }) => `peer ${peerId}: ${reason}`).join("; ");
  return rejection(
    SIGNING_CODE,
    `Fewer than ${threshold} members sign: ${why}.`,
    "Repeat the request when enough of the named members are back.",
    { members },
  );
};
