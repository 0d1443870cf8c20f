/** The members asked whether they are ready, and what was found. */
import type { Digest } from "../base/Digest.ts";
import type { MemberFault } from "../base/Rejection.ts";
import type { Ready, Seen } from "./Message.ts";
import type { PeerId } from "./Topology.ts";

export interface Probe {
  readonly nonce: Digest;
  /** Monotonic milliseconds. */
  readonly startedAt: number;
  /** What was seen of the others when it began: an answer must not fall behind it. */
  readonly seen: ReadonlyMap<PeerId, Seen>;
  readonly answers: ReadonlyMap<PeerId, Answered>;
  /** Members that have sent something else meanwhile: they are there. */
  readonly heard: ReadonlySet<PeerId>;
}

/** A member's answer, and when it came, in monotonic milliseconds: this peer's own wall clock may be set meanwhile. */
export interface Answered {
  readonly ready: Ready;
  readonly answeredAt: number;
}

/** The conclusion of a probe: no fault means that every member answered ready. Monotonic milliseconds. */
export interface Verdict {
  readonly probedAt: number;
  readonly concludedAt: number;
  /** What the own wall clock was ahead of the monotonic one: the others' were held against that. */
  readonly wallAhead: number;
  readonly faults: ReadonlyArray<MemberFault>;
}
