import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { connect, type Socket } from "node:net";
import { connect as connectSecurely } from "node:tls";
import { afterEach, describe, expect, it, vi } from "vitest";
import { issue } from "../../properties/http/Certificates.ts";
import { openLimits } from "../../properties/http/OpenGuard.ts";
import { closeSoon } from "./CloseSoon.ts";
import { ConnectionGuard } from "./ConnectionGuard.ts";
import { type ConnectionLimits, timeoutsOf } from "./ConnectionLimits.ts";
import type { CutReason } from "./CutReport.ts";

const authority = issue("authority", undefined);
const certified = issue("peer", authority);
const keyPem = certified.key.export({ type: "pkcs8", format: "pem" });
const tls = { cert: certified.pem, key: keyPem };
const mutual = { ...tls, ca: authority.pem, requestCert: true, rejectUnauthorized: true };

const servers: Array<Server> = [];
const sockets: Array<Socket> = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const server of servers.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
});

interface Guarded {
  readonly port: number;
  readonly guard: ConnectionGuard;
  readonly cuts: Array<CutReason>;
}

const hello: RequestListener = (_request, response) => void response.end("hello");

const serve = async (
  limits: Partial<ConnectionLimits>,
  handle: (guard: ConnectionGuard) => RequestListener = () => hello,
  secure?: typeof tls,
): Promise<Guarded> => {
  const cuts: Array<CutReason> = [];
  const guard = new ConnectionGuard(
    { ...openLimits, ...limits },
    (reason) => void cuts.push(reason),
    () => performance.now(),
  );
  const options = timeoutsOf(guard.limits);
  const server = secure === undefined ? createServer(options) : createSecureServer({ ...options, ...secure });
  guard.watch(server);
  server.on("request", guard.bounded(handle(guard)));
  server.on("clientError", (_error, socket) => {
    if (guard.speaks(socket)) closeSoon(socket, "HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n");
    else socket.destroy();
  });
  servers.push(server);
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return { port: typeof address === "object" && address !== null ? address.port : 0, guard, cuts };
};

interface Caller {
  readonly socket: Socket;
  readonly closed: Promise<void>;
  readonly text: () => string;
}

/** A caller that never closes from its side, whatever the other one does. */
const call = (port: number, localAddress = "127.0.0.1"): Caller => {
  const socket = connect({ port, host: "127.0.0.1", localAddress, allowHalfOpen: true });
  sockets.push(socket);
  let text = "";
  socket.on("error", () => undefined);
  socket.on("data", (chunk) => {
    text += chunk.toString("latin1");
  });
  const closed = new Promise<void>((resolve) => {
    socket.on("close", () => resolve());
    socket.on("end", () => resolve());
  });
  return { socket, closed, text: () => text };
};

const get = "GET / HTTP/1.1\r\nhost: x\r\n\r\n";
const settled = (guard: ConnectionGuard, open: number): Promise<void> =>
  vi.waitFor(() => expect(guard.open).toBe(open), { timeout: 5_000 });

describe("a connection", () => {
  it("that never says anything is closed, though its caller keeps it", async () => {
    const { port, guard } = await serve({ headerMillis: 50, requestMillis: 100 });
    const silent = call(port);
    await settled(guard, 1);
    await silent.closed;
    await settled(guard, 0);
    expect(silent.socket.destroyed).toBe(false);
  });

  it("whose header trickles is closed", async () => {
    const { port, guard } = await serve({ headerMillis: 50, requestMillis: 100 });
    const slow = call(port);
    slow.socket.write("GET / HTTP/1.1\r\n");
    const trickle = setInterval(() => void slow.socket.write("a: b\r\n"), 10);
    await slow.closed;
    await settled(guard, 0);
    clearInterval(trickle);
  });

  it("is closed when no further request comes", async () => {
    const { port, guard } = await serve({ idleMillis: 50 });
    const idle = call(port);
    idle.socket.write(get);
    await idle.closed;
    expect(idle.text()).toMatch(/hello$/);
    await settled(guard, 0);
  });

  it("that sends what is no HTTP has a second for its last words", async () => {
    const { port, guard } = await serve({});
    const wrong = call(port);
    wrong.socket.write("nonsense\r\n\r\n");
    await wrong.closed;
    expect(wrong.text()).toMatch(/^HTTP\/1\.1 400 /);
    await settled(guard, 0);
  });

  it("may have so many requests under way, and is cut off with the next", async () => {
    let asked = 0;
    const silence: RequestListener = () => {
      asked += 1;
    };
    const { port, guard, cuts } = await serve({ requestsUnderWay: 3 }, () => silence);
    const modest = call(port);
    modest.socket.write(get.repeat(3));
    await vi.waitFor(() => expect(asked).toBe(3));
    const greedy = call(port);
    greedy.socket.write(get.repeat(1_500));
    await greedy.closed;
    expect([asked, cuts]).toEqual([6, ["tooManyRequests"]]);
    await settled(guard, 1);
  });

  it("may send as many requests as it likes one after the other", async () => {
    const { port } = await serve({ requestsUnderWay: 1 });
    const steady = call(port);
    for (let index = 1; index <= 5; index++) {
      steady.socket.write(get);
      await vi.waitFor(() => expect(steady.text().match(/hello/g)).toHaveLength(index));
    }
  });

  it("whose answers are not read is cut off, and one whose answers are is not", async () => {
    const large: RequestListener = (_request, response) => void response.end(Buffer.alloc(16 * 1024 * 1024));
    const { port, guard, cuts } = await serve({ writeMillis: 200 }, () => large);
    const reader = call(port);
    reader.socket.write(get);
    await vi.waitFor(() => expect(reader.text().length).toBeGreaterThan(16 * 1024 * 1024), { timeout: 5_000 });
    const sleeper = call(port);
    sleeper.socket.pause();
    sleeper.socket.write(get);
    await vi.waitFor(() => expect(cuts).toEqual(["slowReader"]), { timeout: 5_000 });
    await settled(guard, 1);
    expect(reader.socket.destroyed).toBe(false);
  });
});

describe("connections", () => {
  it("are at most so many, and room is again when one has gone", async () => {
    const { port, guard, cuts } = await serve({ connections: 2 });
    const [first] = [call(port), call(port)];
    await settled(guard, 2);
    const third = call(port);
    await third.closed;
    expect([guard.open, cuts]).toEqual([2, ["tooMany"]]);
    first.socket.destroy();
    await settled(guard, 1);
    const fourth = call(port);
    fourth.socket.write(get);
    await vi.waitFor(() => expect(fourth.text()).toMatch(/hello$/));
  });

  it("of one address leave room for those of others", async () => {
    const { port, guard, cuts } = await serve({ connectionsPerAddress: 2 });
    const [first] = [call(port), call(port)];
    await settled(guard, 2);
    await call(port).closed;
    expect([guard.open, cuts]).toEqual([2, ["tooManyOfOneAddress"]]);
    const other = call(port, "127.0.0.2");
    other.socket.write(get);
    await vi.waitFor(() => expect(other.text()).toMatch(/hello$/));
    first.socket.destroy();
    await settled(guard, 2);
    call(port);
    await settled(guard, 3);
  });

  it("of callers who have shown who they are do not count with those who have not, up to a number", async () => {
    const limits = { connections: 2, connectionsPerAddress: 2, provenConnections: 1 };
    const { port, guard, cuts } = await serve(limits, (own) => (request, response) => {
      own.prove(request.socket);
      own.prove(request.socket);
      response.end(String(own.isProven(request.socket)));
    });
    const known = call(port);
    known.socket.write(get);
    await vi.waitFor(() => expect(known.text()).toMatch(/true$/));
    const second = call(port);
    second.socket.write(get);
    await vi.waitFor(() => expect(second.text()).toMatch(/false$/));
    call(port);
    await settled(guard, 3);
    await call(port).closed;
    expect(cuts).toEqual(["tooMany"]);
    known.socket.destroy();
    await settled(guard, 2);
    second.socket.write(get);
    await vi.waitFor(() => expect(second.text()).toMatch(/true$/));
  });
});

describe("a listener that is full", () => {
  const host = (index: number): string => `127.0.0.${index + 2}`;
  const hosts = Array.from({ length: 8 }, (_, index) => host(index));

  it("takes one of an address that holds less, in place of an idle one of the address that holds most", async () => {
    const { port, guard, cuts } = await serve({ connections: 128, connectionsPerAddress: 16 });
    const idle = hosts.map((each) => Array.from({ length: 16 }, () => call(port, each)));
    await settled(guard, 128);
    const newcomer = call(port, host(8));
    newcomer.socket.write(get);
    await vi.waitFor(() => expect(newcomer.text()).toMatch(/hello$/), { timeout: 5_000 });
    expect([guard.open, cuts]).toEqual([128, ["tooMany"]]);
    await Promise.race(idle.flat().map(({ closed }) => closed));
  });

  it("gives up the one that has been idle for longest, and none that is being served or known", async () => {
    const held: Array<() => void> = [];
    const { port, guard, cuts } = await serve({ connections: 4 }, (own) => ({ socket, url }, response) => {
      if (url === "/known") own.prove(socket);
      if (url === "/held") held.push(() => response.end("hello"));
      else response.end("hello");
    });
    const open = async (path: string, address?: string): Promise<Caller> => {
      const caller = call(port, address);
      caller.socket.write(get.replace("/", path));
      await vi.waitFor(() => {
        if (path === "/held") expect(held.length).toBeGreaterThan(0);
        else expect(caller.text()).toMatch(/hello$/);
      });
      return caller;
    };
    const known = await open("/known");
    const served = await open("/held");
    const [first, second, third] = [await open("/"), await open("/"), await open("/")];
    first.socket.write(get);
    await vi.waitFor(() => expect(first.text().match(/hello/g)).toHaveLength(2));
    await open("/", host(0));
    await second.closed;
    await open("/", host(1));
    await third.closed;
    expect([guard.open, cuts, first.socket.destroyed]).toEqual([5, ["tooMany", "tooMany"], false]);
    // The address that holds most still holds two, as the next one would.
    await call(port, host(0)).closed;
    expect([guard.open, cuts.length]).toEqual([5, 3]);
    for (const end of held.splice(0)) end();
    await vi.waitFor(() => expect(served.text()).toMatch(/hello$/));
    known.socket.write(get);
    await vi.waitFor(() => expect(known.text().match(/hello/g)).toHaveLength(2));
  });

  it("turns newcomers away where nobody holds more, or all who do are being served", async () => {
    const asked: Array<string> = [];
    const { port, guard, cuts } = await serve(
      { connections: 3 },
      () =>
        ({ url }) =>
          void asked.push(url ?? ""),
    );
    for (let index = 0; index < 3; index++) call(port).socket.write(get);
    await vi.waitFor(() => expect(asked).toHaveLength(3));
    await call(port, host(0)).closed;
    expect([guard.open, cuts]).toEqual([3, ["tooMany"]]);
    for (const socket of sockets) socket.destroy();
    await settled(guard, 0);
    for (const each of hosts.slice(0, 3)) call(port, each);
    await settled(guard, 3);
    await call(port, host(3)).closed;
    expect([guard.open, cuts]).toEqual([3, ["tooMany", "tooMany"]]);
  });

  it("gives up one that does not read its answers", async () => {
    const held: Array<() => void> = [];
    const { port, guard, cuts } = await serve({ connections: 2, handshakeMillis: 20 }, () => ({ url }, response) => {
      if (url === "/held") held.push(() => response.end("hello"));
      else response.end(url === "/large" ? Buffer.alloc(16 * 1024 * 1024) : "hello");
    });
    const [served, sleeper] = [call(port), call(port)];
    served.socket.write(get.replace("/", "/held"));
    sleeper.socket.pause();
    sleeper.socket.write(get.replace("/", "/large"));
    await settled(guard, 2);
    await vi.waitFor(async () => {
      const newcomer = call(port, host(0));
      newcomer.socket.write(get.replace("host", "connection: close\r\nhost"));
      await newcomer.closed;
      expect(newcomer.text()).toMatch(/hello$/);
    });
    expect(new Set(cuts)).toEqual(new Set(["tooMany"]));
    for (const end of held) end();
    await vi.waitFor(() => expect(served.text()).toMatch(/hello$/));
    await settled(guard, 1);
  });

  it("lets a member in that is known only once it is", async () => {
    const { port, guard, cuts } = await serve({ connections: 4 }, () => hello, mutual);
    for (let index = 0; index < 4; index++) call(port, host(0));
    await settled(guard, 4);
    const given = { ca: authority.pem, cert: certified.pem, key: keyPem };
    const member = connectSecurely({ port, host: "127.0.0.1", ...given });
    sockets.push(member);
    const answered = new Promise((resolve) => void member.once("data", resolve));
    member.write(get);
    await answered;
    expect([guard.open, cuts]).toEqual([4, ["tooMany"]]);
  });
});

describe("a TLS port", () => {
  it("closes what never shakes hands, speaks something else, or has gone away", async () => {
    const { port, guard, cuts } = await serve({ handshakeMillis: 100 }, undefined, tls);
    const silent = call(port);
    const plain = call(port);
    plain.socket.write(get);
    await Promise.all([silent.closed, plain.closed]);
    await settled(guard, 0);
    expect(cuts).toEqual(["handshake", "handshake"]);
    for (let index = 0; index < 5; index++) call(port);
    await settled(guard, 5);
    for (const socket of sockets) socket.destroy();
    await settled(guard, 0);
  });

  it("leaves who has shaken hands alone, and closes them when they then say nothing", async () => {
    const { port, guard, cuts } = await serve(
      { handshakeMillis: 100, headerMillis: 400, requestMillis: 500 },
      undefined,
      tls,
    );
    const secured = connectSecurely({ port, host: "127.0.0.1", ca: authority.pem });
    sockets.push(secured);
    const ended = new Promise<void>((resolve) => void secured.on("end", resolve).on("error", () => undefined));
    let text = "";
    secured.on("data", (chunk: Buffer) => {
      text += chunk.toString("latin1");
    });
    secured.write(get);
    await vi.waitFor(() => expect(text).toMatch(/hello$/));
    const silent = connectSecurely({ port, host: "127.0.0.1", ca: authority.pem });
    sockets.push(silent);
    silent.on("error", () => undefined).resume();
    await settled(guard, 2);
    await settled(guard, 1);
    expect([cuts, secured.destroyed]).toEqual([[], false]);
    guard.closeAll();
    await ended;
    await settled(guard, 0);
  });

  it("takes a caller's certificate for proof", async () => {
    const own = { connections: 2, connectionsPerAddress: 2 };
    const { port, guard } = await serve(
      own,
      (each) => (request, response) => {
        response.end(String(each.isProven(request.socket)));
      },
      mutual,
    );
    for (let index = 0; index < 5; index++) {
      const member = connectSecurely({ port, host: "127.0.0.1", ca: authority.pem, cert: certified.pem, key: keyPem });
      sockets.push(member);
      const answered = new Promise<string>((resolve) => {
        member.once("data", (chunk: Buffer) => resolve(chunk.toString("latin1")));
      });
      member.write(get);
      expect(await answered).toMatch(/true$/);
    }
    expect(guard.open).toBe(5);
  });

  it("does not wait for handshakes when it closes", async () => {
    const { port, guard } = await serve({}, undefined, tls);
    const silent = call(port);
    await settled(guard, 1);
    guard.closeHandshakes();
    await silent.closed;
    await settled(guard, 0);
  });
});
