import { request, type Server } from "node:http";
import { Either } from "effect";
import { afterEach, describe, expect, it } from "vitest";
import { openGuard } from "../../properties/http/OpenGuard.ts";
import { MailboxRoom } from "./MailboxRoom.ts";
import { MESSAGE_TYPE, MESSAGES_PATH } from "./PeerLink.ts";
import { makePeerListener } from "./PeerListener.ts";

const open: Array<Server> = [];
afterEach(() => {
  for (const server of open.splice(0)) server.close().closeAllConnections();
});

/** A listener whose driver keeps what it is given until it is told to consume it. The first byte names the sender. */
const listener = async () => {
  const kept: Array<() => void> = [];
  const room = new MailboxRoom();
  const { server, bodyBytes } = makePeerListener(
    {
      open: (bytes) => Either.right({ from: bytes[0] ?? 0, message: { _tag: "Votes", statements: [] } }),
      deliver: (_opened, _actors, consumed) => void kept.push(consumed),
      hold: () => undefined,
      backlog: () => kept.length,
      initialized: () => true,
      check: () => Promise.resolve({ _tag: "Unavailable" }),
      answered: () => undefined,
      metrics: () => "",
      room,
    },
    undefined,
    openGuard(),
  );
  open.push(server);
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const send = (from: number, bytes: number): Promise<number> =>
    new Promise((resolve, reject) => {
      const headers = { "content-type": MESSAGE_TYPE, "content-length": bytes };
      const call = request({ host: "127.0.0.1", port, path: MESSAGES_PATH, method: "POST", headers }, (response) => {
        response.resume();
        response.on("end", () => resolve(response.statusCode ?? 0));
      });
      call.on("error", reject);
      call.end(Buffer.alloc(bytes, from));
    });
  return { send, kept, room, bodyBytes };
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
