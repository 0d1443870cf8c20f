import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { STRANGER_BYTES } from "../../runtime/EnvelopeCodec.ts";
import { maxEnvelopeBytes } from "../../server/transport/Outgoing.ts";
import { WARRANT_HEADER } from "../../server/transport/Posts.ts";
import { registration, ServerCluster } from "./ServerCluster.ts";

const MESSAGES = "/peer/v1/messages";

let cluster: ServerCluster;
beforeAll(async () => {
  cluster = await ServerCluster.found(2, "limits: {connections-per-address: 1024}");
});
afterAll(async () => {
  await cluster.close();
});

interface Answer {
  readonly status: number;
  readonly text: string;
}

const send = (
  body: Uint8Array,
  headers: Readonly<Record<string, string>> = {},
  method = "POST",
  path = MESSAGES,
  localAddress = "127.0.0.1",
) =>
  new Promise<Answer>((resolve, reject) => {
    const options = { method, agent: false, localAddress, headers: { "content-type": "application/cbor", ...headers } };
    const call = request(`${cluster.server(2).peerUrl}${path}`, options, (response) => {
      let text = "";
      response.on("data", (chunk: Uint8Array) => {
        text += Buffer.from(chunk).toString("latin1");
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
    });
    call.on("error", reject);
    call.end(body);
  });

const metrics = async (): Promise<string> => (await send(new Uint8Array(0), {}, "GET", "/metrics")).text;
const valueOf = (text: string, name: string): number =>
  Number(
    text
      .split("\n")
      .find((line) => line.startsWith(`${name} `))
      ?.split(" ")[1],
  );

describe("the peer API", () => {
  it("refuses a flood of malformed envelopes and writes nothing", async () => {
    const before = await metrics();
    const bodies = Array.from({ length: 300 }, (_, index) =>
      Uint8Array.from({ length: index }, (_each, at) => (index * 31 + at * 17) & 255),
    );
    const answers = await Promise.all(bodies.map((body) => send(body)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([400]));
    for (const { text } of answers) expect(JSON.parse(text)).toMatchObject({ status: 400, title: "Malformed message" });
    const after = await metrics();
    expect(valueOf(after, "custody_flush_seconds_count")).toBe(valueOf(before, "custody_flush_seconds_count"));
    expect((await cluster.register(2, registration("after-flood"))).status).toBe(201);
  });

  it("refuses what is too large, of another type, without a length, for another path or method", async () => {
    const small = new Uint8Array(8);
    const tooLarge = { "content-length": String(maxEnvelopeBytes + 1), expect: "100-continue" };
    expect((await send(new Uint8Array(0), tooLarge)).status).toBe(413);
    expect((await send(new Uint8Array(STRANGER_BYTES))).status).toBe(400);
    expect((await send(new Uint8Array(STRANGER_BYTES + 1))).status).toBe(413);
    const warrant = Buffer.alloc(200, 7).toString("base64url");
    expect((await send(new Uint8Array(STRANGER_BYTES + 1), { [WARRANT_HEADER]: warrant })).status).toBe(413);
    expect((await send(small, { "content-type": "application/json" })).status).toBe(415);
    expect((await send(small, { "transfer-encoding": "chunked" })).status).toBe(411);
    expect((await send(small, {}, "PUT")).status).toBe(405);
    expect((await send(small, {}, "POST", "/peer/v1/other")).status).toBe(404);
    expect((await send(small, {}, "POST", "/metrics")).status).toBe(405);
  });

  it("keeps room for honest messages while strangers send all they may", async () => {
    const localAddress = "127.0.0.9";
    const idle = Array.from({ length: 40 }, () => {
      const headers = { "content-type": "application/cbor", "content-length": String(STRANGER_BYTES) };
      const call = request(`${cluster.server(2).peerUrl}${MESSAGES}`, {
        method: "POST",
        headers,
        agent: false,
        localAddress,
      });
      call.on("error", () => undefined);
      call.write(new Uint8Array(STRANGER_BYTES - 1));
      return call;
    });
    // What they hold is all that one address may: there is none left for another stranger from it.
    await vi.waitFor(async () =>
      expect((await send(new Uint8Array(4096), {}, "POST", MESSAGES, localAddress)).status).toBe(503),
    );
    expect(valueOf(await metrics(), "custody_peer_http_body_bytes")).toBeGreaterThan(31 * STRANGER_BYTES);
    expect((await cluster.register(1, registration("beside-strangers"))).status).toBe(201);
    expect((await cluster.register(2, registration("and-again"))).status).toBe(201);
    for (const call of idle) call.destroy();
  });

  it("takes large messages of members", async () => {
    const metadata = Object.fromEntries(Array.from({ length: 28 }, (_, index) => [`k${index}`, "m".repeat(512)]));
    const answers = await Promise.all(
      Array.from({ length: 24 }, (_, index) =>
        cluster.register(2, registration(`large-${index}`, undefined, metadata)),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
  });

  it("counts what happens for Prometheus", async () => {
    await cluster.register(1, registration("counted"));
    const text = await metrics();
    expect(text).toMatch(/^custody_events_total\{event="Prepare"\} [1-9]/m);
    expect(text).toMatch(/^custody_http_responses_total\{status="20[01]"\} [1-9]/m);
    expect(text).toMatch(/^custody_flush_seconds_bucket\{le="\+Inf"\} [1-9]/m);
    expect(valueOf(text, "custody_approvers")).toBeGreaterThan(0);
    expect(valueOf(text, "custody_unsealed")).toBe(1);
    for (const line of text.split("\n").filter((each) => each !== ""))
      expect(line).toMatch(/^(# (HELP|TYPE) \w+ .+|\w+(\{\w+="[^"]+"(,\w+="[^"]+")*\})? [0-9.e+-]+)$/);
  });
});
