/** A finish as tests give it to the ceremony: from the bytes of its body to the credential or the name of its fault. */
import { Either } from "effect";
import type { CeremonyCrypto } from "../../core/webauthn/CeremonyCrypto.ts";
import { parseFinishRequest } from "../../core/webauthn/FinishRequest.ts";
import {
  type RegistrationAttempt,
  type VerifiedCredential,
  verifyRegistration,
} from "../../core/webauthn/RegistrationCeremony.ts";
import type { RelyingParty } from "../../core/webauthn/RelyingParty.ts";

/** The relying party of tests, with the differences that one wants. */
export const relyingPartyOf = (change: Partial<RelyingParty> = {}): RelyingParty => ({
  rpId: "example.org",
  rpName: "Example",
  origins: ["https://example.org"],
  registrationTtlMillis: 300_000,
  attestation: "none",
  trustRoots: [],
  ...change,
});

/** The session that a finish answers. */
export type Answered = Omit<RegistrationAttempt, "credential" | "at"> & Partial<Pick<RegistrationAttempt, "at">>;

/** When the outcomes of the W3C's vectors were written down; every certificate of tests is valid then. */
export const AT = 1_780_000_000_000;

/** Reads and verifies the body of a finish. The left side is the code of the first fault, or the check that failed. */
export const verifyFinish = (
  crypto: CeremonyCrypto,
  answered: Answered,
  body: string | Uint8Array,
): Either.Either<VerifiedCredential, string> =>
  Either.flatMap(
    Either.mapLeft(
      parseFinishRequest(typeof body === "string" ? Buffer.from(body) : body),
      ({ code, faults }) => faults[0]?.code ?? code,
    ),
    ({ credential }) =>
      Either.mapLeft(verifyRegistration(crypto, { at: AT, ...answered, credential }), ({ check }) => check),
  );
