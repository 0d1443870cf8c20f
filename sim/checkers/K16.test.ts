import { describe, expect, it } from "vitest";
import type { PeerState } from "../../core/protocol/PeerState.ts";
import { crypto } from "../../properties/cluster/Cluster.ts";
import type { Watched } from "./Checker.ts";
import { Ghost } from "./Ghost.ts";
import { K16 } from "./K16.ts";
import { generationKey } from "./KeyFacts.ts";

const BEGUN = 1_000;
/** Before its time is over, and after. */
const [EARLY, LATE] = [3_000, 12_000];

const session = (sessionId: string) => ({
  sessionId,
  openedAt: BEGUN,
  keyId: "k1",
  generations: [{ generation: 1, transcript: "t" }],
});

interface Memory {
  readonly sessions?: ReadonlyArray<readonly [target: number, sessionId: string]>;
  readonly recovery?: object;
  readonly unsealed?: boolean;
}

/** As much of a state as is looked at. */
const remembering = ({ sessions = [], recovery, unsealed = true }: Memory): PeerState =>
  ({
    modules: { repairs: { helping: new Map(sessions.map(([target, name]) => [target, session(name)])) } },
    cluster: { membership: {}, promotion: {} },
    fitness: { unsealed },
    rejoining: { recovery, unproven: new Set() },
  }) as unknown as PeerState;

interface Held {
  readonly status?: string;
  readonly state?: string;
  readonly transcript?: string;
}

/** A helper that had a session of peer 3 has this now. */
const goesOn = (memory: Memory, at = EARLY, { status = "ACTIVE", state = "ACTIVE", transcript = "t" }: Held = {}) => {
  const rows: Readonly<Record<string, object>> = {
    "custodyKeys k1": { status },
    [`generations ${generationKey("k1", 1)}`]: { state, transcript },
  };
  const store = { get: (table: string, key: string) => rows[`${table} ${key}`], scan: () => [] };
  const checker = K16(new Ghost(crypto, 3));
  const steps = (of: Memory, millis: number): void =>
    checker.stepped?.({ slot: 1, state: remembering(of), store, decidedAt: millis * 1_000 } as unknown as Watched);
  steps({ sessions: [[3, "one"]] }, BEGUN);
  return (): void => steps(memory, at);
};

const LOST = "peer 1 has given up session one of peer 3, begun at 1000 ms, at 3000 ms";

describe("a session of a helper", () => {
  it("is lost before its time where nothing has ended it", () => {
    expect(goesOn({})).toThrow(LOST);
    expect(goesOn({ sessions: [[2, "another"]] })).toThrow(LOST);
    expect(goesOn({}, EARLY, { state: "HISTORICAL" })).toThrow(LOST);
  });

  it("is not while it goes on, in its time or for another one of its target", () => {
    expect(goesOn({ sessions: [[3, "one"]] })).not.toThrow();
    expect(goesOn({ sessions: [[3, "two"]] })).not.toThrow();
    expect(goesOn({}, LATE)).not.toThrow();
  });

  it("goes with what it is about", () => {
    expect(goesOn({}, EARLY, { status: "DESTROYED" })).not.toThrow();
    expect(goesOn({}, EARLY, { state: "SUPERSEDED" })).not.toThrow();
    expect(goesOn({}, EARLY, { transcript: "other" })).not.toThrow();
  });

  it("goes at a peer that takes part no more", () => {
    expect(goesOn({ unsealed: false })).not.toThrow();
    expect(goesOn({ recovery: {} })).not.toThrow();
  });
});
