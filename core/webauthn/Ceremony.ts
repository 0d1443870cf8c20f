/** The port through which a peer verifies the response of an authenticator: pure, synchronous, in memory. */
import type { Either } from "effect";
import type { CeremonyCrypto } from "../webauthn/CeremonyCrypto.ts";
import type { CeremonyRefusal } from "../webauthn/CeremonyRefusal.ts";
import {
  type RegistrationAttempt,
  type VerifiedCredential,
  verifyRegistration,
} from "../webauthn/RegistrationCeremony.ts";

/** The credential that a response proves, or the first failed check. The same input always gives the same answer. */
export type Ceremony = (registration: RegistrationAttempt) => Either.Either<VerifiedCredential, CeremonyRefusal>;

/** The ceremony of the contract, computed with this crypto. */
export const ceremonyWith =
  (crypto: CeremonyCrypto): Ceremony =>
  (registration) =>
    verifyRegistration(crypto, registration);
