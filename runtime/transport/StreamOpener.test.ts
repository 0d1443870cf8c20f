import { describe, expect, it } from "vitest";
import { kinds } from "./Frames.ts";
import { Exchange, type ExchangeEnd, Link } from "./Link.ts";
import type { Sendable } from "./Outbox.ts";
import { StreamOpener } from "./StreamOpener.ts";

const message: Sendable = { lane: "round", bytes: 1 };

const opener = () => {
  const ends: Array<ExchangeEnd> = [];
  const written: Array<number> = [];
  let silences = 0;
  let now = 0;
  let due: { readonly run: () => void; readonly at: number } | undefined;
  class Told extends Link<Sendable> {
    override ended(_exchange: Exchange<Sendable>, how: ExchangeEnd): void {
      ends.push(how);
    }
  }
  const link = new Told({ transmit: () => undefined, dropped: () => undefined });
  const stream = new StreamOpener<Sendable>(
    {
      write: (exchange) => void written.push(exchange),
      silent: () => void (silences += 1),
      time: {
        elapsedMillis: () => now,
        later: (run, afterMillis) => {
          due = { run, at: now + afterMillis };
          return () => void (due = undefined);
        },
      },
    },
    100,
  );
  const pass = (millis: number): void => {
    now += millis;
    if (due === undefined || due.at > now) return;
    const { run } = due;
    due = undefined;
    run();
  };
  const transmit = (): void => stream.transmit(new Exchange(link, message, false));
  return { stream, ends, written, transmit, pass, silences: () => silences };
};

describe("the end of a stream at which messages enter", () => {
  it("ends each exchange with what comes back for it, in any order, once", () => {
    const { stream, ends, written, transmit } = opener();
    for (let count = 0; count < 3; count++) transmit();
    expect(written).toEqual([1, 2, 3]);
    stream.ended(3, true);
    stream.ended(1, false);
    stream.ended(1, true);
    expect([ends, stream.underWay]).toEqual([["taken", "refused"], 1]);
  });

  it("takes only what may come back", () => {
    const { stream, transmit } = opener();
    transmit();
    const fault = (kind: number, exchange: number, length: number) => stream.faultOf({ kind, exchange, length }, 10);
    expect(fault(kinds.taken, 1, 0)).toBeUndefined();
    expect(fault(kinds.refused, 1, 0)).toBeUndefined();
    expect(fault(kinds.answer, 1, 10)).toBeUndefined();
    expect(fault(kinds.answer, 1, 11)).toBe("a frame of kind 3 has 11 bytes");
    expect(fault(kinds.taken, 1, 1)).toBe("a frame of kind 2 has 1 bytes");
    expect(fault(kinds.taken, 2, 0)).toBe("exchange 2 is not under way");
    expect(fault(kinds.message, 1, 0)).toBe("no frame is of kind 1");
    stream.ended(1, true);
    expect(fault(kinds.taken, 1, 0)).toBe("exchange 1 is not under way");
  });

  it("that breaks while it is fresh, or in the middle of an exchange, reaches nobody", () => {
    const fresh = opener();
    fresh.transmit();
    fresh.stream.broken(false);
    const amidst = opener();
    for (let count = 0; count < 3; count++) amidst.transmit();
    amidst.stream.ended(1, true);
    amidst.stream.broken(false);
    expect([fresh.ends, amidst.ends]).toEqual([["unreachable"], ["taken", "unreachable", "unreachable"]]);
  });

  it("that was closed while nothing used it is stale, unless it was only silent", () => {
    for (const isSilent of [false, true]) {
      const { stream, ends, transmit } = opener();
      transmit();
      stream.ended(1, true);
      transmit();
      transmit();
      stream.broken(isSilent);
      const how = isSilent ? "unreachable" : "stale";
      expect(ends).toEqual(["taken", how, how]);
    }
  });

  it("waits for its oldest exchange as long as anything comes back, four times at most", () => {
    const { stream, transmit, pass, silences } = opener();
    for (let count = 0; count < 6; count++) transmit();
    for (const exchange of [2, 3, 4, 5]) {
      pass(80);
      stream.ended(exchange, true);
    }
    pass(79);
    stream.heard();
    expect(silences(), "after 399").toBe(0);
    pass(1);
    expect(silences()).toBe(1);
    const slow = opener();
    for (let count = 0; count < 10; count++) slow.transmit();
    for (let exchange = 1; exchange < 10; exchange++) {
      slow.pass(35);
      slow.stream.ended(exchange, true);
    }
    slow.pass(84);
    expect([slow.silences(), slow.stream.underWay], "a slow line").toEqual([0, 1]);
  });

  it("is given up when its oldest exchange did not end in time, and not before", () => {
    const { stream, transmit, pass, silences } = opener();
    transmit();
    pass(60);
    transmit();
    stream.ended(1, true);
    pass(60);
    expect(silences()).toBe(0);
    pass(39);
    expect(silences()).toBe(0);
    pass(1);
    expect(silences()).toBe(1);
  });

  it("looks at no clock when nothing is under way", () => {
    const { stream, transmit, pass, silences } = opener();
    transmit();
    stream.ended(1, true);
    pass(100);
    pass(1_000);
    transmit();
    pass(99);
    expect(silences()).toBe(0);
    stream.broken(false);
    pass(1_000);
    expect(silences()).toBe(0);
  });
});
