/**
 * A process of its own for each verifier of {@link measureCeremonies}: the allocations of one, and what V8 learns from
 * it, would otherwise slow the others down. Verifies what its parent sends, and tells how many it does in a second.
 *
 * Ours is measured as it is built and shipped, like the library: where TypeScript runs as it is written, every function
 * is given its name when it is made, which takes half the time.
 */
import { SettingsService, verifyRegistrationResponse } from "@simplewebauthn/server";
import { Either, Encoding } from "effect";
import type { CeremonyCrypto } from "../../core/webauthn/CeremonyCrypto.ts";
import type { RelyingParty } from "../../core/webauthn/RelyingParty.ts";
import { root } from "../webauthn/Attestations.ts";
import { asked, challenge, type VerifierName } from "./Ceremonies.ts";

const relyingParty: RelyingParty = {
  rpId: asked.rpId,
  rpName: "Example",
  origins: [asked.origin],
  registrationTtlMillis: 300_000,
  attestation: "none",
  trustRoots: [root.certificate],
};

type Verify = (body: string) => unknown;

/** A module out of the last build. */
const built = (path: string) => import(new URL(`../../dist/${path}.js`, import.meta.url).href);

const ours = async (crypto: CeremonyCrypto): Promise<Verify> => {
  const { parseFinishRequest }: typeof import("../../core/webauthn/FinishRequest.ts") =
    await built("core/webauthn/FinishRequest");
  const { verifyRegistration }: typeof import("../../core/webauthn/RegistrationCeremony.ts") = await built(
    "core/webauthn/RegistrationCeremony",
  );
  return (body) => {
    const { credential } = Either.getOrThrow(parseFinishRequest(Buffer.from(body)));
    const registration = { relyingParty, challenge, userHandle: challenge, credential, at: Date.now() };
    return Either.getOrThrowWith(verifyRegistration(crypto, registration), ({ detail }) => new Error(detail));
  };
};

const library = (): Verify => {
  for (const identifier of ["packed", "tpm", "android-key", "apple"] as const)
    SettingsService.setRootCertificates({ identifier, certificates: [Uint8Array.from(root.certificate)] });
  return async (body) => {
    const { verified } = await verifyRegistrationResponse({
      response: JSON.parse(body).credential,
      expectedChallenge: Encoding.encodeBase64Url(challenge),
      expectedOrigin: asked.origin,
      expectedRPID: asked.rpId,
      supportedAlgorithmIDs: [-7],
    });
    if (!verified) throw new Error("@simplewebauthn/server refuses an honest response");
  };
};

const verifiers: { readonly [name in VerifierName]: () => Promise<Verify> } = {
  native: async () => {
    const { nativeCeremonyCrypto }: typeof import("../../server/crypto/NativeCeremonyCrypto.ts") = await built(
      "server/crypto/NativeCeremonyCrypto",
    );
    return ours(nativeCeremonyCrypto);
  },
  portable: async () => {
    const { nobleCeremonyCrypto }: typeof import("../../runtime/NobleCeremonyCrypto.ts") =
      await built("runtime/NobleCeremonyCrypto");
    return ours(nobleCeremonyCrypto);
  },
  library: () => Promise.resolve(library()),
};

const name = process.argv[2];
if (name !== "native" && name !== "portable" && name !== "library")
  throw new TypeError(`no verifier is called ${name}`);
const verify = await verifiers[name]();

/** Long enough that waking up in between counts for nothing. */
const TURN_MICROS = 250_000;

/** By the processor's time of all threads, for the library lets other threads of the process work. */
process.on("message", async (bodies: ReadonlyArray<string>) => {
  const start = process.cpuUsage();
  let [done, micros] = [0, 0];
  while (micros < TURN_MICROS) {
    for (const body of bodies) await verify(body);
    done += bodies.length;
    const { user, system } = process.cpuUsage(start);
    micros = user + system;
  }
  process.send?.((done * 1e6) / micros);
});
