import { beforeEach, describe, expect, it } from "vitest";
import type { Lane } from "../../core/protocol/Lane.ts";
import { type DropReason, type Exchange, Link } from "./Link.ts";

interface Note {
  readonly text: string;
  readonly lane: Lane;
  readonly bytes: number;
}

const limits = { connections: 2, roundConnections: 1, queuedMessages: 2, queuedBytes: 100 };
let underWay: Array<Exchange<Note>>;
let sent: Array<string>;
let dropped: Array<DropReason>;
let link: Link<Note>;

beforeEach(() => {
  underWay = [];
  sent = [];
  dropped = [];
  const transmit = (exchange: Exchange<Note>): void => {
    underWay.push(exchange);
    sent.push(exchange.message.text);
  };
  link = new Link({ transmit, dropped: (reason) => void dropped.push(reason) }, limits);
});

const send = (text: string, lane: Lane = "round", bytes = 1): void => link.send({ text, lane, bytes });
const end = (how: Parameters<Exchange<Note>["end"]>[0] = "taken"): void => underWay.shift()?.end(how);

describe("a link", () => {
  it("has so many messages under way, and sends the next when one is over, be it lost", () => {
    for (const text of ["1", "2", "3", "4"]) send(text);
    expect(sent).toEqual(["1", "2"]);
    end();
    end("unreachable");
    expect([sent, dropped, link.isReachable]).toEqual([["1", "2", "3", "4"], ["unreachable"], false]);
    end("refused");
    expect([dropped, link.isReachable]).toEqual([["unreachable", "refused"], true]);
  });

  it("drops the oldest of a round and the newest of bulk when too many wait, and no other", () => {
    for (const text of ["1", "2", "3", "4", "5"]) send(text);
    expect(dropped).toEqual(["queue full"]);
    for (const text of ["a", "b", "c"]) send(text, "bulk");
    expect(dropped).toEqual(["queue full", "queue full"]);
    for (let count = 0; count < 6; count++) end();
    expect(sent).toEqual(["1", "2", "4", "5", "a", "b"]);
  });

  it("bounds the bytes that wait", () => {
    for (const text of ["1", "2", "3"]) send(text, "round", 60);
    expect(dropped).toEqual([]);
    send("4", "round", 60);
    expect(dropped).toEqual(["queue full"]);
    end();
    end();
    expect(sent).toEqual(["1", "2", "4"]);
  });

  it("keeps a way free for rounds", () => {
    for (const text of ["a", "b"]) send(text, "bulk");
    send("1");
    expect(sent).toEqual(["a", "1"]);
    end();
    expect(sent).toEqual(["a", "1", "b"]);
  });

  it("tries a message again where its connection was stale, once", () => {
    send("1");
    end("stale");
    expect([sent, dropped, underWay[0]?.isAgain]).toEqual([["1", "1"], [], true]);
    end("stale");
    expect([sent, dropped]).toEqual([["1", "1"], ["unreachable"]]);
  });

  it("ends an exchange once, whatever is told of it afterwards", () => {
    for (const text of ["1", "2", "3", "4"]) send(text);
    const [first] = underWay;
    first?.end("taken");
    first?.end("unreachable");
    expect([sent, dropped]).toEqual([["1", "2", "3"], []]);
  });

  it("sends nothing after it was closed, and tells of nothing", () => {
    for (const text of ["1", "2", "3"]) send(text);
    link.close();
    end();
    end("unreachable");
    send("4");
    expect([sent, dropped]).toEqual([["1", "2"], []]);
  });
});
