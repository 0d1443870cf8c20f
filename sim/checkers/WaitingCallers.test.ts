import { describe, expect, it } from "vitest";
import type { PeerState } from "../../core/protocol/PeerState.ts";
import { WaitingCallers } from "./WaitingCallers.ts";

const SECONDS = 1_000_000;

interface Held {
  readonly queue?: ReadonlyArray<string>;
  readonly creator?: string;
  readonly coalesced?: ReadonlyArray<string>;
}

const caller = (requestId: string) => ({ entryPeer: 2, requestId });

/** As much of a state as is looked at. */
const holding = ({ queue = [], creator, coalesced = [] }: Held): PeerState =>
  ({
    requests: { queue: queue.map((each) => ({ forward: caller(each) })) },
    undecided: {
      rounds: new Map([
        [
          "proposal",
          {
            creator: creator && caller(creator),
            coalesced: coalesced.map((each) => ({ forward: caller(each) })),
          },
        ],
      ]),
    },
  }) as unknown as PeerState;

/** What is said to be lost long after a writer that held these callers holds those. */
const lostBetween = (before: Held, after: Held, answered: ReadonlyArray<string> = []): string | undefined => {
  const waiting = new WaitingCallers();
  expect(waiting.lost(holding(before), SECONDS)).toBeUndefined();
  expect(waiting.lost(holding(after), 2 * SECONDS)).toBeUndefined();
  for (const each of answered) waiting.answered(2, each, 2 * SECONDS);
  return waiting.lost(holding(after), 10 * SECONDS);
};

describe("callers of a writer", () => {
  it("are lost where nothing holds them any more", () => {
    expect(lostBetween({ queue: ["a"] }, {})).toBe("request a of peer 2");
    expect(lostBetween({ creator: "a", coalesced: ["b"] }, { creator: "a" })).toBe("request b of peer 2");
    expect(lostBetween({ coalesced: ["a", "b"] }, { queue: ["a"] })).toBe("request b of peer 2");
  });

  it("are not where they go on", () => {
    expect(lostBetween({ queue: ["a"] }, { creator: "a" })).toBeUndefined();
    expect(lostBetween({ queue: ["a"] }, { coalesced: ["a"] })).toBeUndefined();
    expect(lostBetween({ coalesced: ["a"] }, { queue: ["a"] })).toBeUndefined();
  });

  it("are not where they are told something, or made what is applied", () => {
    expect(lostBetween({ queue: ["a"], coalesced: ["b"] }, {}, ["a", "b"])).toBeUndefined();
    expect(lostBetween({ creator: "a" }, {})).toBeUndefined();
  });

  it("are not where the peer has to forget them", () => {
    const waiting = new WaitingCallers();
    waiting.lost(holding({ queue: ["a"] }), SECONDS);
    waiting.forget();
    expect(waiting.lost(holding({}), 2 * SECONDS)).toBeUndefined();
    expect(waiting.lost(holding({}), 10 * SECONDS)).toBeUndefined();
  });
});
