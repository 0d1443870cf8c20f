import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Either } from "effect";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { maxKeySetBytes } from "./KeyDocument.ts";
import { fileKeySource, urlKeySource } from "./KeySource.ts";

let server: Server;
let base: string;
let answer: RequestListener = (_request, response) => response.end();
const asked: Array<string | undefined> = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    asked.push(request.url);
    answer(request, response);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address() as AddressInfo | null;
  base = `http://127.0.0.1:${address?.port}`;
});

afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => {
    server.close(resolve);
  });
});

const fault = async (path = "/keys", timeoutMillis?: number): Promise<string> =>
  Either.getOrThrow(Either.flip(await urlKeySource(`${base}${path}`, timeoutMillis)()));

describe("urlKeySource", () => {
  it("gets the body", async () => {
    answer = (request, response) => response.end(`${request.method} ${request.headers.accept}`);
    const body = Either.getOrThrow(await urlKeySource(`${base}/keys?a=b`)());
    expect(Buffer.from(body).toString()).toBe("GET application/jwk-set+json, application/json");
    expect(asked.at(-1)).toBe("/keys?a=b");
  });

  it.each([301, 302, 303, 307, 308])("does not follow a redirect with status %i", async (status) => {
    answer = (_request, response) => response.writeHead(status, { location: `${base}/elsewhere` }).end();
    expect(await fault()).toMatch(/redirect/);
    expect(asked.at(-1)).toBe("/keys");
  });

  it.each([201, 204, 404, 500])("refuses status %i", async (status) => {
    answer = (_request, response) => response.writeHead(status).end();
    expect(await fault()).toBe(`answered with status ${status}; check the issuer`);
  });

  it("takes 256 KiB and not a byte more, said beforehand or not", async () => {
    answer = (_request, response) => response.end(Buffer.alloc(maxKeySetBytes));
    expect(Either.getOrThrow(await urlKeySource(base)()).length).toBe(maxKeySetBytes);
    answer = (_request, response) => response.end(Buffer.alloc(maxKeySetBytes + 1));
    expect(await fault()).toMatch(/more than 262144 bytes/);
    answer = (_request, response) => {
      for (let part = 0; part < 100; part += 1) response.write(Buffer.alloc(64 * 1024));
      // Never ended: the reader must leave by itself.
    };
    expect(await fault()).toMatch(/more than 262144 bytes/);
  });

  it("waits neither for headers nor for a body that do not come", async () => {
    answer = () => undefined;
    expect(await fault("/keys", 50)).toMatch(/no answer within 50 ms/);
    answer = (_request, response) => {
      response.write("{");
    };
    expect(await fault("/keys", 50)).toMatch(/no answer within 50 ms/);
  });

  it.each([
    [200, /more than 262144 bytes/],
    [302, /redirect/],
    [404, /status 404/],
  ])("hangs up on an answer of status %i without end", async (status, why) => {
    let written = 0;
    answer = (_request, response) => {
      response.writeHead(status);
      const pour = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(64 * 1024))) written += 1;
      };
      response.on("drain", pour);
      pour();
    };
    expect(await fault()).toMatch(why);
    const open = () => new Promise<number>((done) => server.getConnections((_none, count) => done(count)));
    await vi.waitFor(async () => expect(await open()).toBe(0));
    expect(written).toBeLessThan(1_000);
  });

  it("says so when the connection breaks or cannot be made", async () => {
    answer = (request) => request.socket.destroy();
    expect(await fault()).toMatch(/^cannot be reached \(ECONNRESET\); check/);
    expect(Either.isLeft(await urlKeySource("http://127.0.0.1:1/")())).toBe(true);
  });
});

describe("fileKeySource", () => {
  it("names what is wrong with the file", async () => {
    expect(Either.getOrThrow(Either.flip(await fileKeySource("/nonexistent/jwks.json")()))).toMatch(/does not exist/);
    expect(Either.getOrThrow(Either.flip(await fileKeySource("/dev/zero")()))).toMatch(/regular file/);
  });
});
