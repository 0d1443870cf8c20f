import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Effect, Schema } from "effect";
import { afterAll, beforeAll, expect, it } from "vitest";
import { issue } from "../../properties/http/Certificates.ts";
import { configSchema } from "../config/ConfigSchema.ts";
import { withSections } from "../config/Environment.ts";
import { certificatesOf, renewedTls } from "./Certificates.ts";

const NOW = Date.UTC(2030, 0, 1);
const folder = mkdtempSync(join(tmpdir(), "custody-certificates-"));
const authority = issue("authority", undefined);
const config = Schema.decodeUnknownSync(configSchema(folder))(
  withSections({
    peer: { "data-dir": "a" },
    auth: { audience: "custody", jwks: { file: "jwks.json" } },
    "peer-http": { tls: { cert: "peer.pem", key: "peer.key", ca: "ca.pem" } },
  }),
);

const put = ({ pem, key }: ReturnType<typeof issue>): void => {
  writeFileSync(join(folder, "peer.pem"), pem);
  writeFileSync(join(folder, "peer.key"), key.export({ type: "pkcs8", format: "pem" }), { mode: 0o600 });
};

beforeAll(() => writeFileSync(join(folder, "ca.pem"), authority.pem));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it("takes a certificate with an empty subject, and calls it by its alternative names", async () => {
  put(issue("", authority));
  const { certificates, problems } = await Effect.runPromise(certificatesOf(config, NOW));
  expect(certificates.map(({ subject }) => subject)).toEqual(["IP Address:127.0.0.1", "CN=authority"]);
  expect(problems).toEqual([]);
  const { material, kept } = await Effect.runPromise(renewedTls(config, NOW));
  expect([kept.size, material.peerHttp === undefined]).toEqual([0, false]);

  put(issue("", authority, { until: "200201000000Z" }));
  const late = await Effect.runPromise(renewedTls(config, NOW));
  expect(late.kept.get("peer-http")?.message).toContain("peer.pem: IP Address:127.0.0.1 expired on 2020-02-01");
});
