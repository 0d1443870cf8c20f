/**
 * Registrations that must be refused, each for a reason of its own. All answer one session: with its challenge, RP ID
 * and origin nothing else is wrong with them. `npx vitest run properties/webauthn` runs the verifier on them.
 */
import { type CredentialJson, makeCredential, type Making } from "./Authenticator.ts";
import { androids } from "./refused/AndroidKey.ts";
import { apples } from "./refused/Apple.ts";
import { attestationObjects } from "./refused/AttestationObjects.ts";
import { authenticatorData } from "./refused/AuthenticatorData.ts";
import { certificates } from "./refused/Certificates.ts";
import type { Case } from "./refused/Changes.ts";
import { clientData } from "./refused/ClientData.ts";
import { coseKeys } from "./refused/CoseKeys.ts";
import { formats } from "./refused/Formats.ts";
import { json } from "./refused/SubmittedJson.ts";
import { tpms } from "./refused/Tpm.ts";

/** The session that the registrations answer. */
export interface Answered {
  readonly invitation: string;
  readonly challenge: Uint8Array;
  readonly origin: string;
  readonly rpId: string;
}

export interface RefusedRegistration {
  readonly name: string;
  /** The `code` of the first error: the check that must fail. */
  readonly code: string;
  /** The whole request body. */
  readonly body: string | Uint8Array;
}

const cases: ReadonlyArray<Case> = [
  ...clientData,
  ...authenticatorData,
  ...coseKeys,
  ...attestationObjects,
  ...formats,
  ...certificates,
  ...tpms,
  ...androids,
  ...apples,
];

const makingOf = ({ challenge, origin, rpId }: Answered): Making => ({ challenge, origin, rpId });

/** All of them, each for the session named for its position in the list. */
export const refusedRegistrations = (sessionOf: (index: number) => Answered): ReadonlyArray<RefusedRegistration> => [
  ...cases.map(([name, code, change], index) => {
    const session = sessionOf(index);
    const credential = withoutReports(makeCredential({ ...makingOf(session), ...change }));
    return { name, code, body: JSON.stringify({ invitation: session.invitation, credential }) };
  }),
  ...json.map(([name, code, change], index) => {
    const session = sessionOf(cases.length + index);
    const credential = change(makeCredential(makingOf(session)));
    return { name, code, body: JSON.stringify({ invitation: session.invitation, credential }) };
  }),
];

/** The fault shall be found in the original, and not because a repetition of it differs. */
const withoutReports = (credential: CredentialJson): object => {
  const { clientDataJSON, attestationObject, transports } = credential.response;
  return { ...credential, response: { clientDataJSON, attestationObject, transports } };
};
