import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { AnswerRoom, STRANGERS } from "./AnswerRoom.ts";

/** Far more than connections buffer by themselves, so that an answer stays until it is read. */
const LENGTH = 16 * 1024 * 1024;

const closing: Array<() => void> = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** A server of answers that are as long as said, each for the caller that its path names. */
const served = async (room: AnswerRoom) => {
  const statuses: Array<number> = [];
  const server = createServer((request, response) => {
    const caller = request.url === "/stranger" ? STRANGERS : (request.url ?? "");
    const status = room.take(caller, LENGTH, request.socket, response) ? 200 : 503;
    statuses.push(status);
    response.writeHead(status).end(status === 200 ? Buffer.alloc(LENGTH) : "");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closing.push(
    () => void server.close(),
    () => server.closeAllConnections(),
  );
  const { port } = server.address() as AddressInfo;
  /** Asks for so many answers, over a connection of its own, and reads none. */
  const ask = async (path: string, times: number, localAddress = "127.0.0.1"): Promise<Socket> => {
    const before = statuses.length;
    const socket = connect({ port, host: "127.0.0.1", localAddress });
    socket.pause();
    socket.on("error", () => undefined);
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(times));
    closing.push(() => void socket.destroy());
    await expect.poll(() => statuses.length).toBe(before + times);
    return socket;
  };
  return { statuses, ask };
};

describe("room for answers", () => {
  it("ends with what one caller may have unread, however many connections it has", async () => {
    const room = new AnswerRoom({ all: 10 * LENGTH, ofActor: 3 * LENGTH, ofAddress: 10 * LENGTH });
    const { statuses, ask } = await served(room);
    await ask("/a", 2);
    await ask("/a", 2);
    expect(statuses).toEqual([200, 200, 200, 503]);
    await ask("/b", 1);
    expect(statuses.at(-1)).toBe(200);
    expect(room.held).toBe(4 * LENGTH);
  });

  it.each([
    ["one address", { all: 10 * LENGTH, ofActor: 10 * LENGTH, ofAddress: LENGTH }],
    ["all", { all: LENGTH, ofActor: 10 * LENGTH, ofAddress: 10 * LENGTH }],
  ])("ends with what %s may have unread", async (_whose, bounds) => {
    const { statuses, ask } = await served(new AnswerRoom(bounds));
    await ask("/a", 1);
    await ask("/b", 1);
    expect(statuses).toEqual([200, 503]);
  });

  it("ends for strangers of one address with what these have unread, for nobody else", async () => {
    const bounds = { all: LENGTH, ofActor: LENGTH, ofAddress: LENGTH };
    const room = new AnswerRoom(bounds, { all: 3 * LENGTH, ofActor: 3 * LENGTH, ofAddress: 2 * LENGTH });
    const { statuses, ask } = await served(room);
    await ask("/stranger", 3, "127.0.0.9");
    await ask("/stranger", 1);
    await ask("/a", 1, "127.0.0.9");
    expect(statuses).toEqual([200, 200, 503, 200, 200]);
    expect(room.held).toBe(4 * LENGTH);
  });

  it("is given back by reading", async () => {
    const room = new AnswerRoom({ all: 3 * LENGTH, ofActor: 3 * LENGTH, ofAddress: 3 * LENGTH });
    const { ask } = await served(room);
    const socket = await ask("/a", 3);
    expect(room.held).toBe(3 * LENGTH);
    socket.resume();
    await expect.poll(() => room.held, { timeout: 5_000 }).toBe(0);
  });

  it("is given back with the connection, for the answers that wait behind others too", async () => {
    const room = new AnswerRoom({ all: 3 * LENGTH, ofActor: 3 * LENGTH, ofAddress: 3 * LENGTH });
    const { statuses, ask } = await served(room);
    (await ask("/a", 3)).destroy();
    await expect.poll(() => room.held).toBe(0);
    await ask("/a", 3);
    expect(statuses).toEqual([200, 200, 200, 200, 200, 200]);
  });
});
