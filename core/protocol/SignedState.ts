/** This peer's own chain of statements and of audit rows, and what it has seen of the others' statements. */
import type { Digest } from "../base/Digest.ts";
import type { Seen } from "./Message.ts";
import type { PeerId } from "./Topology.ts";

/** The hash before the first of a chain. */
export const NO_DIGEST = "0".repeat(64) as Digest;

/** A peer's first incarnation; a declared restore takes a higher one. */
export const FIRST_INCARNATION = 1;

/** The newest row of this peer's own audit, and how far operators' acts are in it. */
interface AuditChain {
  readonly seq: number;
  readonly hash: Digest;
  /** The last act that was kept outside the rows, and the last one of this process. */
  readonly keptNo: number;
  readonly lastNo: number;
}

/** The chain of this peer's own statement batches. */
export interface Chain {
  readonly incarnation: number;
  readonly batchNo: number;
  readonly hash: Digest;
}

export interface SignedState {
  readonly chain: Chain;
  readonly audit: AuditChain;
  readonly seen: ReadonlyMap<PeerId, Seen>;
  /** `seen` as it is on disk: behind the one in memory until the next transaction. */
  readonly seenWritten: ReadonlyMap<PeerId, Seen>;
}

export const nothingSigned = (): SignedState => ({
  chain: { incarnation: FIRST_INCARNATION, batchNo: 0, hash: NO_DIGEST },
  audit: { seq: 0, hash: NO_DIGEST, keptNo: 0, lastNo: 0 },
  seen: new Map(),
  seenWritten: new Map(),
});
