/** How long a coordinator waits for others before it chooses a signer that has just not signed. */
import { describe, expect, it } from "vitest";
import type { Message } from "../../core/Message.ts";
import { crypto } from "../../properties/cluster/Cluster.ts";
import type { Watched } from "./Checker.ts";
import { Ghost } from "./Ghost.ts";
import { K22 } from "./K22.ts";

const ANSWER_MILLIS = 10_000;
/** In which others surely have time to commit, and after which they had it. */
const [EARLY, LATE] = [200, 1_200];

interface Attempted {
  readonly sessionId: string;
  readonly startedAt: number;
  readonly asked: ReadonlyArray<number>;
  readonly committed?: ReadonlyArray<number>;
  readonly refused?: ReadonlyArray<number>;
  readonly imposters?: ReadonlyArray<number>;
  readonly packagedAt?: number;
  readonly chosen?: ReadonlyArray<number>;
}

const requestOf = (requestId: string, attempted: Attempted) => {
  const { sessionId, startedAt, asked, committed = [], refused = [], imposters = [], packagedAt } = attempted;
  const said = (peers: ReadonlyArray<number>) => new Map(peers.map((each) => [each, "said"]));
  const { chosen = [] } = attempted;
  const votes = { commitments: said(committed), refusals: said(refused), shares: new Map() };
  const attempt = { sessionId, startedAt, asked: new Set(asked), packagedAt, chosen, ...votes };
  return { requestId, arrivedAt: startedAt, imposters, attempt };
};

/** Peer 1 of three, which coordinates. */
const coordinator = () => {
  const checker = K22(new Ghost(crypto, 3));
  let requests: ReadonlyMap<string, object> = new Map();
  const at = (millis: number): Watched =>
    ({
      slot: 1,
      honest: true,
      isIdle: true,
      decidedAt: millis * 1_000,
      settings: { answerMillis: ANSWER_MILLIS, configDigest: "" },
      state: { modules: { signing: { requests } }, cluster: { membership: { peerIds: [1, 2, 3] } } },
    }) as unknown as Watched;
  const opened = (sessionId: string) => ({ _tag: "Sign.Open", sessionId }) as Message;
  const about = (_tag: "Sign.Package" | "Sign.Share", sessionId: string) =>
    ({ _tag, items: [{ sessionId }] }) as unknown as Message;
  return {
    opens: (millis: number, sessionId: string, to: number) => checker.sent?.(at(millis), opened(sessionId), to, 0),
    commits: (millis: number, sessionId: string, from: number) =>
      checker.delivered?.(at(millis), { _tag: "Sign.Commit", sessionId } as Message, from, millis * 1_000),
    packages: (millis: number, sessionId: string, to: number) =>
      checker.sent?.(at(millis), about("Sign.Package", sessionId), to, 0),
    shares: (millis: number, sessionId: string, from: number) =>
      checker.delivered?.(at(millis), about("Sign.Share", sessionId), from, millis * 1_000),
    steps: (millis: number, requestId: string, attempted: Attempted) => {
      requests = new Map([[requestId, requestOf(requestId, attempted)]]);
      checker.stepped?.(at(millis));
    },
  };
};

type Coordinator = ReturnType<typeof coordinator>;

/** A first request, for which peer 2 signs wrong. */
const signedWrong = (one: Coordinator): void => {
  const first = { startedAt: 0, asked: [1, 2] };
  one.opens(0, "a1", 2);
  one.steps(0, "a", { sessionId: "a1", ...first });
  one.commits(10, "a1", 2);
  one.packages(10, "a1", 2);
  one.steps(10, "a", { sessionId: "a1", ...first, committed: [1, 2], packagedAt: 10, chosen: [1, 2] });
  one.shares(20, "a1", 2);
  one.opens(20, "a2", 3);
  one.steps(20, "a", { sessionId: "a2", startedAt: 20, asked: [1, 3], imposters: [2] });
};

/** A first request, for which peer 2 does not sign what it has committed to. */
const keptItsShare = (one: Coordinator): void => {
  const first = { startedAt: 0, asked: [1, 2] };
  one.opens(0, "a1", 2);
  one.steps(0, "a", { sessionId: "a1", ...first });
  one.commits(10, "a1", 2);
  one.packages(10, "a1", 2);
  one.steps(10, "a", { sessionId: "a1", ...first, committed: [1, 2], packagedAt: 10, chosen: [1, 2] });
  one.packages(510, "a1", 2);
};

/** A second request, of which peers 3 and 2 are asked, and peer 2 alone commits. */
const choose = (one: Coordinator, afterMillis: number, more: Partial<Attempted> = {}): void => {
  const from = 1_000;
  const second = { sessionId: "b1", startedAt: from, asked: [1, 3] };
  one.opens(from, "b1", 3);
  one.steps(from, "b", second);
  one.opens(from + 150, "b1", 2);
  one.commits(from + 160, "b1", 2);
  one.packages(from + afterMillis, "b1", 2);
  const packagedAt = from + afterMillis;
  one.steps(packagedAt, "b", { ...second, asked: [1, 3, 2], committed: [1, 2], packagedAt, chosen: [1, 2], ...more });
};

describe.each([
  ["signed wrong", signedWrong],
  ["kept its share", keptItsShare],
])("a member that has just %s", (_how, fails) => {
  it("is not chosen before others had time to commit", () => {
    const one = coordinator();
    fails(one);
    expect(() => choose(one, EARLY)).toThrow("peer 2 has just not signed for peer 1 what it had committed to");
  });

  it("is chosen after that, and where the others refuse", () => {
    const [waits, asksNobody] = [coordinator(), coordinator()];
    fails(waits);
    expect(() => choose(waits, LATE)).not.toThrow();
    fails(asksNobody);
    expect(() => choose(asksNobody, EARLY, { refused: [3] })).not.toThrow();
  });

  it("is chosen like any other once it has signed", () => {
    const one = coordinator();
    fails(one);
    const third = { sessionId: "c1", startedAt: 580, asked: [1, 3, 2], refused: [3] };
    for (const to of [3, 2]) one.opens(580, "c1", to);
    one.steps(580, "c", third);
    one.commits(585, "c1", 2);
    one.packages(590, "c1", 2);
    one.steps(590, "c", { ...third, committed: [1, 2], packagedAt: 590, chosen: [1, 2] });
    one.shares(600, "c1", 2);
    expect(() => choose(one, EARLY)).not.toThrow();
  });

  it("is none once it has signed what it was told before, or too late", () => {
    const one = coordinator();
    fails(one);
    one.shares(600, "a1", 2);
    expect(() => choose(one, EARLY)).toThrow("peer 2 has just not signed");
  });
});

it("one that has done nothing wrong is chosen at once", () => {
  expect(() => choose(coordinator(), EARLY)).not.toThrow();
});

it("nobody waits for one that owes a share itself", () => {
  const one = coordinator();
  signedWrong(one);
  one.packages(30, "a2", 3);
  expect(() => choose(one, EARLY)).not.toThrow();
});
