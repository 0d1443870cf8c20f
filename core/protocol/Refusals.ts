/**
 * Refusing: a durable, final vote that no certificate of a proposal shall ever
 * exist. It binds the proposal's slot if nothing else does, takes no lock, and
 * stays until the votes of all members turn it into an outcome (protocol.md 3.1).
 */
import type { Round } from "./Undecided.ts";
import { type Rejection, rejection, type RejectionCode, rejectionCodes } from "../base/Rejection.ts";
import type { Step } from "./Step.ts";
import { answerRejected } from "./Answers.ts";
import { isSuperseded } from "./Incarnations.ts";
import { recordRefused, type Refusing } from "./Lifecycle.ts";
import { resolveDelay } from "./Preparations.ts";
import type { Proposal } from "./Proposal.ts";
import { signEach } from "./SignEach.ts";
import type { SignedStatement } from "./Statement.ts";
import type { PeerId } from "./Topology.ts";

/** Why a peer without record of a proposal refuses it for good when asked; undefined while it may still vote. */
export const finalCode = (step: Step, proposal: Proposal, demandedBy: PeerId | false): string | undefined => {
  if (demandedBy === proposal.writer) return "ABANDONED";
  if (isSuperseded(step, proposal)) return "WRONG_INCARNATION";
  return step.now > proposal.expiresAt ? "EXPIRED" : undefined;
};

/** Signs one refusal for each proposal, records them, and hands them on in order. */
export const refuse = (
  step: Step,
  refusing: ReadonlyArray<Refusing>,
  run: (refusals: ReadonlyArray<SignedStatement>) => void,
): void =>
  signEach(
    step,
    refusing,
    ({ id, proposal, code }) => ({ kind: "REFUSAL", proposalId: id, seq: proposal.seq, detail: code }),
    (entry, refusal) => {
      step.noteSeen(entry.writerReceipt);
      recordRefused(step, entry, refusal);
    },
    (refusals) => {
      step.arm("resolve", resolveDelay(step));
      run(refusals);
    },
  );

/** What a caller does about a refusal that concerns its request. */
const nextSteps = {
  UNAUTHENTICATED: "Get a token that every member accepts, and send the request again.",
  ACCESS_DENIED: "Get a token that carries the permission, and send the request again.",
  PREPARATION_CAPACITY: "Repeat the request later; an operator looks at the peer's status.",
  SESSION_CAPACITY: "Repeat the request when some sessions have been finished or have expired.",
  INVALID_REF: "Use the ref as registration returned it.",
  INVALID_REQUEST_BODY: "Compare the body with its description, and the peers' configurations with each other.",
  INVALID_METADATA: "Shorten the metadata and send the request again.",
  INVALID_PUBLIC_KEY: "Send a public key of the algorithm that the request names.",
  INVALID_CEREMONY: "Create the credential again with the same options; the invitation was not used up.",
  UNSUPPORTED_ALGORITHM: "Use an algorithm that every peer's description of the API names.",
  SCHEME_NOT_THRESHOLD: "Use a scheme by which several members sign together.",
  WEBAUTHN_DISABLED: "An operator enables passkeys in the configuration of every peer.",
  APPROVER_NOT_FOUND: "Check the ref; every version has a ref of its own.",
  PRECONDITION_REQUIRED: "Send If-Match with the revision that you have read.",
  PRECONDITION_FAILED: "Read the approver, and send the request again with its revision.",
  KEY_ALREADY_REGISTERED: "Use the existing approver or another key; if the key was just made, repeat the request.",
  CREDENTIAL_ALREADY_REGISTERED: "Use the existing approver, or create another credential.",
  REGISTRATION_NOT_FOUND: "Ask for a new invitation.",
  REGISTRATION_EXPIRED: "Ask for a new invitation.",
  REGISTRATION_COMPLETED: "Ask for a new invitation.",
  KEY_NOT_FOUND: "Check the id of the key.",
  KEY_ALREADY_EXISTS: "Read the key, or choose another id.",
  KEY_DESTROYED: "Read the key; if it is destroyed, use another one.",
  GENERATION_MOVED: "Read the key, and send the request for its active generation.",
  GENERATION_NOT_FOUND: "Read the key; generations are numbered from 1.",
  GENERATION_IN_USE: "Rotate the key first; or destroy the whole key, with final.",
} satisfies { readonly [C in RejectionCode]?: string };

/** Codes of checks that a caller may be told as they are. */
export type SpeakingCode = keyof typeof nextSteps;

/** Those of any command. */
const SPEAKING: ReadonlyArray<SpeakingCode> = ["UNAUTHENTICATED", "ACCESS_DENIED", "PREPARATION_CAPACITY"];

/** What codes of checks mean, in sentences of our own. */
type Meanings = { readonly [check: string]: string };

/** Of checks that concern no request (protocol.md 3.1, 4a). */
const meanings: Meanings = {
  SLOT_TAKEN: "another change has its number there",
  VERSION_NOT_SPOKEN: "the change's version is not spoken there",
  CONFIGURATION_DIFFERS: "its cluster configuration differs",
  WRONG_INCARNATION: "a member was restored meanwhile",
  WRONG_TOPOLOGY: "it belongs to another topology",
  CLOCK_SKEW: "its clock differs by more than 5 s",
  CLOCK_IN_DOUBT: "its clock was set by more than 5 s, and by it alone the request is refused",
  EXPIRED: "the deadline is over by its clock",
  WRONG_ACTOR: "the token is another actor's",
  NOT_ATTESTED: "the request is not what its entry peer attested",
  DENIED: "this request was denied to its caller there",
  STALE_REQUEST: "by its clock the request is too old",
  WRONG_REQUEST: "another request was shown there",
  ALREADY_REGISTERED: "by its records this was done before",
  NOT_MADE: "no share that was made for this request is there",
  WRONG_EFFECTS: "by its own records the request comes to something else",
  LOCKED: "another change is under way there",
  UNACKNOWLEDGED: "as many unacknowledged changes are there as may be",
  ABANDONED: "the writer gave the change up",
  REFUSED_BY_ANOTHER: "another member had refused it",
  RECOVERING: "it is recovering",
};

/** Undefined where this peer does not know the code: another member may write any word, and it is passed on to nobody. */
const meaningOf = (check: string, more: Meanings): string | undefined => {
  const known = { ...meanings, ...more };
  if (Object.hasOwn(known, check)) return known[check];
  return rejectionCodes.some((each) => each === check) ? `the check ${check} failed there` : undefined;
};

/**
 * Answers the callers of a round that was refused and has been aborted. The creator is told; another member's opinion
 * may change a moment later, so no duplicate is judged by it again. Coalesced requests queue again and are judged by
 * themselves.
 */
export const answerRefused = (step: Step, { creator, coalesced, refusal }: Round, proposal: Proposal): void => {
  if (refusal === undefined) return;
  const { header, statement } = refusal;
  const command = step.command(proposal);
  const { ref } = command.lineageOf(proposal.effects);
  const said = refusalRejection(header.peerId, statement.detail, ref, command.speaking);
  if (creator !== undefined) answerRejected(step, creator, said, "only if remembered");
  // The fault of the creator's request says nothing about theirs.
  if (coalesced.length > 0) step.draft("requests").queue = [...coalesced, ...step.state.requests.queue];
};

/**
 * The refusing check's own code if a caller may be told that; otherwise the rejection names the member and what it found.
 *
 * @param check as the member wrote it
 * @param speaking what callers of this request may be told
 * @param more checks of a module's own
 */
export const refusalRejection = (
  peerId: PeerId,
  check: string,
  ref: string | undefined,
  speaking: ReadonlyArray<SpeakingCode>,
  more: Meanings = {},
): Rejection => {
  const code = [...SPEAKING, ...speaking].find((each) => each === check);
  if (code !== undefined)
    return rejection(code, `Peer ${peerId} refused the change.`, nextSteps[code], {
      members: [{ peerId, reason: code }],
      ref,
    });
  const meaning = meaningOf(check, more);
  return rejection(
    "APPROVER_REPLICATION_UNAVAILABLE",
    meaning === undefined
      ? `Peer ${peerId} refused the change for a reason that is unknown here.`
      : `Peer ${peerId} refused the change: ${meaning}.`,
    `Repeat the request; if peer ${peerId} refuses it again, an operator looks at that peer.`,
    { members: [{ peerId, reason: meaning === undefined ? "it refuses" : check }], ref },
  );
};
