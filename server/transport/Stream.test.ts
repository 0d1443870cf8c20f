import { connect, type Socket } from "node:net";
import { createServer, type Server } from "node:http";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { encode } from "../../core/codec/CborWriter.ts";
import type { Message } from "../../core/Message.ts";
import { Cluster } from "../../properties/cluster/Cluster.ts";
import { noSession, type Ports, sessionPorts } from "../../properties/cluster/Sessions.ts";
import { openGuard } from "../../properties/http/OpenGuard.ts";
import { STRANGER_BYTES } from "../../runtime/EnvelopeCodec.ts";
import { frameHeader, type FrameHeader } from "../../runtime/transport/Frames.ts";
import { HeldAnswers } from "../../runtime/transport/HeldAnswers.ts";
import { Intake } from "../../runtime/transport/Intake.ts";
import type { DropReason } from "../../runtime/transport/Link.ts";
import { MailboxRoom } from "../../runtime/transport/MailboxRoom.ts";
import { helloCodec, Session } from "../../runtime/transport/Session.ts";
import { later } from "../peer/MachineTime.ts";
import { MOST_GREETED } from "./Greetings.ts";
import type { Outgoing } from "./Outgoing.ts";
import { PeerLink } from "./PeerLink.ts";
import { makePeerListener } from "./PeerListener.ts";
import { STREAM_PATH, STREAM_PROTOCOL } from "./PeerStreams.ts";
import { Strangers } from "./Strangers.ts";

const tls = { rejectUnauthorized: true, minVersion: "TLSv1.3" } as const;
const open: Array<{ readonly close: () => unknown }> = [];
afterEach(() => {
  for (const each of open.splice(0)) each.close();
});

const cluster = new Cluster(2);
beforeAll(() => cluster.pass(3_000));

const listening = async (server: Server): Promise<number> => {
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
};

const outgoing = (text: string): Outgoing => ({
  packet: Buffer.from(text),
  bytes: text.length,
  lane: "round",
  isAnswer: true,
  warrant: undefined,
  signed: undefined,
});

/** A real listener that takes every text but `wrong`, and answers those that ask as the test says. */
const receiver = async (
  answerTo: (text: string) => string | undefined = () => undefined,
  session = (): Session<Uint8Array> => noSession("accepter"),
  backlog = (): number => 0,
) => {
  const held = new HeldAnswers<Outgoing>({ later, elapsedMillis: () => performance.now() });
  const room = new MailboxRoom();
  const guard = openGuard();
  const taken: Array<string> = [];
  const statuses: Array<number> = [];
  /** Of each message, whom its session has shown. */
  const members: Array<number | undefined> = [];
  const asking: Message = { _tag: "AbortRequest", items: [] };
  const silent: Message = { _tag: "Votes", statements: [] };
  let last = "";
  const intake = new Intake<Uint8Array, Outgoing>({
    open: (bytes, member) => {
      members.push(member);
      last = Buffer.from(bytes).toString();
      const message = answerTo(last) === undefined ? silent : asking;
      return last === "wrong" || last === "" ? "wrong" : { from: 2, versions: undefined, message };
    },
    judge: () => expect.fail("no message has a token"),
    deliver: (_opened, _actors, consumed) => {
      taken.push(last);
      const answer = answerTo(last);
      if (answer !== undefined) held.use(2, outgoing(answer));
      consumed();
    },
    unread: () => undefined,
    hold: (from, exchange) => held.hold(from, exchange),
    backlog,
    room,
  });
  const answered = (status: number): void => void statuses.push(status);
  const metrics = (): Promise<string> => Promise.resolve("");
  const strangers = new Strangers(() => performance.now());
  const warranted = (): undefined => undefined;
  const endpoint = { intake, session, warranted, initialized: () => true, answered, metrics, room, strangers };
  const { server, bodyBytes } = makePeerListener(endpoint, undefined, guard);
  open.push({ close: () => (guard.closeAll(), server.close()) });
  return { port: await listening(server), guard, taken, statuses, members, bodyBytes };
};

const linkTo = (port: number, session = (): Session<Uint8Array> => noSession("opener")) => {
  const dropped: Array<DropReason> = [];
  const ways: Array<string | undefined> = [];
  const answers: Array<string> = [];
  const room = new MailboxRoom();
  const link = new PeerLink({
    peerId: 2,
    session,
    url: `http://127.0.0.1:${port}`,
    tls,
    dropped: (reason) => void dropped.push(reason),
    ended: (why) => void ways.push(why),
    received: (envelope, parcel, member) => {
      answers.push(`${Buffer.from(envelope).toString()} of ${member}`);
      parcel.release();
    },
    parcel: () => room.parcel(2),
    timeoutMillis: 1_000,
  });
  open.push(link);
  return { link, dropped, ways, answers, room, send: (text: string) => link.send(outgoing(text)) };
};

describe("a stream to another peer", () => {
  it("takes all messages in order on one connection, and brings no answers without a session", async () => {
    const { port, guard, taken, statuses } = await receiver((text) => (text === "ask" ? "an answer" : undefined));
    const { link, dropped, answers, room, send } = linkTo(port);
    for (const text of ["1", "2", "ask", "3"]) send(text);
    await vi.waitFor(() => expect(taken).toEqual(["1", "2", "ask", "3"]));
    for (let count = 4; count < 40; count++) send(String(count));
    await vi.waitFor(() => expect(taken).toHaveLength(40));
    expect(taken.slice(4)).toEqual(Array.from({ length: 36 }, (_, index) => String(index + 4)));
    expect([guard.open, link.isReachable, dropped, room.held]).toEqual([1, true, [], 0]);
    expect([answers, new Set(statuses)]).toEqual([[], new Set([204])]);
  });

  it("proves no connection by a signed message, of which anybody may have a copy, and goes on after one that is refused", async () => {
    const { port, guard, taken } = await receiver();
    const proven = vi.spyOn(guard, "prove");
    const { dropped, ways, send } = linkTo(port);
    send("wrong");
    await vi.waitFor(() => expect(dropped).toEqual(["refused"]));
    send("right");
    await vi.waitFor(() => expect(taken).toEqual(["right"]));
    expect([proven.mock.calls.length, guard.open, ways]).toEqual([0, 1, [undefined, undefined]]);
  });

  it("is opened again when it was cut", async () => {
    const { port, guard, taken } = await receiver();
    const { dropped, send } = linkTo(port);
    send("before");
    await vi.waitFor(() => expect(taken).toEqual(["before"]));
    guard.closeAll();
    send("after");
    await vi.waitFor(() => expect(taken).toEqual(["before", "after"]));
    expect(dropped).toEqual([]);
  });

  it("makes way for one with other certificates, once nothing on it is under way", async () => {
    const { port, guard, taken } = await receiver();
    const { link, dropped, send } = linkTo(port);
    send("1");
    await vi.waitFor(() => expect(link.isReachable).toBe(true));
    send("2");
    link.renew(tls);
    send("3");
    await vi.waitFor(() => expect(taken.toSorted()).toEqual(["1", "2", "3"]));
    await vi.waitFor(() => expect(guard.open).toBe(1));
    expect(dropped).toEqual([]);
  });

  it("that was asked for with certificates that have gone carries what waited for it, and ends", async () => {
    let streams = 0;
    const { port, guard, taken } = await receiver(undefined, () => ((streams += 1), noSession("accepter")));
    const { link, dropped, send } = linkTo(port);
    send("1");
    link.renew({ ...tls });
    send("2");
    await vi.waitFor(() => expect(taken).toEqual(["1", "2"]));
    await vi.waitFor(() => expect(guard.open).toBe(0));
    send("3");
    await vi.waitFor(() => expect(taken).toEqual(["1", "2", "3"]));
    expect([streams, dropped]).toEqual([2, []]);
  });

  it("leaves large messages, which need a warrant, to requests", async () => {
    const { port, statuses } = await receiver();
    const { dropped, send } = linkTo(port);
    send("s".repeat(STRANGER_BYTES));
    await vi.waitFor(() => expect(statuses).toEqual([204]));
    send("l".repeat(STRANGER_BYTES + 1));
    await vi.waitFor(() => expect([statuses, dropped]).toEqual([[204, 413], ["refused"]]));
  });
});

it("goes on after a message that only its signature makes too large for it", async () => {
  const { port, taken } = await receiver();
  const { link, dropped, ways, send } = linkTo(port);
  send("1");
  link.send({ ...outgoing("large"), signed: () => Buffer.alloc(STRANGER_BYTES + 1) });
  send("2");
  await vi.waitFor(() => expect([taken.at(-1), dropped]).toEqual(["2", ["refused"]]));
  expect(new Set(ways)).toEqual(new Set([undefined]));
});

/** The ends of both members' sessions; each may be sealed. */
const members = () => {
  const sealed = new Set<number>();
  const portsOf = (peerId: number): Ports => {
    const ports = sessionPorts(cluster, peerId);
    return { ...ports, signer: () => (sealed.has(peerId) ? undefined : ports.signer()) };
  };
  const opener = (): Session<Uint8Array> => new Session("opener", portsOf(1));
  const accepter = (): Session<Uint8Array> => new Session("accepter", portsOf(2));
  return { sealed, opener, accepter };
};

describe("a session on a stream", () => {
  it("vouches for what is sent once it is open, and brings answers back", async () => {
    const { opener, accepter } = members();
    const to = await receiver((text) => (text === "ask" ? "an answer" : undefined), accepter);
    const proven = vi.spyOn(to.guard, "prove");
    const { link, dropped, answers, send } = linkTo(to.port, opener);
    send("signed");
    await vi.waitFor(() => expect(link.isInSession).toBe(true));
    for (const text of ["1", "ask", "2"]) link.send({ ...outgoing(text), signed: () => expect.fail("no need") });
    await vi.waitFor(() => expect(to.taken).toEqual(["signed", "1", "ask", "2"]));
    await vi.waitFor(() => expect(answers).toEqual(["an answer of 2"]));
    expect([to.members, dropped, to.guard.open]).toEqual([[undefined, 1, 1, 1], [], 1]);
    expect(proven).toHaveBeenCalled();
  });

  it("ends when either member is sealed: what it says then is signed, or not said", async () => {
    for (const peerId of [1, 2]) {
      const { sealed, opener, accepter } = members();
      const to = await receiver(undefined, accepter);
      const { link, send } = linkTo(to.port, opener);
      send("first");
      await vi.waitFor(() => expect([link.isInSession, link.isReachable]).toEqual([true, true]));
      sealed.add(peerId);
      // The end that is not sealed finds out by what it sends first, which goes again on a new stream.
      link.send({ ...outgoing("plain"), signed: () => Buffer.from("with a signature") });
      await vi.waitFor(() => expect(to.taken).toEqual(["first", "with a signature"]), 5_000);
      link.send({ ...outgoing("unsaid"), signed: () => undefined });
      send("last");
      await vi.waitFor(() => expect(to.taken.at(-1)).toBe("last"));
      expect(to.taken).not.toContain("unsaid");
    }
  });

  it("is asked for again once the other member can have one", async () => {
    const { sealed, opener, accepter } = members();
    sealed.add(2);
    const to = await receiver(undefined, accepter);
    const { link, send } = linkTo(to.port, opener);
    send("declined");
    await vi.waitFor(() => expect(to.taken).toEqual(["declined"]));
    sealed.delete(2);
    await vi.waitFor(() => {
      send("again");
      expect(link.isInSession).toBe(true);
    }, 3_000);
    expect(to.guard.open).toBe(1);
  });
});

describe("a session with a peer that takes nothing in now", () => {
  it("outlives what is refused meanwhile", async () => {
    const { opener, accepter } = members();
    let [waiting, streams] = [0, 0];
    const counted = (): Session<Uint8Array> => ((streams += 1), accepter());
    const to = await receiver(undefined, counted, () => waiting);
    const { link, dropped, send } = linkTo(to.port, opener);
    send("first");
    await vi.waitFor(() => expect(link.isInSession).toBe(true));
    waiting = 4096;
    for (const text of ["2", "3"]) send(text);
    await vi.waitFor(() => expect(dropped).toEqual(["refused", "refused"]));
    waiting = 0;
    send("last");
    await vi.waitFor(() => expect(to.taken).toEqual(["first", "last"]));
    expect([link.isInSession, streams, to.bodyBytes()]).toEqual([true, 1, 0]);
  });
});

/** What a stranger gets that turns a connection into a stream and sends these bytes. */
const stranger = async (port: number, headers: string, bytes: Uint8Array) => {
  const socket: Socket = connect(port, "127.0.0.1");
  let text = "";
  socket.on("data", (chunk: Uint8Array) => void (text += Buffer.from(chunk).toString("latin1")));
  socket.on("error", () => undefined);
  open.push({ close: () => socket.destroy() });
  socket.write(`${headers}\r\nhost: peer\r\nconnection: Upgrade\r\n\r\n`);
  socket.write(bytes);
  await new Promise((resolve) => void socket.on("close", resolve));
  return text;
};

const good = `GET ${STREAM_PATH} HTTP/1.1\r\nupgrade: ${STREAM_PROTOCOL}`;
const frame = (header: FrameHeader): Uint8Array => Buffer.concat([frameHeader(header), new Uint8Array(header.length)]);

describe("a stranger's stream", () => {
  it("ends with the first frame that may not come", async () => {
    const { port, taken, statuses, bodyBytes } = await receiver();
    const bad: ReadonlyArray<FrameHeader> = [
      { kind: 2, exchange: 1, length: 0 },
      { kind: 1, exchange: 2, length: 1 },
      { kind: 1, exchange: 1, length: STRANGER_BYTES + 1 },
      { kind: 9, exchange: 1, length: 40 },
      { kind: 5, exchange: 1, length: 0 },
      { kind: 5, exchange: 0, length: 1025 },
      { kind: 7, exchange: 0, length: 0 },
    ];
    for (const header of bad) {
      const text = await stranger(port, good, frame(header));
      expect(text).toMatch(/^HTTP\/1\.1 101 /u);
      expect(text).toMatch(/\r\n\r\n$/u);
    }
    expect([taken, statuses, bodyBytes()]).toEqual([[], Array.from(bad, () => 400), 0]);
  });

  it("begins few sessions that nobody proves, and members have theirs", async () => {
    const { opener, accepter } = members();
    let welcomes = 0;
    const to = await receiver(undefined, () => {
      const session = accepter();
      const welcome = session.welcome.bind(session);
      session.welcome = (hello) => ((welcomes += 1), welcome(hello));
      return session;
    });
    const hello = opener().hello(2);
    if (hello === undefined) throw new Error("a member says hello");
    const body = encode(helloCodec, hello);
    const one = Buffer.concat([frameHeader({ kind: 5, exchange: 0, length: body.length }), body]);
    const bad = frame({ kind: 2, exchange: 1, length: 0 });
    await stranger(to.port, good, Buffer.concat([...Array.from({ length: 500 }, () => one), bad]));
    expect(welcomes).toBeGreaterThanOrEqual(MOST_GREETED);
    expect(welcomes).toBeLessThan(2 * MOST_GREETED);
    const { link, send } = linkTo(to.port, opener);
    await vi.waitFor(() => {
      send("message");
      expect(link.isInSession).toBe(true);
    }, 3_000);
  });

  it("is no stream under another path, protocol or method", async () => {
    const { port } = await receiver();
    const other = [
      `GET /metrics HTTP/1.1\r\nupgrade: ${STREAM_PROTOCOL}`,
      `GET ${STREAM_PATH} HTTP/1.1\r\nupgrade: websocket`,
      `POST ${STREAM_PATH} HTTP/1.1\r\nupgrade: ${STREAM_PROTOCOL}`,
    ];
    for (const headers of other) expect(await stranger(port, headers, new Uint8Array(0))).toMatch(/^HTTP\/1\.1 404 /u);
  });
});

describe("a peer that speaks no such stream", () => {
  it("is told of in words, and what was under way is lost", async () => {
    const server = createServer();
    server.on("upgrade", (_request, socket) => {
      socket.write(`HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: ${STREAM_PROTOCOL}\r\n\r\n`);
      socket.write(frameHeader({ kind: 2, exchange: 9, length: 0 }));
      open.push({ close: () => socket.destroy() });
    });
    open.push({ close: () => server.close() });
    const { dropped, ways, send } = linkTo(await listening(server));
    send("lost");
    await vi.waitFor(() => expect(dropped).toEqual(["unreachable"]));
    expect(ways).toEqual(["what it sends is no stream of messages: exchange 9 is not under way; look at its version"]);
  });

  it("that says nothing is given up", async () => {
    const server = createServer();
    server.on("upgrade", (_request, socket) => {
      socket.write(`HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: ${STREAM_PROTOCOL}\r\n\r\n`);
      open.push({ close: () => socket.destroy() });
    });
    open.push({ close: () => server.close() });
    const { dropped, ways, send } = linkTo(await listening(server));
    send("lost");
    await vi.waitFor(() => expect(dropped).toEqual(["unreachable"]), 3_000);
    expect(ways).toEqual(["no answer within 1 s; check the address and the firewall"]);
  });
});
