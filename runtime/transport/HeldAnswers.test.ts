import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Digest } from "../../core/base/Digest.ts";
import type { Message } from "../../core/Message.ts";
import { later } from "../../server/peer/MachineTime.ts";
import { asksBack, HeldAnswers, mayAnswer } from "./HeldAnswers.ts";

const envelope = Uint8Array.of(1, 2, 3);
let held: HeldAnswers<Uint8Array>;
let ended: Array<readonly [string, Uint8Array | undefined]>;

const exchange = (name: string, isOpen = true) => ({
  end: (sent: Uint8Array | undefined): boolean => {
    ended.push([name, sent]);
    return isOpen;
  },
});

beforeEach(() => {
  vi.useFakeTimers();
  held = new HeldAnswers({ later, elapsedMillis: () => vi.getMockedSystemTime()?.getTime() ?? 0 });
  ended = [];
});
afterEach(() => void vi.useRealTimers());

describe("an answer kept open", () => {
  it("carries the next message to its sender, the oldest first, and to nobody else", () => {
    held.hold(2, exchange("first"));
    held.hold(2, exchange("second"));
    expect(held.use(3, envelope)).toBe(false);
    expect(held.use(2, envelope)).toBe(true);
    expect(held.use(2, envelope)).toBe(true);
    expect(held.use(2, envelope)).toBe(false);
    expect(ended).toEqual([
      ["first", envelope],
      ["second", envelope],
    ]);
  });

  it("ends empty after 250 ms, once", () => {
    held.hold(2, exchange("slow"));
    vi.advanceTimersByTime(249);
    expect(ended).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(ended).toEqual([["slow", undefined]]);
    expect(held.use(2, envelope)).toBe(false);
    held.release();
    expect(ended).toHaveLength(1);
  });

  it("is passed over when the other side has gone away", () => {
    held.hold(2, exchange("gone", false));
    held.hold(2, exchange("there"));
    expect(held.use(2, envelope)).toBe(true);
    expect(ended.map(([name]) => name)).toEqual(["gone", "there"]);
  });

  it("is one of at most 64 for each peer", () => {
    for (let index = 0; index < 64; index++) held.hold(2, exchange("kept"));
    expect(ended).toEqual([]);
    held.hold(2, exchange("beyond"));
    expect(ended).toEqual([["beyond", undefined]]);
    held.release();
    expect(ended).toHaveLength(65);
  });

  it("that was used does not end again, nor does it end another one", () => {
    held.hold(2, exchange("used"));
    vi.advanceTimersByTime(100);
    held.hold(2, exchange("later"));
    expect(held.use(2, envelope)).toBe(true);
    vi.advanceTimersByTime(200);
    expect(ended).toEqual([["used", envelope]]);
    expect(held.use(2, envelope)).toBe(true);
    vi.advanceTimersByTime(50);
    expect([ended.length, vi.getTimerCount()]).toEqual([2, 0]);
  });

  it("that has ended by itself takes no other one with it", () => {
    held.hold(2, exchange("first"));
    vi.advanceTimersByTime(100);
    held.hold(2, exchange("second"));
    vi.advanceTimersByTime(150);
    expect(ended).toEqual([["first", undefined]]);
    expect(held.use(2, envelope)).toBe(true);
    expect(ended[1]).toEqual(["second", envelope]);
  });

  it("ends with all others that are due at the same moment, of whatever peer", () => {
    held.hold(2, exchange("one"));
    held.hold(2, exchange("another"));
    held.hold(3, exchange("of 3"));
    vi.advanceTimersByTime(1);
    held.hold(3, exchange("later"));
    vi.advanceTimersByTime(249);
    expect(ended.map(([name]) => name)).toEqual(["one", "another", "of 3"]);
    vi.advanceTimersByTime(1);
    expect([ended.length, vi.getTimerCount()]).toEqual([4, 0]);
  });

  it("is released with all others, of whatever peer, and no timer stays", () => {
    held.hold(2, exchange("of 2"));
    held.hold(3, exchange("of 3"));
    held.release();
    expect([ended.map(([name]) => name), vi.getTimerCount()]).toEqual([["of 2", "of 3"], 0]);
    expect([held.use(2, envelope), held.use(3, envelope)]).toEqual([false, false]);
  });

  it("waits only behind messages that ask for one back", () => {
    const commit = (count: number): Message => ({
      _tag: "Commit",
      certificates: Array.from({ length: count }, () => ({ proposal: {}, receipts: [] })) as never,
      acks: [],
      stableSeq: 0,
    });
    expect(asksBack(commit(1))).toBe(true);
    expect(asksBack(commit(0))).toBe(false);
    const digest = "00".repeat(32) as Digest;
    const asking: ReadonlyArray<Message> = [
      { _tag: "Prepare", items: [], stableSeq: 0 },
      { _tag: "ReadyProbe" } as Message,
      { _tag: "SettleQuery", items: [], demandFinal: false, nonce: digest },
      { _tag: "AbortRequest", items: [] },
      { _tag: "StoredQuery", kind: "REGISTER", requestId: "r", ref: "a" },
    ];
    expect(asking.map(asksBack)).toEqual(asking.map(() => true));
    const telling: ReadonlyArray<Message> = [
      { _tag: "Votes", statements: [] },
      { _tag: "CommitAcks", statements: [] },
      { _tag: "Forwarded", requestId: "r" },
      { _tag: "StoredAnswer", requestId: "r", ref: "a", incarnation: 1, revision: 1 },
    ];
    expect(telling.map(asksBack)).toEqual(telling.map(() => false));
  });
});

describe("what this peer says to a member", () => {
  const mayA = (tag: Message["_tag"]): boolean => mayAnswer({ _tag: tag } as Message);

  it("may answer it, but for what a stranger may ask for in its name", () => {
    for (const tag of ["Votes", "CommitAcks", "Ready", "SettleAnswer", "StoredAnswer", "Prepare"] as const)
      expect(mayA(tag)).toBe(true);
    for (const tag of ["GenesisPinned", "GenesisRefused", "Promotion.Standing", "Promotion.Decided"] as const)
      expect(mayA(tag)).toBe(false);
  });
});
