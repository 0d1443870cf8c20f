import { describe, expect, it } from "vitest";
import { Escape, isolated, unisolated } from "../sim/base/Isolation.ts";
import { runSeed } from "../sim/run/Simulation.ts";
import type { Tampering } from "../sim/world/Tampering.ts";

const reaches: ReadonlyArray<readonly [string, () => unknown]> = [
  ["Date.now", () => Date.now()],
  ["new Date", () => new Date()],
  ["Date", () => Date()],
  ["Math.random", () => Math.random()],
  ["performance.now", () => performance.now()],
  ["crypto.getRandomValues", () => crypto.getRandomValues(new Uint8Array(1))],
  ["crypto.randomUUID", () => crypto.randomUUID()],
  ["setTimeout", () => setTimeout(() => undefined, 0)],
  ["setInterval", () => setInterval(() => undefined, 1)],
  ["setImmediate", () => setImmediate(() => undefined)],
  ["queueMicrotask", () => queueMicrotask(() => undefined)],
  ["fetch", () => fetch("http://127.0.0.1:9")],
  ["process.hrtime", () => process.hrtime()],
];

describe.each(reaches)("%s", (what, reach) => {
  it("throws at the call from inside a run, wherever in it", () => {
    const seen: Array<unknown> = [];
    const options = { seed: 1, schedule: "calm", peers: 1, steps: 20, crypto: "fast" } as const;
    const reaching = <A>(answer: A): A => {
      try {
        reach();
      } catch (fault) {
        seen.push(fault);
        throw fault;
      }
      return answer;
    };
    // In the world, and in a step of the core: through a port that it calls.
    const found = (tampering: Tampering) => runSeed(options, { tampering }).violation;
    const escaped = { id: "E1", message: expect.stringContaining(`Escape: ${what} was used`) };
    expect(found({ judged: (_world, _peer, check) => reaching(check) })).toMatchObject(escaped);
    const tampering = {
      cryptography: (honest: Parameters<NonNullable<Tampering["cryptography"]>>[0]) => ({
        ...honest,
        crypto: {
          ...honest.crypto,
          isPublicKey: () => reaching(true),
          sha256: (bytes: Uint8Array) => reaching(honest.crypto.sha256(bytes)),
        },
      }),
    };
    expect(found(tampering)).toMatchObject(escaped);
    expect(seen.length).toBe(2);
    expect(seen.every((fault) => fault instanceof Escape)).toBe(true);
  });
});

const failing = (): never => {
  throw new RangeError("of its own");
};

it("gives everything back, after a failure too", () => {
  const holders = [globalThis, Math, Date, performance, crypto, process];
  const names = holders.map((holder) => Object.getOwnPropertyNames(holder));
  const { Date: clock, setTimeout: timer } = globalThis;
  expect(() => isolated(failing)).toThrow("of its own");
  expect(isolated(() => isolated(() => 1) + 1)).toBe(2);
  expect(holders.map((holder) => Object.getOwnPropertyNames(holder))).toEqual(names);
  expect([globalThis.Date, globalThis.setTimeout]).toEqual([clock, timer]);
  expect(Date.now()).toBeGreaterThan(0);
  expect(Math.random()).toBeLessThan(1);
});

it("lets one call out that changes no result, and nothing after it", () => {
  isolated(() => {
    expect(unisolated(() => crypto.getRandomValues(new Uint8Array(2)).length)).toBe(2);
    expect(() => unisolated(() => failing())).toThrow("of its own");
    expect(() => crypto.getRandomValues(new Uint8Array(2))).toThrow(Escape);
  });
});

it("lets a date of a given moment be", () => {
  expect(isolated(() => new Date(0).toISOString())).toBe("1970-01-01T00:00:00.000Z");
});
