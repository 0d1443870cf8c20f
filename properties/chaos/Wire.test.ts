import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CALM, Wire } from "./Wire.ts";

/** Answers every piece with the same bytes. */
const startEcho = async (): Promise<{ readonly server: Server; readonly port: number }> => {
  const server = createServer((socket) => {
    socket
      .on("error", () => undefined)
      .on("data", (piece) => {
        server.emit("piece");
        socket.write(piece);
      });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return { server, port: typeof address === "object" && address !== null ? address.port : 0 };
};

let echo: Awaited<ReturnType<typeof startEcho>>;
let breaks = false;
let wire: Wire;

beforeAll(async () => {
  echo = await startEcho();
  wire = await Wire.open({ target: echo.port, chance: () => breaks });
});
afterAll(async () => {
  await wire.close();
  await new Promise((resolve) => void echo.server.close(resolve));
});

/** Resolves when the connection is gone, whichever way. */
const gone = (socket: Socket): Promise<void> => new Promise((resolve) => void socket.once("close", () => resolve()));

const dial = (): Socket => connect(wire.port, "127.0.0.1").on("error", () => undefined);

/** What came back, once it is as long as what was sent. */
const exchanged = async (socket: Socket, sent: ReadonlyArray<string>): Promise<string> => {
  let text = "";
  socket.setEncoding("utf8").on("data", (piece: string) => {
    text += piece;
  });
  for (const piece of sent) socket.write(piece);
  const { length } = sent.join("");
  while (text.length < length) await once(socket, "data");
  return text.slice(0, length);
};

describe("a wire", () => {
  it("carries bytes both ways", async () => {
    const socket = dial();
    expect(await exchanged(socket, ["hello", "there"])).toBe("hellothere");
    socket.destroy();
  });

  it("keeps the order of what it delays, through a change of the delay", async () => {
    const socket = dial();
    wire.mode = { _tag: "Delay", millis: 20 };
    const pieces = Array.from({ length: 50 }, (_, index) => `${index};`);
    expect(await exchanged(socket, pieces)).toBe(pieces.join(""));
    socket.removeAllListeners("data");
    const sent = Array.from({ length: 20 }, (_, index) => `${index}.`);
    const more = exchanged(socket, sent);
    await once(echo.server, "piece");
    wire.mode = CALM;
    socket.write("last");
    expect(await more).toBe(sent.join(""));
    socket.destroy();
  });

  it("resets open connections when it is cut, lets no new one through, and heals", async () => {
    const before = wire.resets;
    const socket = dial();
    await exchanged(socket, ["x"]);
    const closed = gone(socket);
    wire.mode = { _tag: "Cut" };
    await closed;
    await gone(dial());
    expect(wire.resets).toBe(before + 1);
    wire.mode = CALM;
    const again = dial();
    expect(await exchanged(again, ["back"])).toBe("back");
    again.destroy();
  });

  it("takes what it swallows, hands nothing on, and breaks such connections when that ends", async () => {
    wire.mode = { _tag: "Swallow" };
    const socket = dial();
    let got = 0;
    socket.on("data", () => {
      got += 1;
    });
    await once(socket, "connect");
    await new Promise<void>((resolve) => void socket.write("lost", () => resolve()));
    const closed = gone(socket);
    wire.mode = CALM;
    await closed;
    expect(got).toBe(0);
  });

  it("breaks a connection in the middle when chance has it so", async () => {
    wire.mode = { _tag: "Flaky", perMille: 10 };
    const socket = dial();
    expect(await exchanged(socket, ["whole"])).toBe("whole");
    breaks = true;
    const closed = gone(socket);
    socket.write("broken");
    await closed;
    breaks = false;
    wire.mode = CALM;
  });
});
