import { createServer, IncomingMessage, type RequestListener, type Server } from "node:http";
import type { Duplex } from "node:stream";
import { afterEach, describe, expect, it, vi } from "vitest";
import { noSession } from "../../properties/cluster/Sessions.ts";
import type { Lane } from "../../core/protocol/Lane.ts";
import { STRANGER_BYTES } from "../../runtime/EnvelopeCodec.ts";
import type { DropReason } from "../../runtime/transport/Link.ts";
import { MailboxRoom, type Parcel } from "../../runtime/transport/MailboxRoom.ts";
import { maxEnvelopeBytes } from "./Outgoing.ts";
import { PeerLink } from "./PeerLink.ts";
import { STREAM_PATH } from "./PeerStreams.ts";
import { MESSAGES_PATH, PROBLEM_TYPE, WARRANT_HEADER } from "./Posts.ts";

const tls = { rejectUnauthorized: true, minVersion: "TLSv1.3" } as const;
const limits = { connections: 2, roundConnections: 0, queuedMessages: 3, queuedBytes: 100 };

const open: Array<Server | PeerLink> = [];
afterEach(() => {
  vi.restoreAllMocks();
  for (const each of open.splice(0)) {
    each.close();
    if (!(each instanceof PeerLink)) each.closeAllConnections();
  }
});

/** A peer of the version before there were streams. */
const earlier = (take: RequestListener): Server =>
  createServer((request, response) => {
    if (request.url !== STREAM_PATH) return take(request, response);
    return void response.writeHead(404, { "content-type": PROBLEM_TYPE }).end();
  });

interface Received {
  readonly body: string;
  readonly warrant: unknown;
  readonly answer: (status: number) => void;
  readonly answerWith: (type: string, envelope: string) => void;
}

/** A peer API that takes messages and answers when it is told to. */
const receiver = async () => {
  const received: Array<Received> = [];
  const server = earlier((request, response) => {
    let body = "";
    request.on("data", (chunk: Uint8Array) => {
      body += Buffer.from(chunk).toString();
    });
    request.on("end", () => {
      expect([request.method, request.url, request.headers["content-type"]]).toEqual([
        "POST",
        MESSAGES_PATH,
        "application/cbor",
      ]);
      received.push({
        body,
        warrant: request.headers[WARRANT_HEADER],
        answer: (status) =>
          void response.writeHead(status, { "content-type": status < 300 ? "text/plain" : PROBLEM_TYPE }).end(),
        answerWith: (type, envelope) => void response.writeHead(200, { "content-type": type }).end(envelope),
      });
    });
  });
  open.push(server);
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return { received, url: `http://127.0.0.1:${port}` };
};

const linkTo = (url: string, change: Partial<typeof limits> = {}, timeoutMillis = 5_000) => {
  const dropped: Array<DropReason> = [];
  const ways: Array<string | undefined> = [];
  const answers: Array<string> = [];
  const parcels: Array<Parcel> = [];
  const room = new MailboxRoom();
  const link = new PeerLink({
    peerId: 2,
    session: () => noSession("opener"),
    url,
    tls,
    dropped: (reason) => void dropped.push(reason),
    ended: (why) => void ways.push(why),
    received: (envelope, parcel) => {
      answers.push(Buffer.from(envelope).toString());
      parcels.push(parcel);
    },
    parcel: () => room.parcel(2),
    limits: { ...limits, ...change },
    timeoutMillis,
  });
  open.push(link);
  const send = (text: string, lane: Lane = "round", warrant?: Uint8Array): void =>
    link.send({ packet: Buffer.from(text), bytes: text.length, lane, isAnswer: true, warrant, signed: undefined });
  return { link, dropped, ways, answers, parcels, room, send };
};

describe("the way to a peer that takes no stream", () => {
  it("uses so many connections and queues so many messages, the oldest dropped", async () => {
    const { received, url } = await receiver();
    const { link, dropped, send } = linkTo(url);
    expect(link.isReachable).toBeUndefined();
    for (const text of ["1", "2", "3", "4", "5"]) send(text);
    expect(dropped).toEqual([]);
    send("6");
    expect(dropped).toEqual(["queue full"]);
    await vi.waitFor(() => expect(received).toHaveLength(2));
    for (let index = 0; index < 5; index++) {
      await vi.waitFor(() => expect(received.length).toBeGreaterThan(index));
      received[index]?.answer(204);
    }
    await vi.waitFor(() => expect(link.isReachable).toBe(true));
    expect(received.map(({ body }) => body).toSorted()).toEqual(["1", "2", "4", "5", "6"]);
  });

  it("keeps no chunk of an answer, each of which would cost more than its bytes", async () => {
    const server = earlier((request, response) => {
      request.resume();
      response.writeHead(200, { "content-type": "application/cbor" });
      for (const byte of "a vote") response.write(byte);
      response.end();
    });
    open.push(server);
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const { answers, send } = linkTo(`http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`);
    // Every chunk is written over once it has been seen.
    const emit = IncomingMessage.prototype.emit;
    vi.spyOn(IncomingMessage.prototype, "emit").mockImplementation(function (
      this: IncomingMessage,
      event: string | symbol,
      ...values: ReadonlyArray<unknown>
    ) {
      const isHeard = emit.call(this, event, ...values);
      if (event === "data" && values[0] instanceof Uint8Array) values[0].fill(0);
      return isHeard;
    });
    send("1");
    await vi.waitFor(() => expect(answers).toEqual(["a vote"]));
  });

  it("outlives a peer that refuses a long message at its beginning and hangs up", async () => {
    const server = createServer((request, response) => {
      request.on("error", () => undefined);
      response.writeHead(413, { connection: "close" }).end();
      setImmediate(() => request.socket.destroy());
    });
    open.push(server);
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const { dropped, send } = linkTo(`http://127.0.0.1:${port}`, { queuedBytes: 64 * 1024 * 1024 });
    for (let count = 1; count <= 20; count++) {
      send("x".repeat(8 * 1024 * 1024));
      await vi.waitFor(() => expect(dropped.length).toBe(count));
    }
    expect(dropped.every((reason) => reason === "refused" || reason === "unreachable")).toBe(true);
  });

  it("keeps room for a round beside any number of other messages, of which the newest are dropped", async () => {
    const { received, url } = await receiver();
    const { dropped, send } = linkTo(url, { roundConnections: 1 });
    for (const text of ["a", "b", "c", "d", "e"]) send(text, "bulk");
    expect(dropped).toEqual(["queue full"]);
    send("probe");
    send("vote");
    expect(dropped).toEqual(["queue full"]);
    await vi.waitFor(() => expect(received.map(({ body }) => body).toSorted()).toEqual(["a", "probe"]));
    for (let index = 0; index < 6; index++) {
      await vi.waitFor(() => expect(received.length).toBeGreaterThan(index));
      received[index]?.answer(204);
    }
    expect(received.map(({ body }) => body).toSorted()).toEqual(["a", "b", "c", "d", "probe", "vote"]);
    expect(received[2]?.body).toBe("vote");
  });

  it("takes no answer that there is no room for until what came before is consumed", async () => {
    const { received, url } = await receiver();
    const { dropped, answers, parcels, room, send } = linkTo(url, { connections: 3 });
    const envelope = "v".repeat(12 * 1024 * 1024);
    for (const text of ["1", "2", "3"]) send(text);
    for (const index of [0, 1, 2]) {
      await vi.waitFor(() => expect(received.length).toBeGreaterThan(index));
      received[index]?.answerWith("application/cbor", envelope);
      await vi.waitFor(() => expect(answers.length + dropped.length).toBeGreaterThan(index));
    }
    expect([answers.length, dropped]).toEqual([2, ["no room"]]);
    await vi.waitFor(() => expect(room.held).toBe(2 * envelope.length));
    for (const { release } of parcels) release();
    expect(room.held).toBe(0);
  });

  it("takes an envelope that comes back as the answer, and only an envelope", async () => {
    const { received, url } = await receiver();
    const { dropped, answers, send } = linkTo(url);
    send("1");
    send("2");
    await vi.waitFor(() => expect(received).toHaveLength(2));
    received[0]?.answerWith("application/cbor", "a vote");
    received[1]?.answerWith("text/html", "a page");
    await vi.waitFor(() => expect(answers).toEqual(["a vote"]));
    await vi.waitFor(() => expect(dropped).toEqual(["refused"]));
  });

  it("bounds the bytes that wait", async () => {
    const { url } = await receiver();
    const { dropped, send } = linkTo(url);
    send("under way");
    send("under way");
    send("a".repeat(100));
    expect(dropped).toHaveLength(0);
    send("b");
    expect(dropped).toEqual(["queue full"]);
  });

  it("sends a warrant with the message it is for, and with no other", async () => {
    const { received, url } = await receiver();
    const { send } = linkTo(url, { connections: 1, queuedBytes: 2 * STRANGER_BYTES });
    send("small");
    const large = "l".repeat(STRANGER_BYTES + 1);
    send(large, "round", Uint8Array.of(251, 255));
    await vi.waitFor(() => expect(received).toHaveLength(1));
    received[0]?.answer(204);
    await vi.waitFor(() => expect(received).toHaveLength(2));
    expect(received.map(({ body, warrant }) => [body, warrant])).toEqual([
      ["small", undefined],
      [large, "-_8"],
    ]);
  });

  it("takes no answer that is longer than a message may be", async () => {
    const { received, url } = await receiver();
    const { dropped, answers, room, send } = linkTo(url);
    send("1");
    await vi.waitFor(() => expect(received).toHaveLength(1));
    received[0]?.answerWith("application/cbor", "a".repeat(maxEnvelopeBytes + 1));
    await vi.waitFor(() => expect(dropped).toContain("no room"));
    await vi.waitFor(() => expect(room.held).toBe(0));
    expect(answers.length).toBe(0);
  });

  it("counts a refusal and goes on, and says when no peer refuses", async () => {
    const { received, url } = await receiver();
    const { link, dropped, ways, send } = linkTo(url, { connections: 1 });
    const html = (): void => received[0]?.answerWith("text/html", "a page");
    for (const [index, answer] of [html, 404, 400, 204].entries()) {
      send("a message");
      await vi.waitFor(() => expect(received).toHaveLength(index + 1));
      if (typeof answer === "number") received[index]?.answer(answer);
      else answer();
      await vi.waitFor(() => expect(ways).toHaveLength(index + 1));
    }
    await vi.waitFor(() => expect(dropped).toEqual(["refused", "refused", "refused"]));
    const stranger = (status: number) =>
      `it answers ${status} as no peer API does; correct its address in cluster.peers`;
    expect(ways).toEqual([stranger(200), stranger(404), undefined, undefined]);
    expect(link.isReachable).toBe(true);
  });

  it("loses a message to a peer that is down, and does not repeat it", async () => {
    const { dropped, link, ways, send } = linkTo("http://127.0.0.1:1");
    send("lost");
    await vi.waitFor(() => expect(dropped).toEqual(["unreachable"]));
    expect(ways).toEqual(["nothing listens there; start it, or correct the address"]);
    expect(link.isReachable).toBe(false);
  });

  it("says that no answer came in time", async () => {
    const { url } = await receiver();
    const { dropped, ways, send } = linkTo(url, {}, 50);
    send("lost");
    await vi.waitFor(() => expect(dropped).toEqual(["unreachable"]));
    expect(ways).toEqual(["no answer within 0.05 s; check the address and the firewall"]);
  });

  it("sends nothing after it was closed", async () => {
    const { received, url } = await receiver();
    const { dropped, link, send } = linkTo(url);
    link.close();
    send("late");
    expect([received, dropped]).toEqual([[], []]);
  });
});

/** A peer API that answers the first message of a connection, and does with later ones what the test says. */
const fickle = async (later: (request: IncomingMessage) => void) => {
  const bodies: Array<string> = [];
  const seen = new WeakSet<Duplex>();
  const waiting: Array<() => void> = [];
  const server = earlier((request, response) => {
    let body = "";
    request.on("data", (chunk: Uint8Array) => {
      body += Buffer.from(chunk).toString();
    });
    request.on("end", () => {
      bodies.push(body);
      if (seen.has(request.socket)) return later(request);
      seen.add(request.socket);
      waiting.push(() => void response.writeHead(204).end());
    });
  });
  open.push(server);
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const answer = async (count: number): Promise<void> => {
    await vi.waitFor(() => expect(waiting).toHaveLength(count));
    for (const each of waiting.splice(0)) each();
  };
  return { bodies, answer, url: `http://127.0.0.1:${port}` };
};

const closing = ({ socket }: IncomingMessage): void => void socket.destroy();

describe("an idle connection", () => {
  it("that the other side closed just as it was used is tried again on another, once", async () => {
    const { bodies, answer, url } = await fickle(closing);
    const { dropped, link, send } = linkTo(url, { connections: 1 });
    send("first");
    await answer(1);
    await vi.waitFor(() => expect(link.isReachable).toBe(true));
    send("again");
    await answer(1);
    expect(bodies).toEqual(["first", "again", "again"]);
    send("next");
    await answer(1);
    expect([bodies.slice(3), dropped]).toEqual([["next", "next"], []]);
  });

  it("is not tried a third time", async () => {
    const { bodies, answer, url } = await fickle(closing);
    const { dropped, link, send } = linkTo(url);
    send("one");
    send("other");
    await answer(2);
    await vi.waitFor(() => expect(link.isReachable).toBe(true));
    // Both are idle, and both will be closed.
    await new Promise((resolve) => void setImmediate(resolve));
    send("lost");
    await vi.waitFor(() => expect(dropped).toEqual(["unreachable"]));
    expect(bodies.filter((body) => body === "lost")).toHaveLength(2);
  });

  it("is not tried again when the other side took the message and said nothing", async () => {
    const { bodies, answer, url } = await fickle(() => undefined);
    const { dropped, link, send } = linkTo(url, { connections: 1 }, 200);
    send("first");
    await answer(1);
    await vi.waitFor(() => expect(link.isReachable).toBe(true));
    send("unanswered");
    await vi.waitFor(() => expect(dropped).toEqual(["unreachable"]));
    expect([bodies, link.isReachable]).toEqual([["first", "unanswered"], false]);
  });
});

describe("a new connection", () => {
  it("that breaks is not tried again", async () => {
    const { received, url } = await receiver();
    const { dropped, send } = linkTo(url);
    send("lost");
    await vi.waitFor(() => expect(received).toHaveLength(1));
    for (const each of open) if (!(each instanceof PeerLink)) each.closeAllConnections();
    await vi.waitFor(() => expect(dropped).toEqual(["unreachable"]));
    expect(received).toHaveLength(1);
  });
});
