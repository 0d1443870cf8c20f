import { expect, it } from "vitest";
import { creationOptions } from "./CreationOptions.ts";
import type { RelyingParty } from "./RelyingParty.ts";

const relyingParty: RelyingParty = {
  rpId: "example.org",
  rpName: "Example",
  origins: ["https://example.org"],
  registrationTtlMillis: 300_000,
  attestation: "direct",
  trustRoots: [],
};

it("asks for one ES256 key of a verified user, and for nothing that was not decided", () => {
  const options = creationOptions({
    relyingParty,
    id: "alice",
    challenge: new Uint8Array(32).fill(0xff),
    userHandle: new Uint8Array(32).fill(1),
    excludeCredentialIds: ["AAAAAAAAAAAAAAAAAAAAAA"],
    timeoutMillis: 123_456,
  });
  expect(options).toEqual({
    rp: { id: "example.org", name: "Example" },
    user: { id: "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE", name: "alice", displayName: "alice" },
    challenge: "__________________________________________8",
    pubKeyCredParams: [{ type: "public-key", alg: -7 }],
    timeout: 123_456,
    excludeCredentials: [{ type: "public-key", id: "AAAAAAAAAAAAAAAAAAAAAA" }],
    authenticatorSelection: { residentKey: "preferred", requireResidentKey: false, userVerification: "required" },
    attestation: "direct",
    extensions: { credProps: true },
  });
});

it("never asks for a negative time", () => {
  const bytes = new Uint8Array(32);
  const input = { relyingParty, id: "a", challenge: bytes, userHandle: bytes, excludeCredentialIds: [] };
  expect(creationOptions({ ...input, timeoutMillis: -1 }).timeout).toBe(0);
});
