import { existsSync, readFileSync } from "node:fs";
import { p256 } from "@noble/curves/nist.js";
import { Either, Encoding } from "effect";
import { describe, expect, it } from "vitest";
import { androidKey, apple, packedCertified, root, tpm } from "../../properties/webauthn/Attestations.ts";
import { type AttestationFormat, makeCredential, none, packedSelf } from "../../properties/webauthn/Authenticator.ts";
import { relyingPartyOf, verifyFinish } from "../../properties/webauthn/Verification.ts";
import { cryptoOf } from "../../runtime/CryptoPrimitives.ts";
import { noblePrimitives } from "../../runtime/NobleCrypto.ts";
import { nobleCeremonyCrypto } from "../../runtime/NobleCeremonyCrypto.ts";
import { nativeCeremonyCrypto } from "../../server/crypto/NativeCeremonyCrypto.ts";
import { normalizeCredential } from "../credential/SignatureCredential.ts";
import { installedProviders } from "../credential/SignatureProvider.ts";
import { keyIdentityOf } from "../commands/registerKey/Registration.ts";
import { WEBAUTHN_KEY_ALGORITHM } from "./WebauthnDescriptor.ts";

const file = new URL("../../../shared/vectors/webauthn/w3c-level3-vectors.json", import.meta.url);

interface Vector {
  readonly id: string;
  readonly expected: { readonly challenge: string; readonly origin: string; readonly rpId: string };
  readonly outcome: "accept" | "reject" | "policy";
  readonly credential: unknown;
}

const relyingParty = relyingPartyOf({ origins: ["https://example.org", "https://www.example.org"] });

describe("an accepted response", () => {
  const challenge = new Uint8Array(32).fill(9);
  const making = { challenge, origin: "https://example.org", rpId: "example.org", signCount: 7, flags: 0x5d };
  const userHandle = new Uint8Array(32).fill(3);
  const session = { relyingParty, challenge, userHandle };
  const bodyWith = (attestation: AttestationFormat): string =>
    JSON.stringify({ invitation: "A".repeat(43), credential: makeCredential({ ...making, attestation }) });
  const verified = Either.getOrThrow(verifyFinish(nobleCeremonyCrypto, session, bodyWith(none)));

  it.each([none, packedSelf, packedCertified(), tpm(), androidKey(), apple()])(
    "may be attested by $format",
    (attestation) => {
      const body = bodyWith(attestation);
      for (const crypto of [nobleCeremonyCrypto, nativeCeremonyCrypto])
        expect(verifyFinish(crypto, session, body)).toEqual(Either.right(verified));
    },
  );

  it("gives the nine fields of the contract", () => {
    expect(verified.descriptor).toEqual({
      version: 1,
      type: "WEBAUTHN",
      credentialId: makeCredential(making).id,
      publicKeyCose: expect.stringMatching(/^[\w-]{103}$/),
      rpId: "example.org",
      origins: ["https://example.org", "https://www.example.org"],
      userVerification: "REQUIRED",
      userHandle: Encoding.encodeBase64Url(userHandle),
      backupEligible: true,
    });
  });

  it("keeps what may change beside them", () => {
    const aaguid = Encoding.encodeBase64Url(new Uint8Array(16));
    expect(verified.observations).toEqual({ signCount: 7, backupState: true, transports: ["nfc", "usb"], aaguid });
  });

  it("shares the identity of its key with the SIGNATURE key in every encoding", () => {
    const point = p256.Point.fromBytes(verified.keyBytes);
    const crypto = cryptoOf(noblePrimitives);
    const asPasskey = keyIdentityOf(crypto, WEBAUTHN_KEY_ALGORITHM, verified.keyBytes);
    for (const encoded of [point.toBytes(true), point.toBytes(false)]) {
      const publicKey64 = Encoding.encodeBase64(encoded);
      const { credential, keyBytes } = Either.getOrThrow(normalizeCredential(installedProviders, "P256", publicKey64));
      expect(keyIdentityOf(crypto, credential.algorithm, keyBytes)).toBe(asPasskey);
    }
  });
});

interface Vectors {
  readonly attestationRoot: { readonly attestation_ca_cert: string };
  readonly vectors: ReadonlyArray<Vector>;
}

describe.each([
  ["native", nativeCeremonyCrypto],
  ["portable", nobleCeremonyCrypto],
])("the vectors of WebAuthn Level 3 section 16, %s", (_, crypto) => {
  const classified = (trustRoots: (shipped: Uint8Array) => ReadonlyArray<Uint8Array>) => {
    const { vectors, attestationRoot }: Vectors = JSON.parse(readFileSync(file, "utf8"));
    const shipped = Buffer.from(attestationRoot.attestation_ca_cert, "hex");
    return vectors.map(({ id, expected, outcome, credential }) => {
      const body = JSON.stringify({ invitation: "A".repeat(43), credential });
      const { rpId, origin } = expected;
      const answered = {
        relyingParty: relyingPartyOf({ rpId, origins: [origin], trustRoots: trustRoots(shipped) }),
        challenge: Buffer.from(expected.challenge, "base64url"),
        userHandle: new Uint8Array(32),
      };
      const result = verifyFinish(crypto, answered, body);
      return { id, outcome, result };
    });
  };

  it.for<[name: string, roots: (shipped: Uint8Array) => ReadonlyArray<Uint8Array>, policy: "accept" | "reject"]>([
    ["no root", () => [], "accept"],
    ["the shipped root", (shipped) => [root.certificate, shipped], "accept"],
    ["another root", () => [root.certificate], "reject"],
  ])("are classified as labelled under %s", ([, roots, policy], { skip }) => {
    skip(!existsSync(file), `${file.pathname} is not here`);
    const results = classified(roots);
    for (const { id, outcome, result } of results)
      expect(result._tag, `${id} ${JSON.stringify(Either.merge(result))}`).toBe(
        (outcome === "policy" ? policy : outcome) === "accept" ? "Right" : "Left",
      );
    expect(results).toHaveLength(15);
  });
});
