/** Whether this peer has its keys, and may use them. */
import type { Digest } from "../base/Digest.ts";

/** The version of the integrity key that a peer was initialized with. */
export const FIRST_INTEGRITY_VERSION = 1;

export interface Fitness {
  readonly unsealed: boolean;
  /** Its keys are in memory, and not in use before what it rests on is verified. */
  readonly verifying: boolean;
  /** Which stored data did not hold, while this peer must not sign. */
  readonly integrityFault: string | undefined;
  /** Which of its integrity keys this peer seals rows with, from 1. */
  readonly integrityVersion: number;
  /** Why this peer knows that it ran from an old disk. */
  readonly quarantine: string | undefined;
  /** The name of this process; absent until its first unseal. */
  readonly process: Digest | undefined;
}

export const sealedFitness = (): Fitness => ({
  unsealed: false,
  verifying: false,
  integrityFault: undefined,
  integrityVersion: FIRST_INTEGRITY_VERSION,
  quarantine: undefined,
  process: undefined,
});
