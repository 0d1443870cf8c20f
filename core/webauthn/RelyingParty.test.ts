import { Either } from "effect";
import { describe, expect, it } from "vitest";
import { canonicalJson } from "../codec/CanonicalJson.ts";
import { Limits } from "../Limits.ts";
import { type RelyingPartySettings, relyingPartyCanonical, relyingPartyOf } from "./RelyingParty.ts";

const settings = (more: Partial<RelyingPartySettings>): RelyingPartySettings => ({
  rpId: "example.org",
  rpName: "Example",
  origins: ["https://example.org"],
  registrationTtlMillis: 300_000,
  attestation: "none",
  trustRoots: [],
  ...more,
});
const faultsOf = (more: Partial<RelyingPartySettings>) =>
  Either.match(relyingPartyOf(settings(more)), { onLeft: (faults) => faults, onRight: () => [] });

describe("an origin", () => {
  it.each([
    "https://example.org",
    "https://a.example.org",
    "https://a-b.c.example.org:8443",
    "https://xn--bcher-kva.example.org",
    "https://example.org:1",
    "https://example.org:65535",
  ])("may be %s", (origin) => expect(faultsOf({ origins: [origin] })).toEqual([]));

  it.each([
    ["http://example.org", "is http; only localhost may be"],
    ["https://*.example.org", "has a wildcard"],
    ["https://example.org/", "has a path"],
    ["https://example.org/app", "has a path"],
    ["https://example.org\\app", "has a path"],
    ["https://user@example.org", "has credentials"],
    ["https://user:secret@example.org", "has credentials"],
    ["https://example.org?x=1", "has a query"],
    ["https://example.org#x", "has a fragment"],
    ["https://example.org ", "has white space"],
    ["https://example.org:443", "has the port that its scheme implies"],
    ["https://example.org:0", "has a port that is none"],
    ["https://example.org:065", "has a port that is none"],
    ["https://example.org:65536", "has a port that is none"],
    ["https://example.org:", "has a port that is none"],
    ["https://example.org:8443:1", "has a port that is none"],
    ["https://EXAMPLE.org", "names a host that has upper-case letters"],
    ["https://bücher.example.org", "names a host that is not ASCII"],
    ["https://example.org.", "names a host that ends with a dot"],
    ["https://-a.example.org", "names a host that is not a domain"],
    ["https://a..example.org", "names a host that is not a domain"],
    [`https://${"a".repeat(64)}.example.org`, "names a host that is not a domain"],
    ["https://", "names a host that is not a domain"],
    ["https://127.0.0.1", "names a host that is an address"],
    ["https://[::1]", "names a host that is an address"],
    ["https://badexample.org", "is not under the RP ID"],
    ["https://example.org.evil.net", "is not under the RP ID"],
    ["https://org", "is not under the RP ID"],
    ["http://localhost:5173", "is not under the RP ID"],
    ["HTTPS://example.org", "is not an origin"],
    ["wss://example.org", "is not an origin"],
    ["example.org", "is not an origin"],
    ["null", "is not an origin"],
    ["", "is not an origin"],
    ["android:apk-key-hash:x", "is not an origin"],
  ])("may not be %j", (origin, why) => {
    const [fault, ...others] = faultsOf({ origins: ["https://example.org", origin] });
    expect(fault).toMatchObject({ setting: "origins[1]", value: origin });
    expect(fault?.detail).toContain(why);
    expect(others).toEqual([]);
  });

  it("may be of localhost in clear for development, on any port", () => {
    const origins = ["http://localhost", "http://localhost:7300", "https://localhost:7301"];
    expect(faultsOf({ rpId: "localhost", origins })).toEqual([]);
    expect(faultsOf({ rpId: "localhost", origins: ["http://localhost:80"] })).toHaveLength(1);
    expect(faultsOf({ rpId: "localhost", origins: ["http://a.localhost"] })).toHaveLength(1);
  });

  it("is listed once, one at least and not too many", () => {
    expect(faultsOf({ origins: ["https://example.org", "https://example.org"] })).toMatchObject([
      { setting: "origins[1]", detail: expect.stringContaining("twice") },
    ]);
    expect(faultsOf({ origins: [] })).toMatchObject([{ setting: "origins" }]);
    const many = (count: number) => Array.from({ length: count }, (_, index) => `https://a${index}.example.org`);
    expect(faultsOf({ origins: many(Limits.origins) })).toEqual([]);
    expect(faultsOf({ origins: many(Limits.origins + 1) })).toMatchObject([{ setting: "origins" }]);
  });
});

describe("the other settings", () => {
  it.each(["example.org", "localhost", "xn--bcher-kva.example", "a.b.c.d"])("take the RP ID %s", (rpId) => {
    expect(faultsOf({ rpId, origins: [`https://${rpId}`] })).toEqual([]);
  });

  it.each([
    "",
    "Example.org",
    "https://example.org",
    "example.org:443",
    "127.0.0.1",
    "::1",
    "*.org",
    "a_b.org",
    "é.org",
  ])("refuse the RP ID %j", (rpId) =>
    expect(faultsOf({ rpId })).toContainEqual(expect.objectContaining({ setting: "rp-id", value: rpId })),
  );

  it("bound the name and the life of a session", () => {
    expect(faultsOf({ rpName: "é".repeat(128) })).toEqual([]);
    expect(faultsOf({ rpName: "é".repeat(129) })).toMatchObject([{ setting: "rp-name" }]);
    expect(faultsOf({ rpName: "" })).toMatchObject([{ setting: "rp-name" }]);
    expect(faultsOf({ rpName: "a\nb" })).toMatchObject([{ setting: "rp-name" }]);
    expect(faultsOf({ registrationTtlMillis: 600_000 })).toEqual([]);
    expect(faultsOf({ registrationTtlMillis: 600_001 })).toMatchObject([{ setting: "registration-ttl" }]);
    expect(faultsOf({ registrationTtlMillis: 999 })).toMatchObject([{ setting: "registration-ttl" }]);
    expect(faultsOf({ registrationTtlMillis: 1_000.5 })).toMatchObject([{ setting: "registration-ttl" }]);
  });

  it("are reported all at once, and a long value is cut", () => {
    const faults = faultsOf({ rpId: "A", rpName: "", origins: ["x".repeat(1000)] });
    expect(faults.map(({ setting }) => setting)).toEqual(["rp-id", "rp-name", "origins[0]"]);
    expect(faults[2]?.value).toHaveLength(129);
  });
});

describe("the form for the configuration digest", () => {
  const textOf = (more: Partial<RelyingPartySettings>) =>
    canonicalJson(relyingPartyCanonical(Either.getOrThrow(relyingPartyOf(settings(more)))));

  it("does not depend on the order of origins", () => {
    const origins = ["https://b.example.org", "https://example.org", "https://a.example.org"];
    expect(textOf({ origins })).toBe(textOf({ origins: origins.toReversed() }));
    expect(textOf({ origins })).toContain(
      '"origins":["https://a.example.org","https://b.example.org","https://example.org"]',
    );
  });

  it("differs wherever a setting does, and from disabled", () => {
    const texts = [
      textOf({}),
      textOf({ rpName: "Other" }),
      textOf({ origins: ["https://a.example.org"] }),
      textOf({ registrationTtlMillis: 60_000 }),
      textOf({ attestation: "direct" }),
      canonicalJson(relyingPartyCanonical(undefined)),
    ];
    expect(new Set(texts).size).toBe(texts.length);
  });
});
