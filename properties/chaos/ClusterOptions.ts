/** What a cluster of a run is made with, and promoted by. */
import type { Violation } from "../../sim/base/Violation.ts";
import type { Moment } from "./History.ts";
import type { Plant } from "./Plants.ts";

/** As it is sent to the source. */
export interface PromotionPlan {
  readonly threshold: number;
  readonly total: number;
  readonly targets: ReadonlyArray<{ readonly peerId: number; readonly url: string; readonly identityKey: string }>;
}

export interface ClusterOptions {
  readonly folder: string;
  readonly peers: number;
  readonly seed: number;
  /** Whether the first peer is an instance alone, and all others wait for {@link ChaosCluster.openTargets}. */
  readonly isAlone: boolean;
  /** Whether both ports of every peer speak TLS. */
  readonly tls: boolean;
  /** Whether peers say their secrets aloud. */
  readonly isLeaking: boolean;
  /** What peers do wrong in a promotion, for a judge that must find it. */
  readonly planted: Plant | undefined;
  /** How long enrollment sessions last. */
  readonly sessionMillis: number;
  readonly note: (moment: Moment) => void;
  readonly broken: (violation: Violation) => void;
}

/** The peers cannot be started at all. */
export class CannotStart extends Error {
  override readonly name = "CannotStart";
}
