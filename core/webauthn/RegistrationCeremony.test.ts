import { p256 } from "@noble/curves/nist.js";
import { Either, Encoding } from "effect";
import { describe, expect, it } from "vitest";
import { androidKey, apple, packedCertified, tpm } from "../../properties/webauthn/Attestations.ts";
import { type AttestationFormat, makeCredential, none, packedSelf } from "../../properties/webauthn/Authenticator.ts";
import { relyingPartyOf, verifyFinish } from "../../properties/webauthn/Verification.ts";
import { cryptoOf } from "../../runtime/CryptoPrimitives.ts";
import { noblePrimitives } from "../../runtime/NobleCrypto.ts";
import { nobleCeremonyCrypto } from "../../runtime/NobleCeremonyCrypto.ts";
import { normalizeCredential } from "../credential/SignatureCredential.ts";
import { installedProviders } from "../credential/SignatureProvider.ts";
import { keyIdentityOf } from "../credential/KeyIdentity.ts";
import { WEBAUTHN_KEY_ALGORITHM } from "./WebauthnDescriptor.ts";

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
      expect(verifyFinish(nobleCeremonyCrypto, session, bodyWith(attestation))).toEqual(Either.right(verified));
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
