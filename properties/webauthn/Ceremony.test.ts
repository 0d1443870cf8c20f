import { Either, Encoding } from "effect";
import { describe, expect, it } from "vitest";
import { parseFinishRequest } from "../../core/webauthn/FinishRequest.ts";
import { verifyRegistration } from "../../core/webauthn/RegistrationCeremony.ts";
import type { RelyingParty } from "../../core/webauthn/RelyingParty.ts";
import { nativeCeremonyCrypto } from "../../server/crypto/NativeCeremonyCrypto.ts";
import { refusedRegistrations } from "./RefusedRegistrations.ts";

const answered = {
  invitation: Encoding.encodeBase64Url(new Uint8Array(32).fill(7)),
  challenge: new Uint8Array(32).fill(9),
  origin: "https://example.org",
  rpId: "example.org",
};
const relyingParty: RelyingParty = {
  rpId: answered.rpId,
  rpName: "Example",
  origins: [answered.origin],
  registrationTtlMillis: 300_000,
  attestation: "none",
  trustRoots: [],
};
const AT = 1_780_000_000_000;

/** "accepted", or the codes of what was refused. */
const outcomeOf = (body: string | Uint8Array): string => {
  const request = parseFinishRequest(typeof body === "string" ? Buffer.from(body) : body);
  if (Either.isLeft(request)) return request.left.faults[0]?.code ?? request.left.code;
  const { credential } = request.right;
  const { challenge } = answered;
  return Either.match(
    verifyRegistration(nativeCeremonyCrypto, {
      relyingParty,
      challenge,
      userHandle: new Uint8Array(32),
      credential,
      at: AT,
    }),
    { onLeft: ({ check }) => check, onRight: () => "accepted" },
  );
};

describe("registrations that must be refused", () => {
  const refused = refusedRegistrations(answered);

  it("are more than two hundred, each with its own name", () => {
    expect(refused.length).toBeGreaterThan(200);
    expect(new Set(refused.map(({ name }) => name)).size).toBe(refused.length);
  });

  it.each(refused)("$name: $code", ({ code, body }) => expect(outcomeOf(body)).toBe(code));
});
