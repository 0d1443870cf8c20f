/** Mutated attestation objects of every format: whatever they contain, the answer is a refusal or a credential. */
import { Either } from "effect";
import { unsafeUniformIntDistribution, xoroshiro128plus } from "pure-rand";
import type { CeremonyCrypto } from "../../core/webauthn/CeremonyCrypto.ts";
import { verifyRegistration } from "../../core/webauthn/RegistrationCeremony.ts";
import { androidKey, apple, intermediate, packedCertified, tpm } from "./Attestations.ts";
import { makeCredential, none, packedSelf } from "./Authenticator.ts";
import { AT, relyingPartyOf } from "./Verification.ts";

export interface FuzzResult {
  readonly mutated: number;
  readonly accepted: number;
  /** How often each check refused. */
  readonly refused: ReadonlyMap<string, number>;
}

const relyingParty = relyingPartyOf();
const challenge = new Uint8Array(32).fill(9);
const asked = { challenge, origin: "https://example.org", rpId: "example.org" };

const formats = [
  none,
  packedSelf,
  packedCertified({ issuer: intermediate, behind: [intermediate.certificate] }),
  tpm(),
  androidKey(),
  apple(),
];
const bytesOf = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, "base64url"));
const id = bytesOf(makeCredential(asked).id);

/**
 * Verifies so many mutations; the same seed makes the same ones.
 *
 * @throws whatever the ceremony throws, which is a fault of it
 */
export const fuzz = (crypto: CeremonyCrypto, count: number, seed: number): FuzzResult => {
  const random = xoroshiro128plus(seed);
  const below = (bound: number): number => unsafeUniformIntDistribution(0, Math.max(0, bound - 1), random);
  const honest = formats.map((attestation) => {
    const { response } = makeCredential({ ...asked, attestation });
    return { clientDataJson: bytesOf(response.clientDataJSON), object: bytesOf(response.attestationObject) };
  });
  const refused = new Map<string, number>();
  let accepted = 0;
  for (let index = 0; index < count; index += 1) {
    const { clientDataJson, object } = honest[below(honest.length)] ?? { clientDataJson: challenge, object: challenge };
    const attestationObject = mutated(object, below);
    const result = verifyRegistration(crypto, {
      relyingParty,
      challenge,
      userHandle: challenge,
      credential: {
        id,
        rawId: id,
        clientDataJson,
        attestationObject,
        transports: [],
        reported: { authenticatorData: undefined, publicKey: undefined, publicKeyAlgorithm: undefined },
      },
      at: AT,
    });
    if (Either.isRight(result)) accepted += 1;
    else refused.set(result.left.check, (refused.get(result.left.check) ?? 0) + 1);
  }
  return { mutated: count, accepted, refused };
};

/** Bytes that mean something to a decoder of CBOR or DER. */
const telling = [0x00, 0x01, 0x1b, 0x30, 0x5f, 0x7f, 0x80, 0x9b, 0xa0, 0xbf, 0xc0, 0xf6, 0xf7, 0xfb, 0xff];

/** One to four changes: a flipped bit, a telling byte, something cut, doubled, put in or moved. */
const mutated = (honest: Uint8Array, below: (bound: number) => number): Uint8Array => {
  let bytes = [...honest];
  const changes = 1 + below(4);
  for (let change = 0; change < changes; change += 1) {
    const at = below(bytes.length);
    const length = 1 + below(32);
    const kind = below(6);
    if (kind === 0) bytes[at] = (bytes[at] ?? 0) ^ (1 << below(8));
    else if (kind === 1) bytes[at] = telling[below(telling.length)] ?? 0;
    else if (kind === 2) bytes.splice(at, length);
    else if (kind === 3) bytes.splice(at, 0, ...bytes.slice(at, at + length));
    else if (kind === 4) bytes.splice(at, 0, ...Array.from({ length }, () => below(256)));
    else bytes = [...bytes.slice(at), ...bytes.slice(0, at)];
  }
  return Uint8Array.from(bytes);
};
