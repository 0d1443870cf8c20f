import { createServer, request, type Server } from "node:http";
import { Effect, Either } from "effect";
import { afterEach, describe, expect, it } from "vitest";
import { ByteBudget } from "./ByteBudget.ts";
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
  /** Leave the body unfinished. */
  readonly open?: boolean;
  /** Break the connection after the first chunk. */
  readonly broken?: boolean;
}

/** What `readBody` makes of a request. */
const read = (limits: BodyLimits, { headers = {}, chunks = [], open, broken }: Sent) =>
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
      for (const chunk of chunks) call.write(chunk);
      if (broken === true)
        call.once("socket", (socket) => socket.once("connect", () => setImmediate(() => call.destroy())));
      else if (open !== true) call.end();
    });
  });

const limits = (more: Partial<BodyLimits> = {}): BodyLimits => ({
  budget: new ByteBudget(100),
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

  it("is refused one byte past the limit, declared or not", async () => {
    const own = limits();
    expect(code(await read(own, { chunks: ["01234", "567890"] }))).toBe("BODY_TOO_LARGE");
    expect(code(await read(own, { headers: { "content-length": "11" }, open: true }))).toBe("BODY_TOO_LARGE");
    expect(own.budget.held).toBe(0);
  });

  it("is refused when it does not fit into the budget, declared or not", async () => {
    const budget = new ByteBudget(20);
    budget.take(12);
    expect(code(await read(limits({ budget }), { chunks: ["012345678"] }))).toBe("BODY_CAPACITY");
    expect(code(await read(limits({ budget }), { headers: { "content-length": "9" }, open: true }))).toBe(
      "BODY_CAPACITY",
    );
    expect(await read(limits({ budget }), { chunks: ["01234567"] })).toEqual(Either.right("01234567"));
    expect(budget.held).toBe(12);
  });

  it("is refused when it does not come to an end in time, or the caller leaves", async () => {
    const own = limits({ timeoutMillis: 20 });
    expect(code(await read(own, { chunks: ["0"], open: true }))).toBe("REQUEST_TIMEOUT");
    expect(code(await read(own, { headers: { "content-length": "5" }, open: true }))).toBe("REQUEST_TIMEOUT");
    expect(code(await read(limits(), { chunks: ["0"], broken: true }))).toBe("REQUEST_TIMEOUT");
    expect(own.budget.held).toBe(0);
  });
});
