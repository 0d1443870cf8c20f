/**
 * What a peer remembers of repairs under way, in memory alone. No secret in here is wiped, because a state never
 * changes; it goes with the step that no longer has it.
 */
import type { ActorClaims } from "../../auth/ActorClaims.ts";
import type { Digest } from "../../base/Digest.ts";
import type { Slice } from "../../protocol/Module.ts";
import type { RequestLine } from "../../protocol/Proposal.ts";
import type { PeerId } from "../../protocol/Topology.ts";
import type { BoxKey } from "../../threshold/Suite.ts";
import type { Secret } from "../../threshold/Secret.ts";
import type { SecretsFor } from "../../threshold/ThresholdScheme.ts";
import type { RepairMessage, RepairMessageOf, Wanted } from "./RepairMessages.ts";

/** What all helpers are asked at once, and what they have told. */
export interface Session {
  readonly open: RepairMessageOf<"Repair.Open">;
  readonly boxSeed: Secret;
  /** Monotonic milliseconds. */
  readonly begunAt: number;
  /** Monotonic milliseconds: when helpers were asked last. */
  readonly askedAt: number;
  /** By helper: for each generation, in order. */
  readonly sums: ReadonlyMap<PeerId, ReadonlyArray<Secret>>;
  /** By helper: why it could not begin when it was asked last, though it may soon. */
  readonly delays: ReadonlyMap<PeerId, string>;
  /** Whether a helper has lost it or cannot go on with it, so that another one is to begin. */
  readonly isOver: boolean;
}

/** At the member whose share is missing: the one repair that is under way. */
export interface Repair {
  readonly requestId: string;
  readonly keyId: string;
  readonly claims: ActorClaims;
  readonly line: RequestLine;
  readonly helpers: ReadonlyArray<PeerId>;
  /** The call, which each helper judges. */
  readonly evidence: RepairMessageOf<"Repair.Open">["evidence"];
  /** Monotonic milliseconds. */
  readonly arrivedAt: number;
  /** Undefined between two, and while a change is undecided at this peer before the first. */
  readonly session: Session | undefined;
  /** How many sessions were given up because a helper could not go on with them. */
  readonly givenUp: number;
  /** Whether generations are asked for one at a time: of several, a helper lacks its own share of one. */
  readonly isSingly: boolean;
  /** Generations whose shares this repair has stored, in the order in which it did. */
  readonly repaired: ReadonlyArray<number>;
  /** Generations that stay lost, and the helper that lacks its own share. */
  readonly lost: ReadonlyMap<number, PeerId>;
}

/** What a helper has told somebody. */
interface Word {
  readonly to: PeerId;
  readonly message: RepairMessage;
}

/** At a helper: one session of one target. */
export interface Helping {
  readonly target: PeerId;
  readonly sessionId: Digest;
  /** The newest sessions of this target that ended as it began others: no repeated question begins them again. */
  readonly before: ReadonlyArray<Digest>;
  /** Of all that the target has asked: a session is for that alone. */
  readonly asked: Digest;
  /** Monotonic milliseconds. */
  readonly openedAt: number;
  readonly keyId: string;
  readonly generations: ReadonlyArray<Wanted>;
  /** Itself among them. */
  readonly helpers: ReadonlyArray<PeerId>;
  readonly targetKey: BoxKey;
  readonly boxSeed: Secret;
  /** What each helper is told, by generation in order: split anew for each session. */
  readonly parts: ReadonlyArray<SecretsFor>;
  readonly keys: ReadonlyMap<PeerId, BoxKey>;
  /** What others have told, by generation in order. */
  readonly received: ReadonlyMap<PeerId, ReadonlyArray<Secret>>;
  /** Others whose boxes did not open: whatever they say after that is not looked at. */
  readonly broken: ReadonlySet<PeerId>;
  /** What it has told, sealed once, to be said again. */
  readonly words: ReadonlyArray<Word>;
  /** Monotonic milliseconds: when it said all of it last. */
  readonly saidAt: number;
}

export interface RepairState {
  /** At most one, by request id. */
  readonly repairs: ReadonlyMap<string, Repair>;
  /** One for each target. */
  readonly helping: ReadonlyMap<PeerId, Helping>;
  /** By target: until when, in monotonic milliseconds, what was begun for it is not made up for. */
  readonly pace: ReadonlyMap<PeerId, number>;
}

export const repairs: Slice<RepairState> = {
  name: "repairs",
  empty: { repairs: new Map(), helping: new Map(), pace: new Map() },
  boot: () => ({ repairs: new Map(), helping: new Map(), pace: new Map() }),
};
