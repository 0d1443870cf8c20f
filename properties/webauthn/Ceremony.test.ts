import { createHash, generateKeyPairSync, sign } from "node:crypto";
import { Either, Encoding } from "effect";
import { describe, expect, it } from "vitest";
import type { RelyingParty } from "../../core/webauthn/RelyingParty.ts";
import { nativeCeremonyCrypto } from "../../server/crypto/NativeCeremonyCrypto.ts";
import {
  androidKey,
  directoryNames,
  ecdaaScheme,
  ecdsaScheme,
  intermediate,
  origin,
  packedCertified,
  purposes,
  root,
  tpm,
} from "./Attestations.ts";
import {
  type AttestationFormat,
  type CredentialJson,
  type Making,
  makeCredential,
  none,
  packedSelf,
} from "./Authenticator.ts";
import { bitFlips, EVERY_BIT } from "./BitFlips.ts";
import { authorityOf, type Signer } from "./Certificates.ts";
import { fuzz } from "./Fuzz.ts";
import { refusedRegistrations } from "./RefusedRegistrations.ts";
import { relyingPartyOf, verifyFinish } from "./Verification.ts";

const answered = {
  invitation: Encoding.encodeBase64Url(new Uint8Array(32).fill(7)),
  challenge: new Uint8Array(32).fill(9),
  origin: "https://example.org",
  rpId: "example.org",
};
/** "accepted", or the first code of what was refused. */
const outcomeOf = (body: string | Uint8Array, asking: Partial<RelyingParty> = {}): string => {
  const { challenge } = answered;
  const session = { relyingParty: relyingPartyOf(asking), challenge, userHandle: new Uint8Array(32) };
  return Either.match(verifyFinish(nativeCeremonyCrypto, session, body), {
    onLeft: (code) => code,
    onRight: () => "accepted",
  });
};

const bodyOf = (change: Partial<Making>): string =>
  JSON.stringify({ invitation: answered.invitation, credential: makeCredential({ ...answered, ...change }) });

describe("registrations that must be refused", () => {
  const refused = refusedRegistrations(() => answered);

  it("are more than two hundred, each with its own name", () => {
    expect(refused.length).toBeGreaterThan(200);
    expect(new Set(refused.map(({ name }) => name)).size).toBe(refused.length);
  });

  it.each(refused)("$name: $code", ({ code, body }) => expect(outcomeOf(body)).toBe(code));
});

const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const rsa = (alg: number, hash: string): Signer => ({
  subjectPublicKeyInfo: Uint8Array.from(publicKey.export({ type: "spki", format: "der" })),
  alg,
  algorithm: new Uint8Array(0),
  sign: (message) => Uint8Array.from(sign(hash, message, privateKey)),
});
const ofVendor = (id: string): Uint8Array =>
  directoryNames(["2.23.133.2.1", id], ["2.23.133.2.2", "Model"], ["2.23.133.2.3", "id:13"]);
/** Its key derivation, after its curve, is KDF1 with SHA-256. */
const derivingKeys = (honest: Uint8Array): Uint8Array =>
  Uint8Array.of(...honest.subarray(0, 16), 0x00, 0x20, 0x00, 0x0b, ...honest.subarray(18));
const sha1 = (bytes: Uint8Array): Uint8Array => Uint8Array.from(createHash("sha1").update(bytes).digest());

describe("what is tolerated", () => {
  it.each<[string, Partial<Making>]>([
    ["unknown client data", { clientData: (honest) => honest.replace("{", '{"x":{"y":[null,1.5]},') }],
    ["no crossOrigin", { clientData: (honest) => honest.replace(',"crossOrigin":false', "") }],
    [
      "token binding that is supported",
      { clientData: (honest) => honest.replace("}", ',"tokenBinding":{"status":"supported"}}') },
    ],
    ["a credential id of 16 bytes", { credentialId: new Uint8Array(16).fill(1) }],
    ["a credential id of 1023 bytes", { credentialId: new Uint8Array(1023).fill(1) }],
    ["eligible for backup", { flags: 0x4d }],
    ["backed up", { flags: 0x5d }],
    ["credProtect", { extensions: Uint8Array.from([0xa1, 0x6b, ...Buffer.from("credProtect"), 0x02]) }],
    ["empty extensions", { extensions: Uint8Array.of(0xa0) }],
    ["members in another order", { attestationObject: reordered }],
    ["an attestation key of a batch", { attestation: packedCertified() }],
    [
      "a chain with its root",
      { attestation: packedCertified({ issuer: intermediate, behind: [intermediate.certificate, root.certificate] }) },
    ],
    ["packed with RSA", { attestation: packedCertified({ signer: rsa(-257, "sha256") }) }],
    ["a TPM with RSA and SHA-256", { attestation: tpm({ signer: rsa(-257, "sha256") }) }],
    ["a TPM with RSA and SHA-1", { attestation: tpm({ signer: rsa(-65_535, "sha1"), digest: sha1 }) }],
    ["a TPM of a vendor that nobody knows", { attestation: tpm({ alternativeName: ofVendor("id:00C0ffee") }) }],
    ["a TPM's key with a scheme", { attestation: tpm({ scheme: ecdsaScheme }) }],
    ["a TPM's key that derives others", { attestation: tpm({ pubArea: derivingKeys }) }],
    ["a TPM's key with a scheme that counts", { attestation: tpm({ scheme: ecdaaScheme }) }],
    [
      "an Android key that says so in software",
      { attestation: androidKey({ software: [purposes(2), origin(0)], hardware: [] }) },
    ],
  ])("%s", (_, change) => {
    expect(outcomeOf(bodyOf(change))).toBe("accepted");
  });
});

/** authData, fmt, attStmt: the order in which some authenticators in the field write. */
function reordered(honest: Uint8Array): Uint8Array {
  const at = Buffer.from(honest).indexOf("hauthData");
  return Uint8Array.from([...honest.subarray(0, 1), ...honest.subarray(at), ...honest.subarray(1, at)]);
}

describe("an attestation key of RSA", () => {
  it("is not the key of a credential", () => {
    const attestation = androidKey({ signer: rsa(-257, "sha256") });
    expect(outcomeOf(bodyOf({ attestation }))).toBe("certificate_key");
  });

  it.each([
    ["signs with SHA-1 for a TPM alone", { ...rsa(-65_535, "sha1") }],
    ["signs under no algorithm of a curve", { ...rsa(-257, "sha256"), alg: -7 }],
  ])("%s", (_, signer) => {
    expect(outcomeOf(bodyOf({ attestation: packedCertified({ signer }) }))).toBe("attestation_algorithm");
  });
});

describe("trusted roots", () => {
  const certified = packedCertified({ issuer: intermediate, behind: [intermediate.certificate] });
  const outcome = (attestation: AttestationFormat, asking: Partial<RelyingParty>): string => {
    return outcomeOf(bodyOf({ attestation }), asking);
  };
  const stranger = authorityOf("A stranger");
  const expired = authorityOf("Root of tests", undefined, { notAfter: "250101000000Z" });

  it("are what every chain that comes must lead to", () => {
    const withRoot = packedCertified({ issuer: intermediate, behind: [intermediate.certificate, root.certificate] });
    for (const attestation of [certified, withRoot]) {
      expect(outcome(attestation, { trustRoots: [stranger.certificate, root.certificate] })).toBe("accepted");
      expect(outcome(attestation, { trustRoots: [intermediate.certificate] })).toBe("accepted");
      expect(outcome(attestation, { trustRoots: [stranger.certificate] })).toBe("trust_root");
    }
    expect(outcome(certified, { trustRoots: [expired.certificate] })).toBe("trust_root");
  });

  it("demand a chain only where the attestation was asked for directly", () => {
    const trustRoots = [root.certificate];
    for (const attestation of [none, packedSelf]) {
      expect(outcome(attestation, { trustRoots })).toBe("accepted");
      expect(outcome(attestation, { trustRoots, attestation: "direct" })).toBe("attestation_required");
      expect(outcome(attestation, { attestation: "direct" })).toBe("accepted");
    }
    expect(outcome(certified, { trustRoots, attestation: "direct" })).toBe("accepted");
  });
});

/** The flips of single bits that were accepted, as "part byte bit". */
const acceptedFlips = (credential: CredentialJson): ReadonlyArray<string> =>
  bitFlips(answered.invitation, credential, () => EVERY_BIT).flatMap(({ part, at, bit, body }) =>
    outcomeOf(body) === "accepted" ? [`${part} ${at} ${bit}`] : [],
  );

describe("a single bit that is flipped", () => {
  const making: Making = {
    ...answered,
    clientData: (honest) => honest.replace(/\}$/, ',"extra":"abc"}'),
  };

  it("is found wherever it is in a response attested by its own key", () => {
    const credential = makeCredential({ ...making, attestation: packedSelf });
    expect(outcomeOf(JSON.stringify({ invitation: answered.invitation, credential }))).toBe("accepted");
    expect(acceptedFlips(credential)).toEqual([]);
  });

  it("is not found where nothing vouches for a response that is not attested, and nowhere else", () => {
    const credential = makeCredential(making);
    const text = Buffer.from(credential.response.clientDataJSON, "base64url").toString();
    const object = Buffer.from(credential.response.attestationObject, "base64url");
    const dataAt = object.length - (37 + 16 + 2 + 32 + 77);
    const everyBit = (from: number, length: number) =>
      Array.from({ length }, (_, index) => from + index).flatMap((at) =>
        EVERY_BIT.map((bit) => `attestationObject ${at} ${bit}`),
      );
    /** Characters of a string, those that stay one together with what may replace them. */
    const characters = (word: string) =>
      [...word].flatMap((_, index) => {
        const at = text.indexOf(`"${word}"`) + 1 + index;
        return EVERY_BIT.flatMap((bit) => {
          const byte = text.charCodeAt(at) ^ bit;
          return byte >= 0x20 && byte < 0x80 && byte !== 0x22 && byte !== 0x5c ? [`clientDataJSON ${at} ${bit}`] : [];
        });
      });
    const [flagsAt, counterAt, aaguidAt] = [dataAt + 32, dataAt + 33, dataAt + 37];
    expect(acceptedFlips(credential)).toEqual([
      // A crossOrigin of another name is an unknown member, and crossOrigin may be absent.
      ...characters("crossOrigin"),
      ...characters("extra"),
      ...characters("abc"),
      // Eligible for backup, and not backed up.
      `attestationObject ${flagsAt} 8`,
      ...everyBit(counterAt, 4),
      ...everyBit(aaguidAt, 16),
    ]);
  });
});

it("answers five thousand mutated attestation objects with a refusal or a credential, and never throws", () => {
  const { refused, accepted, mutated } = fuzz(nativeCeremonyCrypto, 5_000, 1);
  expect(mutated).toBe(5_000);
  // Mutations in the AAGUID or the counter of an unattested response cannot be found.
  expect(accepted).toBeLessThan(mutated / 10);
  expect([...refused.values()].reduce((sum, count) => sum + count, 0)).toBe(mutated - accepted);
  expect(refused.size).toBeGreaterThan(15);
});
