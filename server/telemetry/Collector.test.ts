import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { issue } from "../../properties/http/Certificates.ts";
import { freePort } from "../../properties/drill/FreePorts.ts";

import { type Manner, OtlpCollector } from "../../properties/http/OtlpCollector.ts";
import { collectorAt } from "./Collector.ts";

const folder = mkdtempSync(join(tmpdir(), "custody-collector-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const headersFile = join(folder, "headers");

const unreachable = (code: string) => ({
  _tag: "Failed",
  reason: `it cannot be reached (${code}); check address and certificate`,
});

let collector: OtlpCollector;
let closing: AbortController;
beforeEach(async () => {
  collector = await OtlpCollector.open();
  closing = new AbortController();
});
afterEach(() => collector.close());

const sender = (manner: Manner, answerMillis = 30_000) => {
  collector.manner = manner;
  const endpoint = `${collector.url}/base`;
  return collectorAt({ endpoint, headersFile: undefined, closing: closing.signal, answerMillis });
};

describe("a collector", () => {
  it("is sent JSON, below its address, with the header fields of the file as they are by now", async () => {
    const options = { endpoint: collector.url, headersFile, closing: closing.signal };
    for (const token of ["first", "second"]) {
      writeFileSync(headersFile, `Authorization: Bearer ${token}\n`, { mode: 0o600 });
      expect(await collectorAt(options)("metrics", "{}")).toEqual({ _tag: "Taken" });
      expect(collector.headers.at(-1)).toMatchObject({
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
      });
    }
    expect(collector.bodies).toEqual([
      { path: "/v1/metrics", text: "{}" },
      { path: "/v1/metrics", text: "{}" },
    ]);
    rmSync(headersFile);
    expect(await collectorAt(options)("metrics", "{}")).toMatchObject({ _tag: "Failed" });
    expect(collector.bodies).toHaveLength(2);
    await sender("take")("traces", "{}");
    expect(collector.bodies.at(-1)?.path).toBe("/base/v1/traces");
  });

  it.each([
    [200, "Taken"],
    [204, "Taken"],
    [307, "Refused"],
    [400, "Refused"],
    [401, "Refused"],
    [429, "Failed"],
    [500, "Refused"],
    [503, "Failed"],
  ])("that answers %i has %s it", async (status, tag) => {
    const delivery = await sender(status)("traces", "{}");
    expect(delivery).toMatchObject(tag === "Taken" ? { _tag: tag } : { _tag: tag, reason: `it answers ${status}` });
    // No redirect is followed.
    expect(collector.bodies).toHaveLength(1);
  });

  it("has failed when it answers nonsense, in no time or not at all", async () => {
    expect(await sender("garbage")("traces", "{}")).toEqual(unreachable("HPE_INVALID_CONSTANT"));
    expect(await sender("hang", 50)("traces", "{}")).toEqual({
      _tag: "Failed",
      reason: "it does not answer within 50 ms",
    });
    const endpoint = `http://127.0.0.1:${await freePort()}`;
    const nobody = collectorAt({ endpoint, headersFile: undefined, closing: closing.signal });
    expect(await nobody("traces", "{}")).toEqual(unreachable("ECONNREFUSED"));
  });

  it("is believed only with a certificate that this machine trusts", async () => {
    const own = issue("collector", undefined);
    let asked = 0;
    const server = createServer({ cert: own.pem, key: own.key.export({ type: "pkcs8", format: "pem" }) }, () => {
      asked += 1;
    });
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const endpoint = `https://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
    const send = collectorAt({ endpoint, headersFile: undefined, closing: closing.signal });
    const delivery = await send("traces", "{}");
    expect(delivery).toMatchObject({
      _tag: "Failed",
      reason: expect.stringMatching(/\([A-Z_]*(CERT|SIGNATURE)[A-Z_]*\)/),
    });
    expect(asked).toBe(0);
    await new Promise((resolve) => void server.close(resolve));
  });

  it("may answer without end: nobody reads it", async () => {
    expect(await sender("endless")("traces", "{}")).toEqual({ _tag: "Taken" });
    await vi.waitFor(() => expect(collector.openSockets).toBe(0));
  });

  it("is waited for no longer when this peer ends", async () => {
    const send = sender("hang");
    const waiting = send("traces", "{}");
    await vi.waitFor(() => expect(collector.bodies).toHaveLength(1));
    closing.abort();
    expect((await waiting)._tag).toBe("Failed");
    expect(await send("traces", "{}")).toEqual({ _tag: "Failed", reason: "this peer ends" });
    expect(collector.bodies).toHaveLength(1);
  });
});
