import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, afterEach, beforeAll, expect, it, vi } from "vitest";
import { AnswerRoom } from "../../server/http/AnswerRoom.ts";
import { freshKey64, ServerCluster } from "./ServerCluster.ts";

let cluster: ServerCluster;
beforeAll(async () => {
  cluster = await ServerCluster.found(1);
});
afterAll(() => cluster.close());
afterEach(() => vi.restoreAllMocks());

/** The page of the description, which is no JSON. */
const docs = async (): Promise<{ readonly status: number; readonly text: string }> => {
  const response = await fetch(`${cluster.server(1).url}/docs`);
  return { status: response.status, text: await response.text() };
};

const policy = {
  fourEye: {
    mode: "STRICT",
    m: 1,
    n: 1,
    keys: [{ type: "SIGNATURE", algorithm: "ED25519", publicKey64: freshKey64() }],
  },
};

it("every long answer takes room until it is read: its caller's, or that of all strangers", async () => {
  const take = vi.spyOn(AnswerRoom.prototype, "take");
  const answers = [
    await docs(),
    await cluster.get(1, "/openapi.json"),
    await cluster.get(1, "/v1/custody/control/identities"),
    await cluster.post(1, "/v1/custody/policies/resolve", policy),
    await cluster.get(1, "/v1/custody/approvers"),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  const holder = take.mock.calls.at(-1)?.[0];
  expect(holder).toContain("operator");
  expect(take.mock.calls.map(([caller, bytes]) => [caller, bytes])).toEqual(
    answers.map(({ text }, index) => [index < 2 ? "" : holder, Buffer.byteLength(text)]),
  );
});

it("a stranger who reads no description is given no more of them, and others are", async () => {
  const { hostname, port } = new URL(cluster.server(1).url);
  const sockets = Array.from({ length: 4 }, () =>
    connect({ host: hostname, port: Number(port), localAddress: "127.0.0.9" }).on("error", () => undefined),
  );
  for (const socket of sockets) {
    await once(socket, "connect");
    // Far more than connections buffer by themselves.
    socket.pause().write("GET /docs HTTP/1.1\r\nhost: x\r\n\r\n".repeat(30));
  }
  await vi.waitFor(async () => {
    const metrics = await (await fetch(`${cluster.server(1).peerUrl}/metrics`)).text();
    expect(metrics).toMatch(/^custody_problems_total\{code="REQUEST_CAPACITY"\} [1-9]/m);
  });
  expect((await docs()).status).toBe(200);
  for (const socket of sockets) socket.destroy();
});
