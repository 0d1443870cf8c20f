import { utf8ToBytes } from "@noble/hashes/utils.js";
import { describe, expect, it } from "vitest";
import { makeCredential } from "../../properties/webauthn/Authenticator.ts";
import { pointOf } from "../../properties/webauthn/Certificates.ts";
import { refusalOf } from "../../properties/webauthn/RefusalOf.ts";
import { relyingPartyOf, verifyFinish } from "../../properties/webauthn/Verification.ts";
import { nobleCeremonyCrypto } from "../../runtime/NobleCeremonyCrypto.ts";
import { readAttestationObject } from "./AttestationObject.ts";
import type { CeremonyCrypto } from "./CeremonyCrypto.ts";
import { checkClientData } from "./ClientData.ts";
import { isSignature } from "./StatementSignature.ts";
import { readCertifyInfo, readPublicArea } from "./TpmStructures.ts";

describe("a refusal", () => {
  const relyingParty = relyingPartyOf();
  const challenge = new Uint8Array(32);

  it.each<readonly [string, () => unknown, string]>([
    [
      "that client data is no JSON",
      () => checkClientData(utf8ToBytes("{"), challenge, relyingParty),
      "client_data_json: The text ends where a key in quotes should stand (byte 1).",
    ],
    [
      "that an attestation object is no CBOR",
      () => readAttestationObject(Uint8Array.of(0xa1)),
      "attestation_object: There is the end in the middle of an item.",
    ],
    [
      "that a TPM's key is of another kind",
      () => readPublicArea(Uint8Array.of(0, 1)),
      "tpm_public_area: The TPM's key is not one of elliptic curves.",
    ],
    [
      "that a TPM's key ends early",
      () => readPublicArea(Uint8Array.of(0)),
      "tpm_public_area: pubArea does not end where it should.",
    ],
    [
      "that certInfo ends early",
      () => readCertifyInfo(Uint8Array.of(0)),
      "tpm_certify_info: certInfo does not end where it should.",
    ],
  ])("says %s", (_, act, sentence) => {
    expect(refusalOf(act)).toBe(sentence);
  });

  it("is none where something else broke", () => {
    const broken: CeremonyCrypto = {
      ...nobleCeremonyCrypto,
      hash: () => {
        throw new TypeError("out of order");
      },
    };
    const session = { relyingParty, challenge, userHandle: new Uint8Array(32) };
    const credential = makeCredential({ challenge, origin: "https://example.org", rpId: "example.org" });
    const body = JSON.stringify({ invitation: "A".repeat(43), credential });
    expect(() => verifyFinish(broken, session, body)).toThrow("out of order");
  });
});

it("asks no crypto about a signature that cannot be read", () => {
  const trusting: CeremonyCrypto = { ...nobleCeremonyCrypto, verify: () => true };
  const key = { kind: "EC", curve: "P-256", point: pointOf(new Uint8Array(32).fill(1)) } as const;
  const verdicts = [
    [0x30, 6, 2, 1, 1, 2, 1, 1],
    [0x30, 6, 2, 1, 1, 2, 1],
  ].map((encoded) => isSignature(trusting, key, "SHA-256", new Uint8Array(0), Uint8Array.from(encoded)));
  expect(verdicts).toEqual([true, false]);
});
