import { createServer, type ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import { actor, NOW, settingsOf } from "../../properties/cluster/Cluster.ts";
import type { Answer } from "../../core/Action.ts";
import { CAPACITIES } from "../../core/base/Capacities.ts";
import { crowded } from "../../core/protocol/Unavailable.ts";
import { BodyBudget } from "../../runtime/BodyBudget.ts";
import { cryptoBackend } from "../crypto/CryptoBackend.ts";
import { PromisedCallers } from "../peer/PromisedCallers.ts";
import type { ApiPorts } from "./ApiCall.ts";
import { publicApi } from "./PublicApi.ts";

const closing: Array<() => void> = [];
afterEach(() => {
  vi.useRealTimers();
  for (const close of closing.splice(0)) close();
});

const BODY_BYTES = 1_000;
const refused: Answer = { _tag: "Rejected", rejection: crowded("There is no room.", undefined) };

/**
 * An API whose driver takes so many requests in and answers none, and callers that each send a registration.
 *
 * @param waited for how long each has been there when it is handled
 */
const serve = async (commandsAtOnce: number, waited = 0) => {
  const settings = { ...settingsOf(1, 1), capacities: { ...CAPACITIES, commandsAtOnce } };
  const backend = cryptoBackend("portable");
  const taken: Array<string> = [];
  const callers = new PromisedCallers({
    settings,
    backend,
    dispatch: (event) => void (event._tag === "Command" && taken.push(event.requestId)),
    self: () => 1,
  });
  const budget = new BodyBudget({ all: 1e6, ofActor: 1e6, ofAddress: 1e6 });
  const ignored = (): void => undefined;
  const ports = {
    peer: {
      settings,
      standing: { cluster: { peer: undefined } },
      mutate: (...asked: Parameters<PromisedCallers["mutate"]>) => callers.mutate(...asked),
    },
    judge: { known: () => actor },
    budget,
    clock: { read: () => ({ now: NOW, asBefore: [], elapsed: 0 }) },
    log: { debug: ignored, error: ignored },
    metrics: { count: ignored, observeRequest: ignored },
    elapsedMillis: () => performance.now(),
    draining: () => false,
  } as unknown as ApiPorts;
  const responses: Array<ServerResponse> = [];
  const answer = publicApi(ports);
  const server = createServer((request, response) => {
    responses.push(response);
    answer(request, response, performance.now() - waited);
  });
  closing.push(() => server.close());
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const send = (): Socket => {
    const socket = connect(port, "127.0.0.1");
    closing.push(() => socket.destroy());
    socket.on("error", ignored).resume();
    const head = ["POST /v1/custody/approvers HTTP/1.1", "host: a", "x-jwt-token: t", "content-type: application/json"];
    socket.write([...head, `content-length: ${BODY_BYTES}`, "", " ".repeat(BODY_BYTES)].join("\r\n"));
    return socket;
  };
  return { send, budget, callers, taken, responses };
};

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
const turns = async (count: number): Promise<void> => {
  for (let left = count; left > 0; left -= 1) await turn();
};

/** When a caller is gone and the peer has done what it does about it. */
const gone = async (socket: Socket, response: ServerResponse | undefined): Promise<void> => {
  const closed = new Promise((resolve) => void response?.once("close", resolve));
  socket.destroy();
  await closed;
  await turns(10);
};

describe("the body of a caller that goes away", () => {
  it("is held for as long as the driver has its request", async () => {
    const { send, budget, callers, taken, responses } = await serve(1);
    const socket = send();
    await vi.waitFor(() => expect(taken).toHaveLength(1));
    await gone(socket, responses[0]);
    expect([budget.held, callers.waiting]).toEqual([BODY_BYTES, 1]);
    callers.answer(taken[0] ?? "", refused);
    await vi.waitFor(() => expect(budget.held).toBe(0));
  });

  it("is given back with the place of a request that the driver does not have yet", async () => {
    const { send, budget, callers, taken, responses } = await serve(0);
    const [leaving] = [send(), send()];
    await vi.waitFor(() => expect(callers.waiting).toBe(2));
    await gone(
      leaving,
      responses.find(({ req }) => req.socket.remotePort === leaving.localPort),
    );
    expect([callers.waiting, budget.held, taken]).toEqual([1, BODY_BYTES, []]);
  });
});

describe("a caller that is turned away while the clocks stand still", () => {
  const turnedAway = async (waited: number) => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { send, callers, taken } = await serve(1, waited);
    const heard: Array<string> = [];
    send().on("data", (chunk) => void heard.push(chunk.toString("latin1")));
    while (taken.length === 0) await turn();
    callers.answer(taken[0] ?? "", refused);
    return heard;
  };

  it("is held back when it has come just now", async () => {
    const heard = await turnedAway(0);
    await turns(200);
    expect(heard).toEqual([]);
    await vi.advanceTimersByTimeAsync(1_500);
    while (heard.length === 0) await turn();
  });

  it("is told so at once when it has waited for as long as it may", async () => {
    const heard = await turnedAway(settingsOf(1, 1).answerMillis);
    while (heard.length === 0) await turn();
    expect(heard[0]).toMatch(/"code":"REQUEST_CAPACITY"/);
  });
});
