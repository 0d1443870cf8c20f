import { type ClientRequest, createServer, request, type Server } from "node:http";
import { connect } from "node:net";
import { setTimeout } from "node:timers/promises";
import { Effect, Either } from "effect";
import { afterEach, describe, expect, it } from "vitest";
import { BodyBudget } from "../../runtime/BodyBudget.ts";
import type { HttpFault } from "./HttpErrors.ts";
import { type BodyLimits, readBody } from "./RequestBody.ts";

const servers: Array<Server> = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
});

interface Sent {
  readonly headers?: Readonly<Record<string, string>>;
  readonly chunks?: ReadonlyArray<string>;
  /** Between the chunks, and before the end. */
  readonly pauseMillis?: number;
  /** Leave the body unfinished. */
  readonly open?: boolean;
  /** Break the connection after the first chunk. */
  readonly broken?: boolean;
  /** Write over every chunk once it has been seen. */
  readonly overwritten?: boolean;
}

const writeSlowly = async (call: ClientRequest, chunks: ReadonlyArray<string>, pauseMillis: number): Promise<void> => {
  for (const chunk of chunks) {
    call.write(chunk);
    await setTimeout(pauseMillis);
  }
  call.end();
};

/** The result of `readBody` for a request. */
const read = (limits: BodyLimits, { headers = {}, chunks = [], open, broken, pauseMillis, overwritten }: Sent) =>
  new Promise<Either.Either<string, HttpFault>>((resolve) => {
    const server = createServer((incoming, response) => {
      const reading = readBody(incoming, limits).pipe(
        Effect.map((body) => Buffer.from(body).toString()),
        Effect.scoped,
        Effect.either,
      );
      void Effect.runPromise(reading).then((result) => {
        response.end();
        resolve(result);
      });
      if (overwritten === true) incoming.on("data", (chunk: Uint8Array) => void chunk.fill(0));
    });
    servers.push(server);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      const call = request({
        port,
        host: "127.0.0.1",
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
      });
      call.on("error", () => undefined);
      call.on("response", (response) => response.resume());
      if (open === true && chunks.length === 0) call.flushHeaders();
      if (pauseMillis !== undefined) return void writeSlowly(call, chunks, pauseMillis);
      for (const chunk of chunks) call.write(chunk);
      if (broken === true)
        call.once("socket", (socket) => socket.once("connect", () => setImmediate(() => call.destroy())));
      else if (open !== true) call.end();
    });
  });

const room = (all: number): BodyBudget => new BodyBudget({ all, ofActor: all, ofAddress: all });
const limits = (more: Partial<BodyLimits> = {}): BodyLimits => ({
  budget: room(100),
  maxBytes: 10,
  timeoutMillis: 5_000,
  ...more,
});
const code = (result: Either.Either<string, HttpFault>): string | undefined =>
  Either.isLeft(result) ? result.left.code : undefined;

describe("a request body", () => {
  it("arrives whole, in however many chunks, and gives its bytes back", async () => {
    const own = limits();
    expect(await read(own, { chunks: ["01234", "56789"] })).toEqual(Either.right("0123456789"));
    expect(await read(own, { chunks: ["{}"], headers: { "content-length": "2" } })).toEqual(Either.right("{}"));
    expect(await read(own, {})).toEqual(Either.right(""));
    expect(own.budget.held).toBe(0);
  });

  it("keeps no chunk, each of which would cost more than its bytes", async () => {
    const sent = { chunks: [..."0123456789"], overwritten: true };
    expect(await read(limits(), sent)).toEqual(Either.right("0123456789"));
  });

  it("is refused one byte past the limit, declared or not", async () => {
    const own = limits();
    expect(code(await read(own, { chunks: ["01234", "567890"] }))).toBe("BODY_TOO_LARGE");
    expect(code(await read(own, { headers: { "content-length": "11" }, open: true }))).toBe("BODY_TOO_LARGE");
    expect(own.budget.held).toBe(0);
  });

  it("is refused when what has come does not fit into the budget", async () => {
    const budget = room(20);
    budget.open({ actor: "other", address: "other" }).take(12);
    expect(code(await read(limits({ budget }), { chunks: ["012345678"] }))).toBe("BODY_CAPACITY");
    const declared = { headers: { "content-length": "9" }, chunks: ["012345678"] };
    expect(code(await read(limits({ budget }), declared))).toBe("BODY_CAPACITY");
    expect(await read(limits({ budget }), { chunks: ["01234567"] })).toEqual(Either.right("01234567"));
    expect(budget.held).toBe(12);
  });

  it("takes no room by being declared", async () => {
    const budget = room(10);
    const silent = { headers: { "content-length": "10" }, open: true };
    const declared = [1, 2, 3].map(() => read(limits({ budget, timeoutMillis: 300 }), silent));
    expect(await read(limits({ budget }), { chunks: ["0123456789"] })).toEqual(Either.right("0123456789"));
    expect((await Promise.all(declared)).map(code)).toEqual(Array.from({ length: 3 }, () => "REQUEST_TIMEOUT"));
  });

  it("is refused by name when its actor, or its address, has all it may", async () => {
    const budget = new BodyBudget({ all: 100, ofActor: 5, ofAddress: 8 });
    const details = async (actor: string, text: string) => {
      const result = await read(limits({ budget, actor }), { chunks: [text] });
      return Either.isLeft(result) ? result.left.detail : result.right;
    };
    expect(await details("a", "012345")).toMatch(/of this token's subject/);
    const other = budget.open({ actor: "b", address: "127.0.0.1" });
    other.take(4);
    expect(await details("a", "01234")).toMatch(/from this address/);
    other.close();
    expect(await details("a", "01234")).toBe("01234");
  });

  it("is refused when it only trickles, and takes its time when it keeps the pace", async () => {
    const pace = { leastMillis: 150, bytesPerSecond: 10 };
    const trickling = { chunks: ["0"], open: true, headers: { "content-length": "10" } };
    const own = limits({ timeoutMillis: 60_000, pace });
    expect(code(await read(own, trickling))).toBe("REQUEST_TIMEOUT");
    const steady = { chunks: ["01234", "56789"], pauseMillis: 200 };
    expect(await read(own, steady)).toEqual(Either.right("0123456789"));
  });

  it("is refused when it does not come to an end in time, or the caller leaves", async () => {
    const own = limits({ timeoutMillis: 20 });
    expect(code(await read(own, { chunks: ["0"], open: true }))).toBe("REQUEST_TIMEOUT");
    expect(code(await read(own, { headers: { "content-length": "5" }, open: true }))).toBe("REQUEST_TIMEOUT");
    expect(code(await read(limits(), { chunks: ["0"], broken: true }))).toBe("REQUEST_TIMEOUT");
    expect(own.budget.held).toBe(0);
  });
});

it("a body is given back when its connection ends in the middle, although that was answered", async () => {
  const ended = new Promise<number>((resolve) => {
    const server = createServer((incoming, response) => {
      server.once("clientError", () => void response.writeHead(400, { connection: "close" }).end());
      const startedAt = performance.now();
      const reading = Effect.either(Effect.scoped(readBody(incoming, limits())));
      void Effect.runPromise(reading).then(() => resolve(performance.now() - startedAt));
    });
    servers.push(server);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      const socket = connect(typeof address === "object" && address !== null ? address.port : 0, "127.0.0.1");
      socket.on("error", () => undefined).resume();
      const head = ["POST / HTTP/1.1", "host: a", "content-type: application/json", "content-length: 9"];
      socket.end([...head, "", "1234"].join("\r\n"));
    });
  });
  // Long before a body of its length is too late.
  expect(await ended).toBeLessThan(2_500);
});
