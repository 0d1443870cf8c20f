/**
 * What a peer remembers of signatures that are under way: in memory alone, so that a crash forgets every nonce. No
 * secret in here is wiped, because a state never changes; it goes with the step that no longer has it.
 */
import type { ActorClaims } from "../../auth/ActorClaims.ts";
import type { Digest } from "../../base/Digest.ts";
import type { Pace } from "../../protocol/Admission.ts";
import type { Slice } from "../../protocol/Module.ts";
import type { RequestLine } from "../../protocol/Proposal.ts";
import type { PeerState } from "../../protocol/PeerState.ts";
import type { PeerId } from "../../protocol/Topology.ts";
import type { Secret } from "../../threshold/Secret.ts";
import type { NonceCommitments, SignatureShare } from "../../threshold/ThresholdScheme.ts";
import type { Signable } from "./Signable.ts";
import type { Occasion } from "./Envelope.ts";
import type { SigningRequest } from "./SigningRequest.ts";
import type { SigningEvidence } from "./SignMessages.ts";

/** What a signer has judged and found right, for one session of one coordinator. */
export interface Session {
  readonly coordinator: PeerId;
  readonly sessionId: Digest;
  /** Monotonic milliseconds. */
  readonly openedAt: number;
  readonly request: SigningRequest;
  readonly claims: ActorClaims;
  readonly line: RequestLine;
  readonly nonce: string;
  readonly timestamp: number;
  readonly operation: Digest;
  readonly expiresAt: number;
  readonly generation: number;
  readonly messageDigest: Digest;
  /** Of the nonces; it is in no other session, and gone with the step that uses it. */
  readonly seed: Secret;
  readonly commitments: NonceCommitments;
}

/** What a session has come to, for another copy of the same package. */
export interface Spent {
  readonly coordinator: PeerId;
  readonly keyId: string;
  readonly generation: number;
  readonly packageDigest: Digest;
  readonly share: SignatureShare;
}

/** One attempt of a request at its coordinator. */
export interface Attempt {
  readonly no: number;
  readonly sessionId: Digest;
  /** Monotonic milliseconds. */
  readonly startedAt: number;
  /** When those that have not answered were last asked. */
  readonly askedAt: number;
  readonly asked: ReadonlySet<PeerId>;
  /** In the order in which they came. */
  readonly commitments: ReadonlyMap<PeerId, NonceCommitments>;
  /** The codes of members that do not sign. */
  readonly refusals: ReadonlyMap<PeerId, string>;
  /** When the chosen ones were told of each other; undefined until they are. */
  readonly packagedAt: number | undefined;
  /** Who signs; empty until as many as the threshold have committed. */
  readonly chosen: ReadonlyArray<PeerId>;
  readonly shares: ReadonlyMap<PeerId, SignatureShare>;
}

/** A request of a caller that waits here. */
export interface Wanted {
  readonly requestId: string;
  readonly request: SigningRequest;
  readonly claims: ActorClaims;
  readonly evidence: SigningEvidence;
  readonly line: RequestLine;
  readonly occasion: Occasion;
  /** Monotonic milliseconds. */
  readonly arrivedAt: number;
  /** Whose shares of the signature were wrong, in any attempt. */
  readonly imposters: ReadonlyArray<PeerId>;
  /** Why each one that was chosen in an earlier attempt gave no share. */
  readonly withheld: ReadonlyMap<PeerId, string>;
}

/** The same once its signing has begun. */
export interface Coordinated extends Wanted {
  readonly signable: Signable;
  readonly operation: Digest;
  readonly attempt: Attempt;
}

/** How a member has served signatures so far. */
export interface Experience {
  /** From asking to its commitments, in milliseconds, smoothed. */
  readonly millis: number;
  /** Monotonic milliseconds: when it last failed; undefined where it has not since it last committed. */
  readonly failedAt: number | undefined;
  /** When a signature last failed by it that it had committed to; undefined where it has signed what came after. */
  readonly withheldAt: number | undefined;
}

export interface SigningState {
  /** By request id, in the order in which they came: requests whose signing has not begun. */
  readonly waiting: ReadonlyMap<string, Wanted>;
  /** One entry, once requests had to wait: how fast they are served. */
  readonly pace: ReadonlyMap<"line", Pace>;
  /** By request id: those under way. */
  readonly requests: ReadonlyMap<string, Coordinated>;
  /** The requests by their present session. */
  readonly bySession: ReadonlyMap<Digest, string>;
  readonly members: ReadonlyMap<PeerId, Experience>;
  /** By {@link sessionKey}: sessions that hold a nonce, the oldest first. */
  readonly sessions: ReadonlyMap<string, Session>;
  /** The newest of those that hold none any more. */
  readonly spent: ReadonlyMap<string, Spent>;
  /** One entry, while there may be consents to remove: the key after which the search goes on. */
  readonly sweep: ReadonlyMap<"after", string>;
}

export const sessionKey = (coordinator: PeerId, sessionId: Digest): string => `${coordinator}/${sessionId}`;

const empty: SigningState = {
  waiting: new Map(),
  pace: new Map(),
  requests: new Map(),
  bySession: new Map(),
  members: new Map(),
  sessions: new Map(),
  spent: new Map(),
  sweep: new Map(),
};

export const signings: Slice<SigningState> = {
  name: "signing",
  empty,
  // Whether there are consents to remove a look tells, later.
  boot: () => ({ ...empty, sweep: new Map([["after", ""]]) }),
};

/** What a peer remembers of signatures. */
export const signingIn = ({ modules }: Pick<PeerState, "modules">): SigningState =>
  (modules[signings.name] as SigningState | undefined) ?? signings.empty;
