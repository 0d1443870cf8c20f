import { Cause, Effect, Exit, Fiber } from "effect";
import { describe, expect, it } from "vitest";
import { LongReads } from "./LongReads.ts";

/** Every look at this clock finds another slice gone, so that each step is a slice. */
const ticking = () => {
  let now = 0;
  return () => (now += 1);
};

/** Reads whose steps are written down, so that whoever waits for whom can be counted instead of timed. */
class Watched {
  readonly steps: Array<string> = [];
  readonly reads: LongReads;

  constructor(...args: ConstructorParameters<typeof LongReads>) {
    this.reads = new LongReads(...args);
  }

  *work(name: string, steps: number): Generator<undefined, string> {
    for (let step = 1; step < steps; step += 1) {
      this.steps.push(name);
      yield;
    }
    this.steps.push(name);
    return name;
  }

  start(caller: string, name: string, steps: number) {
    return Effect.runFork(this.reads.run(caller, this.work(name, steps)));
  }
}

const ended = (...fibers: ReadonlyArray<Fiber.RuntimeFiber<unknown, unknown>>) =>
  Promise.all(fibers.map((fiber) => Effect.runPromise(Fiber.await(fiber))));
const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => void setImmediate(resolve));
};

describe("a long read", () => {
  it("waits for one slice of a caller with twenty of them, however long they are", async () => {
    const watched = new Watched(ticking());
    const costly = Array.from({ length: 20 }, (_, at) => watched.start("greedy", `greedy-${at}`, 100));
    await turns(5);
    const before = watched.steps.length;
    await ended(watched.start("modest", "modest", 1));
    expect(before).toBeGreaterThan(0);
    expect(watched.steps.slice(before).indexOf("modest")).toBeLessThanOrEqual(1);
    await ended(...costly);
    // Of one caller, each is ended before the next begins.
    const order = watched.steps.filter((name) => name !== "modest");
    expect(order).toEqual(costly.flatMap((_, at) => Array.from({ length: 100 }, () => `greedy-${at}`)));
  });

  it("takes turns with those of others, slice by slice", async () => {
    const watched = new Watched(ticking());
    await ended(watched.start("a", "a", 4), watched.start("b", "b", 2), watched.start("c", "c", 3));
    expect(watched.steps.join("")).toBe("abcabcaca");
  });

  it("leaves the thread to others between slices, and goes on within one", async () => {
    let now = 0;
    const watched = new Watched(() => now);
    const fiber = watched.start("a", "a", 100);
    await turns(2);
    // No time has passed: all of it is one slice.
    expect(watched.steps.length).toBe(100);
    await ended(fiber);

    const slow = new Watched(() => (now += 0.25));
    const sliced = slow.start("b", "b", 100);
    await turns(2);
    expect(slow.steps.length).toBeGreaterThan(1);
    expect(slow.steps.length).toBeLessThan(20);
    await ended(sliced);
    expect(slow.steps.length).toBe(100);
  });

  it("is given up with its caller, whether it waits or is under way", async () => {
    const watched = new Watched(ticking());
    const [first, second, third] = ["first", "second", "third"].map((name) => watched.start("a", name, 1_000));
    await turns(3);
    for (const gone of [second, first]) if (gone !== undefined) await Effect.runPromise(Fiber.interrupt(gone));
    const at = watched.steps.length;
    await turns(3);
    expect(new Set(watched.steps.slice(at))).toEqual(new Set(["third"]));
    if (third !== undefined) await Effect.runPromise(Fiber.interrupt(third));
    const end = watched.steps.length;
    await turns(3);
    expect(watched.steps.length).toBe(end);
  });

  it("that throws ends alone", async () => {
    const watched = new Watched(ticking());
    const lost: Iterator<undefined, string> = {
      next: () => {
        throw new Error("the disk is gone");
      },
    };
    const failing = Effect.runFork(watched.reads.run("a", lost));
    const [thrown, other, own] = await ended(failing, watched.start("b", "b", 3), watched.start("a", "a", 3));
    expect(thrown !== undefined && Exit.isFailure(thrown) && Cause.isDie(thrown.cause)).toBe(true);
    expect([other, own]).toEqual([Exit.succeed("b"), Exit.succeed("a")]);
  });
});

describe("where there is no room", () => {
  const codeOf = (exit: Exit.Exit<unknown, unknown> | undefined): unknown =>
    exit !== undefined && Exit.isFailure(exit) && exit.cause._tag === "Fail"
      ? Reflect.get(Object(exit.cause.error), "code")
      : "answered";

  it("a caller is refused more, and others are not", async () => {
    const watched = new Watched(ticking(), { callers: 3, ofCaller: 2 });
    const waiting = [watched.start("a", "a1", 50), watched.start("a", "a2", 50)];
    const [refused] = await ended(watched.start("a", "a3", 1));
    expect(codeOf(refused)).toBe("REQUEST_CAPACITY");
    expect((await ended(watched.start("b", "b", 1))).map(codeOf)).toEqual(["answered"]);
    expect((await ended(...waiting)).map(codeOf)).toEqual(["answered", "answered"]);
    expect((await ended(watched.start("a", "a4", 1))).map(codeOf)).toEqual(["answered"]);
  });

  it("one caller too many is refused, and those who are there are not", async () => {
    const watched = new Watched(ticking(), { callers: 2, ofCaller: 2 });
    const there = ["a", "b"].map((caller) => watched.start(caller, caller, 50));
    expect((await ended(watched.start("c", "c", 1))).map(codeOf)).toEqual(["REQUEST_CAPACITY"]);
    const again = watched.start("a", "a2", 1);
    expect((await ended(...there, again)).map(codeOf)).toEqual(["answered", "answered", "answered"]);
    expect((await ended(watched.start("c", "c2", 1))).map(codeOf)).toEqual(["answered"]);
  });
});
