import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, afterEach, beforeAll, expect, it, vi } from "vitest";
import { AnswerRoom } from "../../server/http/AnswerRoom.ts";
import { enrollingElsewhere } from "./Enrollment.ts";
import { allPermissions, freshKey64, ServerCluster } from "./ServerCluster.ts";

let cluster: ServerCluster;
beforeAll(async () => {
  cluster = await ServerCluster.found(1, enrollingElsewhere());
});
afterAll(() => cluster.close());
afterEach(() => vi.restoreAllMocks());

/** What is no JSON. */
const page = async (path: string): Promise<{ readonly status: number; readonly text: string }> => {
  const response = await fetch(`${cluster.server(1).url}${path}`);
  return { status: response.status, text: await response.text() };
};
const docs = () => page("/docs");

const policy = {
  fourEye: {
    mode: "STRICT",
    m: 1,
    n: 1,
    keys: [{ type: "SIGNATURE", algorithm: "ED25519", publicKey64: freshKey64() }],
  },
};

it("every long answer takes room until it is read: its caller's, or that of all strangers", async () => {
  cluster.token = await cluster.mint([...allPermissions, "service.dkg.*", "service.key.*.*"]);
  const key = { keyId: "k1", algorithm: "ED25519", authorities: [{ id: "arbitrary" }] };
  expect((await cluster.post(1, "/v1/custody/keys", key)).status).toBe(201);
  const take = vi.spyOn(AnswerRoom.prototype, "take");
  const answers = [
    await docs(),
    await cluster.get(1, "/openapi.json"),
    await page("/enroll"),
    await page("/enroll/Main.js"),
    await cluster.get(1, "/v1/custody/control/identities"),
    await cluster.get(1, "/v1/custody/control/identities/authority?keyId=k1&authorityId=arbitrary"),
    await cluster.post(1, "/v1/custody/policies/resolve", policy),
    await cluster.get(1, "/v1/custody/approvers"),
  ];
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  const holder = take.mock.calls.at(-1)?.[0];
  expect(holder).toContain("operator");
  expect(take.mock.calls.map(([caller, bytes]) => [caller, bytes])).toEqual(
    answers.map(({ text }, index) => [index < 4 ? "" : holder, Buffer.byteLength(text)]),
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
