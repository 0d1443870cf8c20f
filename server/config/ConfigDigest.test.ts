import { Schema } from "effect";
import { describe, expect, it } from "vitest";
import { configDigestInput } from "./ConfigDigest.ts";
import { type Config, configSchema } from "./ConfigSchema.ts";
import { withSections } from "./Environment.ts";

type Section = Readonly<Record<string, unknown>>;

const auth = { audience: "custody", jwks: { file: "jwks.json" } };

const config = (more: Section = {}): Config =>
  Schema.decodeUnknownSync(configSchema("/etc/custody"))(withSections({ peer: { "data-dir": "a" }, auth, ...more }));

const base = configDigestInput(config());

describe("configDigestInput", () => {
  it("is this text for a configuration of defaults", () => {
    expect(base).toBe(
      '{"algorithms":["ES256","ES384","EdDSA","PS256","RS256"],"audience":"custody","authorities":{"arbitrary":true},"cryptoBackend":"native","development":false,"features":["core"],"issuer":null,"version":1,"webauthn":{"enabled":false}}',
    );
  });

  it.each<[string, Section]>([
    ["audience", { auth: { ...auth, audience: "other" } }],
    ["issuer", { auth: { ...auth, issuer: "https://issuer.example" } }],
    ["algorithms", { auth: { ...auth, algorithms: ["EdDSA"] } }],
    ["backend", { crypto: { backend: "portable" } }],
    ["authorities", { authorities: { arbitrary: false } }],
    ["development", { development: true }],
  ])("differs when the %s differs", (_name, more) => {
    expect(configDigestInput(config(more))).not.toBe(base);
  });

  it.each<[string, Section]>([
    ["the folder and log level", { peer: { "data-dir": "b", "log-level": "debug" } }],
    ["listeners", { http: { port: 1 }, "peer-http": { port: 2 } }],
    ["addresses of the other peers", { cluster: { peers: [{ id: 2, url: "https://a:1" }] } }],
    ["where the keys come from", { auth: { audience: "custody", jwks: { url: "https://a/" }, "jwks-max-age": "1h" } }],
    ["the order of algorithms", { auth: { ...auth, algorithms: ["RS256", "PS256", "ES384", "ES256", "EdDSA"] } }],
    ["that core is named", { features: [] }],
    ["the limits of one peer", { limits: { "body-bytes-in-flight": "10MiB" }, approvers: { "answer-timeout": "5s" } }],
    ["the number of unseal shares", { seal: { shares: 3, threshold: 2 } }],
  ])("does not differ with %s", (_name, more) => {
    expect(configDigestInput(config(more))).toBe(base);
  });
});
