import { Schema } from "effect";
import { describe, expect, it } from "vitest";
import type { RelyingParty } from "../../core/webauthn/RelyingParty.ts";
import { configDigestInput } from "./ConfigDigest.ts";
import { type Config, configSchema } from "./ConfigSchema.ts";
import { withSections } from "./Environment.ts";

type Section = Readonly<Record<string, unknown>>;

const auth = { audience: "custody", jwks: { file: "jwks.json" } };

const config = (more: Section = {}): Config =>
  Schema.decodeUnknownSync(configSchema("/etc/custody"))(withSections({ peer: { "data-dir": "a" }, auth, ...more }));

const base = configDigestInput(config(), undefined);

const party: RelyingParty = {
  rpId: "example.com",
  rpName: "Example",
  origins: ["https://a.example.com", "https://b.example.com"],
  registrationTtlMillis: 300_000,
  attestation: "none",
  trustRoots: [],
};
const enrolling = (more: Partial<RelyingParty> = {}): string => configDigestInput(config(), { ...party, ...more });
const root = (byte: number) => Uint8Array.of(byte);

describe("configDigestInput", () => {
  it("is this text for a configuration of defaults", () => {
    expect(base).toBe(
      '{"algorithms":["ES256","ES384","EdDSA","PS256","RS256"],"audience":"custody","authorities":{"arbitrary":true},"cryptoBackend":"native","development":false,"features":["core"],"issuer":null,"tokenTypes":["absent","at+jwt","jwt"],"version":1,"webauthn":{"enabled":false}}',
    );
  });

  it.each<[string, Section]>([
    ["audience", { auth: { ...auth, audience: "other" } }],
    ["issuer", { auth: { ...auth, issuer: "https://issuer.example" } }],
    ["algorithms", { auth: { ...auth, algorithms: ["EdDSA"] } }],
    ["token types", { auth: { ...auth, "token-types": ["at+jwt"] } }],
    ["backend", { crypto: { backend: "portable" } }],
    ["authorities", { authorities: { arbitrary: false } }],
    ["development", { development: true }],
  ])("differs when the %s differs", (_name, more) => {
    expect(configDigestInput(config(more), undefined)).not.toBe(base);
  });

  it.each<[string, Section]>([
    ["the folder and log level", { peer: { "data-dir": "b", "log-level": "debug" } }],
    ["listeners", { http: { port: 1 }, "peer-http": { port: 2 } }],
    ["addresses of the other peers", { cluster: { peers: [{ id: 2, url: "https://a:1" }] } }],
    ["where the keys come from", { auth: { audience: "custody", jwks: { url: "https://a/" }, "jwks-max-age": "1h" } }],
    ["the order of algorithms", { auth: { ...auth, algorithms: ["RS256", "PS256", "ES384", "ES256", "EdDSA"] } }],
    ["the order and case of token types", { auth: { ...auth, "token-types": ["absent", "AT+JWT", "jwt"] } }],
    ["what is demanded of a program that has it", { features: ["core", "keys"] }],
    ["that core is named", { features: [] }],
    ["the limits of one peer", { limits: { "body-bytes-in-flight": "10MiB" }, approvers: { "answer-timeout": "5s" } }],
    ["the number of unseal shares", { seal: { shares: 3, threshold: 2 } }],
  ])("does not differ with %s", (_name, more) => {
    expect(configDigestInput(config(more), undefined)).toBe(base);
  });

  it("shows the relying party once enrollment is on", () => {
    expect(enrolling()).toBe(
      base.replace(
        '{"enabled":false}',
        '{"attestation":"none","enabled":true,"origins":["https://a.example.com","https://b.example.com"],"registrationTtlMillis":300000,"rpId":"example.com","rpName":"Example","trustRoots":[]}',
      ),
    );
  });

  it.each<[string, Partial<RelyingParty>]>([
    ["RP ID", { rpId: "a.example.com" }],
    ["name", { rpName: "Other" }],
    ["origins", { origins: ["https://a.example.com"] }],
    ["time", { registrationTtlMillis: 360_000 }],
    ["attestation", { attestation: "direct" }],
    ["trust", { trustRoots: [root(1)] }],
  ])("differs when the relying party's %s differs", (_name, more) => {
    expect(enrolling(more)).not.toBe(enrolling());
  });

  it("does not differ with the order of origins and of certificates", () => {
    expect(enrolling({ origins: party.origins.toReversed() })).toBe(enrolling());
    expect(enrolling({ trustRoots: [root(1), root(2)] })).toBe(enrolling({ trustRoots: [root(2), root(1)] }));
  });
});
