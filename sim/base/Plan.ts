/** Everything about a run that is fixed before it starts. Rates are per thousand, times as named. */
import type { Capacities } from "../../core/base/Capacities.ts";
import type { Tier } from "./Tier.ts";

export interface NetworkPlan {
  readonly leastDelay: number;
  readonly mostDelay: number;
  readonly loss: number;
  readonly duplication: number;
}

export interface DiskPlan {
  readonly leastFlushMicros: number;
  readonly mostFlushMicros: number;
}

/** What callers do; the numbers beside each other are weights. */
export interface WorkloadPlan {
  readonly callers: number;
  readonly leastThinkMicros: number;
  readonly mostThinkMicros: number;
  readonly fresh: number;
  /** Whatever callers do with keys of the service's own (`sim/callers/KeyHolders.ts`). */
  readonly keys: number;
  readonly retry: number;
  readonly conflict: number;
  readonly version: number;
  /** Replacements of metadata: upon the revision last heard of, with another If-Match, and two at once. */
  readonly replace: number;
  readonly guess: number;
  readonly race: number;
  readonly read: number;
  /** Whether one more caller lists. */
  readonly isListing: boolean;
  readonly readiness: number;
  /** How many registrations in a thousand of a key that is known have it in another format. */
  readonly otherFormats: number;
  /** Requests for enrollment options, and responses to them. */
  readonly invite: number;
  readonly finish: number;
  /** How many responses in a thousand are wrong in some way. */
  readonly wrongResponses: number;
  /** Repetitions of the newest registration, which is mostly still under way. */
  readonly follow: number;
  /** How many requests in a thousand are at the edge of a rule, or beyond it (`sim/requests/Edges.ts`). */
  readonly edges: number;
  /** How many requests in a thousand carry a token that is no good. */
  readonly badTokens: number;
  /** How many requests in a thousand carry a token that soon expires, and how soon at most; 2.5 s at least. */
  readonly shortTokens: number;
  readonly mostTokenMillis: number;
  /** Registrations after which callers only repeat themselves, so that a long run does not grow. */
  readonly mostKeys: number;
}

/** Less room on the way between peers than real ones have, so that it is used up. */
export interface NarrowPlan {
  /** Messages of one peer under way to another at once, and how many of these may not be bulk. */
  readonly connections: number;
  readonly roundConnections: number;
  /** Messages of one lane that wait for their turn. */
  readonly queuedMessages: number;
  /** Answers kept open for one peer. */
  readonly held: number;
  /** Events that may wait for the driver, and messages of one member among them. */
  readonly backlog: number;
  readonly memberMessages: number;
  /** How long a peer waits for the answer to a message that was lost. */
  readonly silenceMillis: number;
}

/**
 * What is demanded. `within`: at most one faulty member, and everything must come about after healing. `safety`:
 * any faults, nothing is healed, safety alone must hold. `past`: more than one faulty or lost member, and the rest
 * must refuse and name what is missing.
 */
export const modes = ["within", "safety", "past"] as const;
export type Mode = (typeof modes)[number];

/** An instance that is alone, and becomes a cluster with the peers that wait for it. */
export interface PromotionOf {
  /** Its slot. */
  readonly source: number;
  /** When its operators ask for that first, from the start of the run. */
  readonly afterMicros: number;
  /** Others ask for another one as well. */
  readonly hasRivals: boolean;
}

export interface Plan {
  readonly seed: number;
  readonly schedule: string;
  readonly mode: Mode;
  readonly peers: number;
  /** Absent where the peers found their cluster together. */
  readonly promotion?: PromotionOf;
  /** How much is computed as on a real peer. */
  readonly crypto: Tier;
  /** How long enrollment sessions last. */
  readonly sessionMillis: number;
  /** Events after which the world is healed. */
  readonly steps: number;
  readonly network: NetworkPlan;
  readonly disk: DiskPlan;
  readonly workload: WorkloadPlan;
  /** Clocks differ by at most this from a perfect one, each way. */
  readonly clockOffsetMillis: number;
  readonly clockDriftPerMillion: number;
  /** By how much a clock has moved when a peer reads it again in one moment. */
  readonly clockMovesMillis: number;
  /** Faults drawn at random, by name and weight (Faults.ts); none where a schedule names its own moments only. */
  readonly faults: ReadonlyMap<string, number>;
  /** Mean time between two random faults. */
  readonly faultMicros: number;
  /** Random faults begin before the cluster is founded. */
  readonly faultsWhileFounding: boolean;
  /** Those that are not the service's. */
  readonly capacities: Partial<Capacities>;
  /** Absent where peers have as much room for messages as real ones. */
  readonly narrow?: NarrowPlan;
  /** Absent where messages go each by itself, as to a peer of an earlier version. */
  readonly hasSessions?: boolean;
  /** Within how many milliseconds a peer answers. */
  readonly answerMillis: number;
  /** How long a body is at least, except that of a replacement; the rest of it is white space. */
  readonly bodyBytes: number;
  /** How many messages in a thousand are handed over twice in a row, to see that the second time writes nothing. */
  readonly redelivery: number;
}

/** The world after healing, and the whole of a calm run. */
export const CALM_NETWORK: NetworkPlan = { leastDelay: 300, mostDelay: 900, loss: 0, duplication: 0 };
