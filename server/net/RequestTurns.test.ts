import { Duplex } from "node:stream";
import type { IncomingMessage, ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { RequestTurns } from "./RequestTurns.ts";

/** The event loop, turned by hand. */
class Loop {
  #next: Array<() => void> = [];
  readonly later = (go: () => void): void => void this.#next.push(go);

  get isIdle(): boolean {
    return this.#next.length === 0;
  }

  turn(): void {
    for (const go of this.#next.splice(0)) go();
  }

  run(): void {
    while (!this.isIdle) this.turn();
  }
}

const connection = (remoteAddress: string) => Object.assign(new Duplex(), { remoteAddress });

class Watched {
  readonly loop = new Loop();
  readonly begun: Array<string> = [];
  readonly #turns = new RequestTurns(this.loop.later);

  /** Requests of one connection, at once. */
  ask(name: string, socket: Duplex, count: number): ReadonlyArray<{ destroyed: boolean }> {
    return Array.from({ length: count }, () => {
      const response = { destroyed: false };
      this.#turns.take({ socket } as IncomingMessage, response as ServerResponse, () => this.begun.push(name));
      return response;
    });
  }
}

describe("requests", () => {
  it("begin at once while there are few", () => {
    const watched = new Watched();
    watched.ask("a", connection("192.0.2.1"), 1);
    watched.ask("b", connection("192.0.2.2"), 1);
    expect(watched.begun).toEqual(["a", "b"]);
    watched.loop.run();
    expect(watched.begun).toEqual(["a", "b"]);
    expect(watched.loop.isIdle).toBe(true);
  });

  it("of one host wait for one of each other host, however many connections these came by", () => {
    const watched = new Watched();
    for (let each = 0; each < 250; each += 1) watched.ask("greedy", connection("192.0.2.1"), 31);
    watched.ask("modest", connection("192.0.2.2"), 3);
    const before = watched.begun.length;
    watched.loop.run();
    expect(before).toBeLessThanOrEqual(8);
    expect(watched.begun.indexOf("modest")).toBeLessThanOrEqual(before + 1);
    expect(watched.begun.lastIndexOf("modest")).toBeLessThanOrEqual(before + 6);
    expect(watched.begun.filter((name) => name === "greedy")).toHaveLength(250 * 31);
  });

  it("of one connection wait for one of each other connection of its host, in their order", () => {
    const watched = new Watched();
    watched.ask("filler", connection("192.0.2.9"), 8);
    const [first, second] = [connection("192.0.2.1"), connection("192.0.2.1")];
    for (const name of ["a1", "a2", "a3"]) watched.ask(name, first, 1);
    watched.ask("b1", second, 1);
    watched.loop.run();
    expect(watched.begun.slice(8)).toEqual(["a1", "b1", "a2", "a3"]);
  });

  it("begin a few in each turn of the loop", () => {
    const watched = new Watched();
    watched.ask("a", connection("192.0.2.1"), 20);
    const begun: Array<number> = [watched.begun.length];
    while (!watched.loop.isIdle) {
      watched.loop.turn();
      begun.push(watched.begun.length);
    }
    expect(begun).toEqual([8, 16, 20, 20]);
  });

  it("of connections that are gone do not begin, and cost nobody a turn", () => {
    const watched = new Watched();
    const gone = connection("192.0.2.1");
    const left = connection("192.0.2.2");
    watched.ask("filler", connection("192.0.2.9"), 8);
    watched.ask("gone", gone, 5);
    const [cancelled] = watched.ask("cancelled", left, 1);
    watched.ask("stays", left, 1);
    gone.destroy();
    if (cancelled !== undefined) cancelled.destroyed = true;
    watched.loop.turn();
    expect(watched.begun.slice(8)).toEqual(["stays"]);
    watched.loop.run();
    expect(watched.begun).toHaveLength(9);
  });
});
