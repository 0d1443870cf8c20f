/** A probe of the members' readiness, and what it found. */
import type { Digest } from "../base/Digest.ts";
import type { MemberFault } from "../base/Rejection.ts";
import type { Ready, Seen } from "./Message.ts";
import type { PeerId } from "./Topology.ts";

export interface Probe {
  readonly nonce: Digest;
  /** Monotonic milliseconds. */
  readonly startedAt: number;
  /** The others' newest batches when it began: an answer must not be behind these. */
  readonly seen: ReadonlyMap<PeerId, Seen>;
  readonly answers: ReadonlyMap<PeerId, Answered>;
  /** Members that have sent something else meanwhile, so they are there. */
  readonly heard: ReadonlySet<PeerId>;
}

/** A member's answer, and when it came, in monotonic milliseconds, as the wall clock may be set meanwhile. */
export interface Answered {
  readonly ready: Ready;
  readonly answeredAt: number;
}

/** The conclusion of a probe: no fault means that every member answered that it is ready. Monotonic milliseconds. */
export interface Verdict {
  readonly probedAt: number;
  readonly concludedAt: number;
  /** How far the wall clock was ahead of the monotonic one; the others' clocks were compared with the former. */
  readonly wallAhead: number;
  readonly faults: ReadonlyArray<MemberFault>;
}

/** Whether all members are ready, as far as this peer has asked. */
export interface Probing {
  readonly probe: Probe | undefined;
  /** Callers that asked whether a change would be accepted. */
  readonly readinessWaiters: ReadonlyArray<string>;
  /** The result of the last probe. */
  readonly verdict: Verdict | undefined;
  /** Monotonic milliseconds: when the writer last sent anything. */
  readonly writerHeardAt: number;
  /** Monotonic milliseconds: when members were last shown that an incarnation of theirs is over. */
  readonly remindedAt: ReadonlyMap<PeerId, number>;
}

export const notProbing = (): Probing => ({
  probe: undefined,
  readinessWaiters: [],
  verdict: undefined,
  writerHeardAt: 0,
  remindedAt: new Map(),
});
