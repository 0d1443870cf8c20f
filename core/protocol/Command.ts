/**
 * The interface between agreement and a command; they meet nowhere else. Every
 * member reads the request, checks it against its own rows and computes the
 * effects for itself; agreement compares the bytes and never looks into them
 * (protocol.md 2).
 */
import type { Either } from "effect";
import { memoized } from "../base/Memo.ts";
import type { Answer } from "./Answer.ts";
import type { ActorClaims } from "../auth/ActorClaims.ts";
import type { Crypto } from "../crypto/Crypto.ts";
import type { Digest, SetAccumulator } from "../base/Digest.ts";
import type { StepContext } from "./Event.ts";
import { InvariantViolation } from "../base/Invariant.ts";
import type { PeerState } from "./PeerState.ts";
import { type Rejection, rejection } from "../base/Rejection.ts";
import type { SpeakingCode } from "./Refusals.ts";
import type { RowView } from "./Tables.ts";
import type { Step } from "./Step.ts";
import type { Call } from "./Forward.ts";
import type { Exchange, Module, Service } from "./Module.ts";
import type { EvaluationContext } from "./EvaluationContext.ts";
import type { Proposal } from "./Proposal.ts";
import type { PeerId } from "./Topology.ts";
import type { Versions } from "./Versions.ts";

/** What it takes to understand a call, without any row. */
export type Means = Pick<StepContext, "crypto" | "providers">;

/** What a request is about, as far as the call alone tells. */
export interface Target {
  readonly kind: string;
  /** The ref that its caller is told, once it is known. */
  readonly ref: string | undefined;
}

/** What a request asks for, as its command has understood it. */
export interface Intent extends Target {
  readonly ref: string;
  /** The exclusive locks that its proposal holds while it is undecided (protocol.md 3.2). */
  readonly locks: ReadonlyArray<string>;
  /** Unix milliseconds: nobody signs for it later than that; infinite where only the proposal's own deadline counts. */
  readonly deadline: number;
}

/** The effects, given what they depend on in their proposal: its time and its version. */
export type EffectsAt = (proposed: Pick<Proposal, "proposedAt" | "version">) => Uint8Array;

/** How an intent stands against one peer's rows. */
export type Standing =
  /** It can be done; proposed so, it has these effects. */
  | { readonly _tag: "Possible"; readonly effectsAt: EffectsAt }
  /** What it asks for exists already, under this name. */
  | { readonly _tag: "Done"; readonly name: string }
  /** It can be done once its module has made what it takes: the writer looks again at the end of every event. */
  | { readonly _tag: "NotYet" }
  /** It cannot be done; `isFinal` where no later change can make it possible. */
  | { readonly _tag: "Impossible"; readonly rejection: Rejection; readonly isFinal: boolean };

/** The stored row under a name: its revision, and the answer to a caller that asks for it. */
export interface Existing {
  readonly revision: number;
  readonly answer: Answer;
}

/** The audit entry of an applied change: of an approver, or of a key. */
export type AuditEntry = { readonly event: string } & (
  | { readonly approverRef: string; readonly metadataRevision: number }
  | { readonly keyId: string; readonly generation: number }
);

/** What happens to the same request when it is repeated after its outcome was left open. */
export type Retry =
  | { readonly _tag: "FindsItsResult" }
  /** Its own success has removed its base; the hint says how its caller finds out. */
  | { readonly _tag: "FindsItsBaseGone"; readonly hint: string }
  /** It leaves nothing that anybody could find. */
  | { readonly _tag: "BeginsAnew" };

/** The place of a change among others, for a registry that is put together from several disks. */
export interface Lineage {
  /** Its subject, named as in {@link Target.ref}. */
  readonly ref: string;
  /** The first change of a subject is 1, and each builds on the one before. */
  readonly revision: number;
  /** The name that it claims, and the one owner that may hold it. */
  readonly claim: string;
  readonly owner: string;
}

/** How requests are recognized, permitted and read. */
interface Reading<I extends Intent, T extends Target> {
  /** Its name in proposals; kept for ever. */
  readonly kind: string;
  /** The first version of proposals that has it. */
  readonly since: number;
  /** The permissions of which the bearer needs one; none where something else in the request authorizes it. */
  permissionsOf(call: Call): ReadonlyArray<string>;
  /** Whether its meaning depends on rows, so that only a peer that may trust its own rows can tell. */
  readonly needsRows: boolean;
  readonly retry: Retry;
  /** Codes that a caller is told as they are, even where another member refused with them. */
  readonly speaking: ReadonlyArray<SpeakingCode>;
  recognizes(call: Call): boolean;
  /** The subject of the call, whether or not it can be done; undefined where the call cannot be read. */
  targetOf(means: Means, call: Call): T | undefined;
  /** Reads and validates a request; the left side names every field at fault. The same rows give the same result. */
  parse(evaluation: EvaluationContext, call: Call): Either.Either<I, Rejection>;
  /** As `parse`, for a caller of this peer or of another entry peer: attempts may be counted here. */
  admit(step: Step, call: Call, claims: ActorClaims): Either.Either<I, Rejection>;
}

/** Its standing, against committed rows and undecided proposals. */
interface Deciding<I extends Intent> {
  check(evaluation: EvaluationContext, intent: I): Standing;
  /** The undecided proposal whose outcome is this intent's outcome too. */
  coalescesWith(state: PeerState, intent: I): Digest | undefined;
  /** Told to a caller whose time is up: which undecided change of the same subject held it up, its own perhaps. */
  heldUpBy(state: PeerState, intent: I): "own result" | "another change" | undefined;
}

/** Its certified effects, and what they do to the rows of a member. */
interface Effecting {
  locksOf(effects: Uint8Array): ReadonlyArray<string>;
  lineageOf(effects: Uint8Array): Lineage;
  /** Whether they are consistent in themselves, whoever has certified them. */
  isSound(crypto: Crypto, effects: Uint8Array): boolean;
  /** Changes the rows and the registry root; throws `InvariantViolation` where they contradict what was certified. */
  apply(step: Step, id: Digest, effects: Uint8Array): void;
  /** Does the same for a member that takes outcomes over in any order; says whether reads may show a difference. */
  install(step: Step, id: Digest, effects: Uint8Array): boolean;
  /** Undoes a change that no other member has applied. */
  undo(step: Step, id: Digest, effects: Uint8Array): void;
  audit(effects: Uint8Array): AuditEntry;
}

/** What callers are told. */
interface Answering<I extends Intent, T extends Target> {
  /** Whether a certified proposal of this kind does what was asked; `isOwn` where this very request led to it. */
  isMetBy(intent: I, effects: Uint8Array, isOwn: boolean): boolean;
  /** Whether its result may exist already, by this peer's own rows. */
  mayBeThere(view: RowView, intent: I): boolean;
  /** The answer to a caller whose change every member has applied; `isFresh` where its own request made it. */
  confirmed(effects: Uint8Array, isFresh: boolean): Answer;
  /**
   * The answer to a caller whose result is stored already, from this peer's own rows; undefined where it is not. `isOwn`
   * where an earlier copy of this very request has stored it.
   */
  existing(view: RowView, name: string, isOwn: boolean): Existing | undefined;
  /**
   * Whether something that a rejected request asked for is reserved or applied here all the same. Applied changes count
   * only for a forwarded request, as it may be a copy whose first answer was lost.
   */
  mayStand(step: Step, target: T, entryPeer: PeerId): boolean;
  /** The same target, completed with what is known of its subject by now. */
  named(step: Step, target: T): T;
  /** Told of every refusal of a request that could be read. */
  noteRefused(step: Step, target: T, rejection: Rejection): void;
  /** The reservation here for the very request that this peer refuses; undefined where there is none. */
  reservedFor(step: Step, call: Call, rejected: Rejection): Target | undefined;
}

// Methods, not functions: a command with a narrower intent is a command.
export interface Command<I extends Intent = Intent, T extends Target = Target>
  extends Reading<I, T>,
    Deciding<I>,
    Effecting,
    Answering<I, T> {}

/** One entry of the set that the registry root covers, as it is stored. */
export interface Entry {
  readonly key: string;
  /** How many certified changes have made it what it is. */
  readonly revision: number;
  /** Whether it is one of the approvers, or of what else `Ready` counts as such. */
  readonly isCounted: boolean;
  /** Whether the rows that go with it are its own. */
  readonly isSound: boolean;
  /** The set with it added. */
  readonly addTo: (set: SetAccumulator) => SetAccumulator;
}

/** The commands' rows that the registry root covers, read again by a restored member. */
export type Contents = (crypto: Crypto, view: RowView, after: string, limit: number) => ReadonlyArray<Entry>;

/** The commands of a cluster. */
export interface Commands {
  readonly versions: Versions;
  readonly all: ReadonlyArray<Command>;
  readonly byKind: ReadonlyMap<string, Command>;
  readonly contents: Contents;
  readonly modules: ReadonlyArray<Module>;
  readonly exchanges: ReadonlyMap<string, Exchange>;
  readonly services: ReadonlyArray<Service>;
}

/** The command of a call. */
export const commandFor = ({ all }: Commands, call: Call): Command | undefined =>
  all.find((each) => each.recognizes(call));

/** The exchange of a call. */
export const exchangeFor = ({ exchanges }: Commands, call: Call): Exchange | undefined => {
  for (const exchange of exchanges.values()) if (exchange.recognizes(call)) return exchange;
  return undefined;
};

/** The service of a call. */
export const serviceFor = ({ services }: Commands, call: Call): Service | undefined =>
  services.find((each) => each.recognizes(call));

/** Whether a request asks for a change. */
export const isIntent = (request: Target): request is Intent => "locks" in request;

/** The command of a kind; throws {@link InvariantViolation} for one that this peer does not know and has not signed. */
export const commandOf = ({ byKind }: Commands, { kind }: Pick<Proposal, "kind">): Command => {
  const command = byKind.get(kind);
  if (command === undefined) throw new InvariantViolation("S2", `no command is of the kind ${kind}`);
  return command;
};

/** The answer to a call that no command recognizes. */
export const unrecognized: Rejection = rejection(
  "INVALID_REQUEST_BODY",
  "The forwarded request is none that this peer knows.",
  "Bring all peers to one version.",
);

const locks = memoized((proposal: Proposal, commands: Commands) =>
  commandOf(commands, proposal).locksOf(proposal.effects),
);

/** The exclusive locks that a proposal holds while it is undecided (protocol.md 3.2). */
export const locksOf = (commands: Commands, proposal: Proposal): ReadonlyArray<string> => locks(proposal, commands);
