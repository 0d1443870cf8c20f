import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { configFolder, least } from "../../properties/LoadedConfig.ts";

const { accepted, folder, problems } = configFolder();

describe("the relying party", () => {
  const section = (lines: string): string => `${least}webauthn: {enabled: true, rp-name: Example, ${lines}}\n`;
  const withOrigin = (origin: string, rpId = "example.com"): string =>
    section(`rp-id: ${rpId}, origins: [${JSON.stringify(origin)}]`);

  it("comes from the file or the environment, with files from the folder of the file", async () => {
    const text = section('rp-id: example.com, origins: ["https://example.com"], trust-roots: [roots.pem]');
    const { webauthn } = await accepted(text, {
      CUSTODY_WEBAUTHN_ORIGINS: "https://b.example.com:8443,https://example.com",
      CUSTODY_WEBAUTHN_ATTESTATION: "direct",
    });
    expect(webauthn).toEqual({
      enabled: true,
      rpId: "example.com",
      rpName: "Example",
      origins: ["https://b.example.com:8443", "https://example.com"],
      registrationTtlMillis: 300_000,
      attestation: "direct",
      trustRoots: [join(folder, "roots.pem")],
    });
  });

  it("is required once enrollment is on", async () => {
    const message = "is required while webauthn.enabled is true; set it, or set enabled to false";
    expect((await problems(`${least}webauthn: {enabled: true}\n`)).toSorted()).toEqual([
      `webauthn.origins: ${message}`,
      `webauthn.rp-id: ${message}`,
      `webauthn.rp-name: ${message}`,
    ]);
  });

  it.each([
    ["https://example.com", "example.com"],
    ["https://a.b.example.com:444", "example.com"],
    ["https://xn--bcher-kva.example", "xn--bcher-kva.example"],
    ["http://localhost:7300", "localhost"],
    ["http://localhost", "localhost"],
    ["https://localhost:7300", "localhost"],
    ["https://custody", "custody"],
  ])("may have the origin %s under %s", async (origin, rpId) => {
    expect((await accepted(withOrigin(origin, rpId))).webauthn.origins).toEqual([origin]);
  });

  it.each([
    ["https://*.example.com", /"https:\/\/\*\.example\.com" holds a wildcard/],
    ["*", /"\*" holds a wildcard/],
    ["https://example.com/enroll", /"https:\/\/example\.com\/enroll" holds a path/],
    ["https://example.com?a", /holds a query/],
    ["https://example.com?", /holds a query/],
    ["https://example.com#a", /holds a fragment/],
    ["https://example.com#", /holds a fragment/],
    ["https://example.com/", /is not written as browsers send it; write "https:\/\/example\.com"/],
    ["https://Example.com", /write "https:\/\/example\.com"/],
    ["https://example.com:443", /write "https:\/\/example\.com"/],
    ["https://bücher.example.com", /write "https:\/\/xn--bcher-kva\.example\.com"/],
    [" https://example.com", /write "https:\/\/example\.com"/],
    ["http://example.com", /"http:\/\/example\.com" has no TLS/],
    ["http://127.0.0.1:7300", /has no TLS, which only http:\/\/localhost may lack/],
    ["http://[::1]:7300", /has no TLS/],
    ["http://localhost.example.com", /has no TLS/],
    ["wss://example.com", /does not begin with https/],
    ["android:apk-key-hash:AAAA", /does not begin with https/],
    ["example.com", /"example\.com" is not an origin/],
    ["null", /"null" is not an origin/],
    ["https://example.org", /"https:\/\/example\.org" is not under the rp-id "example\.com"/],
    ["https://badexample.com", /is not under/],
    ["https://example.com.evil.org", /is not under/],
    ["http://localhost:7300", /"http:\/\/localhost:7300" is not under the rp-id/],
  ])("never has the origin %s", async (origin, message) => {
    const [problem, ...more] = await problems(withOrigin(origin));
    expect(more).toEqual([]);
    expect(problem).toMatch(/^webauthn\.origins\.0: /);
    expect(problem).toMatch(message);
  });

  it("is refused without its password where an origin holds one", async () => {
    const [problem] = await problems(withOrigin("https://hunter2:hunter3@example.com"));
    expect(problem).toBe("webauthn.origins.0: the value holds credentials; remove them");
  });

  it.each([
    "Example.com",
    "https://example.com",
    "example.com:443",
    "127.0.0.1",
    "[::1]",
    "example.com.",
    ".com",
    "a_b.com",
    "1.2",
  ])("never has the RP ID %s", async (rpId) => {
    const [problem] = await problems(section(`rp-id: "${rpId}", origins: ["https://example.com"]`));
    expect(problem).toBe(
      `webauthn.rp-id: ${JSON.stringify(rpId)} is not a domain name in lower case; write it without scheme, port or address, for example custody.example.com`,
    );
  });

  it.each(["", "a".repeat(257), "a\tb", "a\u200db", "a\u202eb", "a\u2028b", "\u00ad"])(
    "never has the name %j, which the page would not show",
    async (name) => {
      const text = `${least}webauthn: {enabled: true, rp-id: example.com, rp-name: ${JSON.stringify(name)}, origins: ["https://example.com"]}\n`;
      expect(await problems(text)).toEqual([expect.stringMatching(/^webauthn\.rp-name: must be one line/)]);
    },
  );

  it.each(["a".repeat(256), "B\u00fccher & <b> \u{1f511}"])("may have the name %j", async (name) => {
    const { webauthn } = await accepted(`${least}webauthn: {rp-name: ${JSON.stringify(name)}}\n`);
    expect(webauthn.rpName).toBe(name);
  });

  it("has nothing below an RP ID of one label, and no origin twice", async () => {
    expect((await problems(withOrigin("https://a.custody", "custody")))[0]).toMatch(/is not under/);
    const twice = 'rp-id: example.com, origins: ["https://example.com", "https://example.com"]';
    expect((await problems(section(twice)))[0]).toMatch(
      /^webauthn\.origins: must be a list of 0 to 16 different entries/,
    );
  });

  it("is checked while enrollment is off, too", async () => {
    const text = `${least}webauthn: {rp-id: example.com, origins: ["https://example.org"]}\n`;
    expect(await problems(text)).toHaveLength(1);
  });
});
