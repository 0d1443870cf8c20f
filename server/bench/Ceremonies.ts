/**
 * How many registration ceremonies one core verifies in a second, format by
 * format, beside `@simplewebauthn/server` on the same responses: from the text of
 * the credential to the verified key, with one trusted root for both. Ours as it is
 * built and shipped, like the other: where TypeScript runs as it is written, every
 * function that is made is given its name when it is made, and half the time goes there.
 */
import { SettingsService, verifyRegistrationResponse } from "@simplewebauthn/server";
import { Either, Encoding } from "effect";
import type { CeremonyCrypto } from "../../core/webauthn/CeremonyCrypto.ts";
import type { RelyingParty } from "../../core/webauthn/RelyingParty.ts";
import { androidKey, apple, packedCertified, root, tpm } from "../../properties/webauthn/Attestations.ts";
import { makeCredential, none, packedSelf } from "../../properties/webauthn/Authenticator.ts";
import { median, rounded } from "./Statistics.ts";

const formats = {
  none,
  packedSelf,
  packed: packedCertified(),
  tpm: tpm(),
  // Android sends its root along.
  androidKey: androidKey({ behind: [root.certificate] }),
  apple: apple(),
};

/** Different keys and certificates, so that nobody can remember one. */
const RESPONSES = 50;
/** All are measured by turns so many times, once they have run warm, and the slow portable one in every third turn. */
const ROUNDS = 15;
const WARM_UP_ROUNDS = 12;
const PORTABLE_EVERY = 3;

const challenge = new Uint8Array(32).fill(9);
const asked = { challenge, origin: "https://example.org", rpId: "example.org" };
const invitation = Encoding.encodeBase64Url(new Uint8Array(32));
const relyingParty: RelyingParty = {
  rpId: asked.rpId,
  rpName: "Example",
  origins: [asked.origin],
  registrationTtlMillis: 300_000,
  attestation: "none",
  trustRoots: [root.certificate],
};

/** A module out of the last build. */
const built = (path: string) => import(new URL(`../../dist/${path}.js`, import.meta.url).href);

const { parseFinishRequest }: typeof import("../../core/webauthn/FinishRequest.ts") =
  await built("core/webauthn/FinishRequest");
const { verifyRegistration }: typeof import("../../core/webauthn/RegistrationCeremony.ts") = await built(
  "core/webauthn/RegistrationCeremony",
);
const { nativeCeremonyCrypto }: typeof import("../crypto/NativeCeremonyCrypto.ts") = await built(
  "server/crypto/NativeCeremonyCrypto",
);
const { nobleCeremonyCrypto }: typeof import("../../runtime/NobleCeremonyCrypto.ts") =
  await built("runtime/NobleCeremonyCrypto");

type Verify = (body: string) => unknown;

const ours =
  (crypto: CeremonyCrypto): Verify =>
  (body) => {
    const { credential } = Either.getOrThrow(parseFinishRequest(Buffer.from(body)));
    const registration = { relyingParty, challenge, userHandle: challenge, credential, at: Date.now() };
    return Either.getOrThrowWith(verifyRegistration(crypto, registration), ({ detail }) => new Error(detail));
  };

const theirs: Verify = async (body) => {
  const { verified } = await verifyRegistrationResponse({
    response: JSON.parse(body).credential,
    expectedChallenge: Encoding.encodeBase64Url(challenge),
    expectedOrigin: asked.origin,
    expectedRPID: asked.rpId,
    supportedAlgorithmIDs: [-7],
  });
  if (!verified) throw new Error("@simplewebauthn/server refuses an honest response");
};

/** By the processor's time of all threads, for the library lets others of the process work. */
const perSecond = async (verify: Verify, bodies: ReadonlyArray<string>): Promise<number> => {
  const start = process.cpuUsage();
  for (const body of bodies) await verify(body);
  const { user, system } = process.cpuUsage(start);
  return (bodies.length * 1e6) / (user + system);
};

/**
 * The figures by name: rates, and ours over theirs as the middle of each round's ratio, since the machine's speed drifts.
 *
 * @param only the one format to measure, by its name here; undefined for all
 */
export const measureCeremonies = async (only?: string): Promise<{ readonly [figure: string]: number }> => {
  for (const identifier of ["packed", "tpm", "android-key", "apple"] as const)
    SettingsService.setRootCertificates({ identifier, certificates: [Uint8Array.from(root.certificate)] });
  const figures: { [figure: string]: number } = {};
  for (const [name, attestation] of Object.entries(formats)) {
    if (only !== undefined && only !== name) continue;
    const bodies = Array.from({ length: RESPONSES }, (_, index) => {
      const credential = makeCredential({ ...asked, attestation, seed: `${name} ${index}` });
      return JSON.stringify({ invitation, credential });
    });
    const native: Array<number> = [];
    const portable: Array<number> = [];
    const library: Array<number> = [];
    const overNative: Array<number> = [];
    const overPortable: Array<number> = [];
    for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round += 1) {
      const isPortable = round % PORTABLE_EVERY === 0;
      const byNative = await perSecond(ours(nativeCeremonyCrypto), bodies);
      const byPortable = isPortable ? await perSecond(ours(nobleCeremonyCrypto), bodies) : 0;
      const byLibrary = await perSecond(theirs, bodies);
      if (round < 0) continue;
      native.push(byNative);
      library.push(byLibrary);
      overNative.push(byNative / byLibrary);
      if (!isPortable) continue;
      portable.push(byPortable);
      overPortable.push(byPortable / byLibrary);
    }
    figures[`${name}PerSecond`] = rounded(median(native), 0);
    figures[`${name}PortablePerSecond`] = rounded(median(portable), 0);
    figures[`${name}LibraryPerSecond`] = rounded(median(library), 0);
    figures[`${name}OverLibrary`] = rounded(median(overNative), 1);
    figures[`${name}PortableOverLibrary`] = rounded(median(overPortable), 1);
  }
  return figures;
};
