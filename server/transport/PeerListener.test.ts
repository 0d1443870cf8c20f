import { randomBytes } from "node:crypto";
import { request, type Server } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import type { Message } from "../../core/Message.ts";
import { type Scrutiny, STRANGER_BYTES, TOO_MUCH } from "../../runtime/EnvelopeCodec.ts";
import { HeldAnswers } from "../../runtime/transport/HeldAnswers.ts";
import { Intake } from "../../runtime/transport/Intake.ts";
import { MailboxRoom } from "../../runtime/transport/MailboxRoom.ts";
import type { Warrant } from "../../runtime/Warrant.ts";
import { noSession } from "../../properties/cluster/Sessions.ts";
import { openGuard } from "../../properties/http/OpenGuard.ts";
import { maxEnvelopeBytes, type Outgoing } from "./Outgoing.ts";
import { MESSAGE_TYPE, MESSAGES_PATH, WARRANT_HEADER } from "./Posts.ts";
import { later } from "../peer/MachineTime.ts";
import { makePeerListener } from "./PeerListener.ts";
import { Strangers } from "./Strangers.ts";

const open: Array<Server> = [];
afterEach(() => {
  for (const server of open.splice(0)) server.close().closeAllConnections();
});

/** A warrant that this test's peer believes as it stands. */
const warrantFor = (from: number, length: number, more: Partial<Warrant> | null) => {
  const warrant = { from, to: 1, topologyDigest: undefined, length, nonce: randomBytes(32).toString("hex"), ...more };
  return more === null ? {} : { [WARRANT_HEADER]: Buffer.from(JSON.stringify(warrant)).toString("base64url") };
};
const warrantIn = (bytes: Uint8Array): Warrant => JSON.parse(Buffer.from(bytes).toString());

/** A listener whose driver keeps what it is given until it is told to consume it. The first byte names the sender. */
const listener = async () => {
  const kept: Array<() => void> = [];
  const opened: Array<Uint8Array> = [];
  const room = new MailboxRoom();
  const { server, bodyBytes } = makePeerListener(
    {
      intake: new Intake<Uint8Array, Outgoing>({
        open: (bytes) => {
          opened.push(bytes);
          return {
            from: bytes[0] ?? 0,
            versions: { lowest: 1, highest: 2 },
            message: { _tag: "Votes", statements: [] },
          };
        },
        judge: () => expect.fail("no message has a token"),
        deliver: (_opened, _actors, consumed) => void kept.push(consumed),
        unread: (_unread, consumed) => void kept.push(consumed),
        hold: () => undefined,
        backlog: () => kept.length,
        room,
      }),
      session: () => noSession("accepter"),
      warranted: (bytes) => warrantIn(bytes),
      initialized: () => true,
      answered: () => undefined,
      metrics: () => Promise.resolve(""),
      strangers: new Strangers(() => 0),
      room,
    },
    undefined,
    openGuard(),
  );
  open.push(server);
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const send = (from: number, bytes: number, more: Partial<Warrant> | null = {}): Promise<number> =>
    new Promise((resolve, reject) => {
      const headers = { "content-type": MESSAGE_TYPE, "content-length": bytes, ...warrantFor(from, bytes, more) };
      const call = request({ host: "127.0.0.1", port, path: MESSAGES_PATH, method: "POST", headers }, (response) => {
        response.resume();
        response.on("end", () => resolve(response.statusCode ?? 0));
      });
      call.on("error", reject);
      // The rest of a refused body may fail after the answer has come.
      call.on("socket", (socket) => socket.on("error", () => undefined));
      call.end(Buffer.alloc(bytes, from));
    });
  return { server, send, kept, opened, room, bodyBytes };
};

describe("messages that the driver has not consumed", () => {
  it("take their member's room although their exchanges are over, and leave the others theirs", async () => {
    const { send, kept, room, bodyBytes } = await listener();
    const large = 10 * 1024 * 1024;
    expect([await send(2, large), await send(2, large), await send(2, large)]).toEqual([204, 204, 204]);
    expect(await send(2, large)).toBe(503);
    expect(await send(3, large)).toBe(204);
    expect([kept.length, room.held]).toEqual([4, 4 * large]);
    expect(bodyBytes()).toBeGreaterThanOrEqual(4 * large);
    for (const consumed of kept.splice(0)) consumed();
    expect(room.held).toBe(0);
    expect(await send(2, large)).toBe(204);
  });
});

describe("a message of more than 64 KiB", () => {
  const stranger = STRANGER_BYTES;

  it("is read with the warrant of a member for just its length, and not without", async () => {
    const { send, kept } = await listener();
    expect(await send(2, stranger, null)).toBe(204);
    expect(await send(2, stranger + 1, null)).toBe(413);
    expect(await send(2, stranger + 1, { length: stranger + 2 })).toBe(413);
    expect(await send(2, stranger + 1)).toBe(204);
    expect(await send(2, maxEnvelopeBytes + 1)).toBe(413);
    expect(kept).toHaveLength(2);
  });

  it("takes no room when it is refused", async () => {
    const { send, bodyBytes } = await listener();
    const refused = Array.from({ length: 4 }, () => send(2, 4 * 1024 * 1024, null));
    expect(await Promise.all(refused)).toEqual([413, 413, 413, 413]);
    expect(bodyBytes()).toBe(0);
  });
});

describe("the body of a message", () => {
  it("keeps no piece in which it came, each of which would cost more than its bytes", async () => {
    const { server, send, opened } = await listener();
    server.on("request", (incoming) => incoming.on("data", (piece: Uint8Array) => void piece.fill(0)));
    const large = 1024 * 1024;
    expect(await send(2, large)).toBe(204);
    expect(opened.map((each) => Buffer.compare(each, Buffer.alloc(large, 2)))).toEqual([0]);
  });
});

/** A listener behind which a peer says `answer` to the sender while it takes a message in; an empty body is refused. */
const answering = async (message: Message, { backlog = 0, isSilent = false } = {}) => {
  const held = new HeldAnswers<Outgoing>({ later, elapsedMillis: () => performance.now() });
  const room = new MailboxRoom();
  const guard = openGuard();
  let shown = 0;
  guard.prove = () => void (shown += 1);
  let delivered = 0;
  const packet = Uint8Array.of(1, 2, 3);
  const answer: Outgoing = { packet, bytes: 3, lane: "round", isAnswer: true, warrant: undefined, signed: undefined };
  const intake = new Intake<Uint8Array, Outgoing>({
    open: (bytes) => (bytes.length === 1 ? "wrong" : { from: 2, versions: undefined, message }),
    judge: () => expect.fail("no message has a token"),
    deliver: () => {
      delivered += 1;
      if (!isSilent) held.use(2, answer);
    },
    unread: () => undefined,
    hold: (from, exchange) => held.hold(from, exchange),
    backlog: () => backlog,
    room,
  });
  const endpoint = {
    intake,
    session: () => noSession("accepter"),
    warranted: () => undefined,
    initialized: () => true,
    answered: () => undefined,
    metrics: () => Promise.resolve(""),
    strangers: new Strangers(() => 0),
    room,
  };
  const { server } = makePeerListener(endpoint, undefined, guard);
  open.push(server);
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const send = async (bytes: number, warrant?: string) => {
    const headers = { "content-type": MESSAGE_TYPE, ...(warrant === undefined ? {} : { [WARRANT_HEADER]: warrant }) };
    const url = `http://127.0.0.1:${port}${MESSAGES_PATH}`;
    const response = await fetch(url, { method: "POST", headers, body: new Uint8Array(bytes) });
    return [response.status, new Uint8Array(await response.arrayBuffer())] as const;
  };
  return { send, answer, endpoint, held, counts: () => [shown, delivered] };
};

describe("a message that is taken in", () => {
  it("and asks for one back is answered elsewhere: a stranger may have sent a copy of it", async () => {
    const { send, held, answer, counts } = await answering({ _tag: "AbortRequest", items: [] }, { isSilent: true });
    expect(await send(8)).toEqual([204, new Uint8Array(0)]);
    expect(held.use(2, answer)).toBe(false);
    expect(counts()).toEqual([0, 1]);
  });

  it("and asks for none is answered with nothing, at once", async () => {
    const { send, counts } = await answering({ _tag: "Votes", statements: [] });
    expect(await send(8)).toEqual([204, new Uint8Array(0)]);
    expect(counts()).toEqual([0, 1]);
  });

  it("shows nobody at the other end, and one that is refused goes nowhere", async () => {
    const { send, counts } = await answering({ _tag: "Votes", statements: [] });
    expect((await send(8))[0]).toBe(204);
    expect((await send(1))[0]).toBe(400);
    expect(counts()).toEqual([0, 1]);
  });
});

describe("a peer with too many events waiting", () => {
  it("takes in neither messages nor answers, and keeps no room for these", async () => {
    const { send, endpoint, counts } = await answering({ _tag: "Votes", statements: [] }, { backlog: 4096 });
    expect((await send(8))[0]).toBe(503);
    const parcel = endpoint.room.parcel(2);
    parcel.grow(8);
    endpoint.intake.receiveAnswer(new Uint8Array(8), parcel, undefined, undefined);
    expect([counts(), endpoint.room.held]).toEqual([[0, 0], 0]);
  });

  it("takes both in with one event fewer", async () => {
    const { send, endpoint, counts } = await answering({ _tag: "Votes", statements: [] }, { backlog: 4095 });
    expect((await send(8))[0]).toBe(204);
    endpoint.intake.receiveAnswer(new Uint8Array(8), endpoint.room.parcel(2), undefined, undefined);
    expect(counts()).toEqual([0, 2]);
  });
});

describe("what nothing vouches for", () => {
  /** A peer to which all is a stranger's, and that looks into so much of it. */
  const worn = async (most: number) => {
    const asked: Array<string> = [];
    const looked: Array<number> = [];
    let spent = 0;
    const strangers = {
      of: (who: string, isProven: boolean): Scrutiny => {
        asked.push(`${who} ${isProven}`);
        return {
          mayVerify: () => spent < most,
          unvouched: () => void (spent += 1),
          mayJudge: () => true,
        };
      },
    };
    const { endpoint, send } = await answering({ _tag: "Votes", statements: [] });
    const intake = new Intake<Uint8Array, Outgoing>({
      open: (bytes, _member, scrutiny) => {
        if (scrutiny?.mayVerify() === false) return TOO_MUCH;
        looked.push(bytes.length);
        scrutiny?.unvouched(1);
        return "wrong";
      },
      judge: () => expect.fail("it is no message"),
      deliver: () => expect.fail("it is no message"),
      unread: () => expect.fail("it is no message"),
      hold: () => undefined,
      backlog: () => 0,
      room: endpoint.room,
    });
    const warranted = (bytes: Uint8Array): undefined => void looked.push(bytes.length);
    Object.assign(endpoint, { intake, strangers, warranted });
    return { asked, looked, send };
  };

  it("is looked into as long as its address has some left, and then is to come later", async () => {
    const { asked, looked, send } = await worn(2);
    const answers = [];
    for (let times = 0; times < 4; times++) answers.push((await send(8))[0]);
    expect(answers).toEqual([400, 400, 503, 503]);
    expect([looked, new Set(asked)]).toEqual([[8, 8], new Set(["127.0.0.1 false"])]);
  });

  it("has its warrants looked into no further, though a member's may be among them", async () => {
    const { looked, send } = await worn(2);
    const warrant = Buffer.alloc(9).toString("base64url");
    for (let times = 0; times < 3; times++) expect((await send(STRANGER_BYTES + 1, warrant))[0]).toBe(413);
    expect(looked).toEqual([9, 9]);
    expect((await send(8))[0]).toBe(503);
  });
});
